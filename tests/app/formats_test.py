"""The example checkpoint in F16, once as safetensors and once as GGUF: other bytes, the same numbers."""

import json
import os
import struct
import unittest

from program import TINY, ProgramTest

F16 = 1  # of GGUF's types
NAMES = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
LAYER_NAMES = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
               "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def read_tensors():
    """Name -> (shape, F16 bytes), rounded from the BF16 of the example."""
    with open(os.path.join(TINY, "model.safetensors"), "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    out = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            halves = struct.unpack(f"<{(end - begin) // 2}H", data[begin:end])
            values = struct.unpack(f"<{len(halves)}f", struct.pack(f"<{len(halves)}I", *(h << 16 for h in halves)))
            out[name] = (entry["shape"], struct.pack(f"<{len(values)}e", *values))
    return out


def safetensors(tensors):
    header, data = {}, b""
    for name, (shape, raw) in tensors.items():
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def interleaved(shape, raw, n_heads):
    """Rows of Q and K as llama.cpp's converter stores them: the halves of each head in turn."""
    row = len(raw) // shape[0]
    half = shape[0] // n_heads // 2
    order = [head * 2 * half + side * half + i for head in range(n_heads) for i in range(half) for side in (0, 1)]
    return b"".join(raw[at * row:(at + 1) * row] for at in order)


def gguf_name(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, part = name.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[part.removesuffix('.weight')]}.weight"


def gguf_metadata(config):
    heads = config["num_attention_heads"]
    numbers = {"context_length": config["max_position_embeddings"], "embedding_length": config["hidden_size"], "block_count": config["num_hidden_layers"],
               "feed_forward_length": config["intermediate_size"], "attention.head_count": heads, "attention.head_count_kv": config["num_key_value_heads"],
               "attention.key_length": config["head_dim"], "attention.value_length": config["head_dim"], "rope.dimension_count": config["head_dim"],
               "vocab_size": config["vocab_size"]}
    text = lambda value: struct.pack("<Q", len(value)) + value
    entries = [text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")]
    entries += [text(f"llama.{key}".encode()) + struct.pack("<II", 4, value) for key, value in numbers.items()]
    entries += [text(f"llama.{key}".encode()) + struct.pack("<If", 6, value)
                for key, value in (("attention.layer_norm_rms_epsilon", config["rms_norm_eps"]), ("rope.freq_base", config["rope_theta"]))]
    return entries


def gguf(tensors, config):
    heads = {"q_proj": config["num_attention_heads"], "k_proj": config["num_key_value_heads"]}
    infos, data = b"", b""
    for name, (shape, raw) in tensors.items():
        kind = next((k for k in heads if k in name), None)
        stored = gguf_name(name).encode()
        if len(shape) == 1:  # a GGUF keeps norms in f32
            raw = struct.pack(f"<{shape[0]}f", *struct.unpack(f"<{shape[0]}e", raw))
        infos += struct.pack("<Q", len(stored)) + stored + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        infos += struct.pack("<IQ", F16 if len(shape) > 1 else 0, len(data))
        data += interleaved(shape, raw, heads[kind]) if kind else raw
        data += b"\0" * (-len(data) % 32)
    entries = gguf_metadata(config)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + infos
    return head + b"\0" * (-len(head) % 32) + data


class Formats(ProgramTest):
    def roots(self, source):
        facts = self.isobit("inspect", "checkpoint", source, "--canonical", "--json", expect=0).json
        return facts["stored_root"], facts["canonical_root"]

    def test_the_canonical_root_is_of_the_numbers_and_the_stored_root_of_the_bytes(self):
        with open(os.path.join(TINY, "config.json"), encoding="utf-8") as f:
            config = json.load(f)
        tensors = read_tensors()
        os.mkdir(self.path("hf"))
        self.write("hf/config.json", json.dumps(config))
        self.write("hf/model.safetensors", safetensors(tensors))
        hf, other = self.roots(self.path("hf")), self.roots(self.write("m.gguf", gguf(tensors, config)))
        self.assertEqual(hf[1], other[1])
        self.assertNotEqual(hf[0], other[0])
        os.mkdir(self.path("reordered"))
        self.write("reordered/config.json", json.dumps(config))
        self.write("reordered/model.safetensors", safetensors(dict(reversed(tensors.items()))))
        self.assertEqual(self.roots(self.path("reordered")), hf)
        name = "model.layers.1.self_attn.k_proj.weight"  # planted: one bit of one weight
        shape, raw = tensors[name]
        changed = tensors | {name: (shape, raw[:100] + bytes([raw[100] ^ 1]) + raw[101:])}
        planted = self.roots(self.write("planted.gguf", gguf(changed, config)))
        self.assertNotEqual(planted[1], hf[1])
        self.assertNotEqual(planted[0], other[0])


if __name__ == "__main__":
    unittest.main()
