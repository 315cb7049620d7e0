#!/usr/bin/env python3
"""Records what transformers computes for Gemma 3 270M in f32: an architecture with sandwich norms,
norms of queries and keys, and local layers among global ones, at its real size.

The weights are those of the GGUF (Q4_K_M), dequantised by gguf's Python code. The GGUF's norm
weights hold the 1 that Gemma adds; transformers adds it to what is left when it is taken away, and
that the sum is the GGUF's number again is checked. The tokenizer is sentencepiece over the GGUF's
vocabulary and scores. The model is not tuned for chats and has no template: its prompts are the
chats' texts, and two that are longer than the local layers' window of 512. Nothing of isobit takes
part.

    record MODEL.gguf [--out tests/fixtures/gemma3/oracle.json] [--full ROWS.npy] [--threads 1]
    check ROWS.npy CANDIDATE [--tolerance 2e-3] [--margin 4e-3]

forced_logits.py says what is recorded and compared. --full is 1.1 GB. The fixture holds ids and
samples of logits, nothing of the model itself.

Needs torch, transformers, gguf, sentencepiece, protobuf, numpy (PyPI, in a virtual environment).
"""

import sys

import numpy as np
from forced_logits import CHATS, LONG_NOTE, main

COLUMN_STRIDE = 4099  # 64 of 262,144 columns, at no multiple of a vector width or a tile
LOCAL_THETA = 10000.0  # what a gemma3 GGUF without rope.freq_base_swa means
GLOBAL_EVERY = 6  # and one without attention.sliding_window_pattern

LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k": "self_attn.k_proj",
    "attn_k_norm": "self_attn.k_norm",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_ffw_norm": "post_feedforward_layernorm",
}
MODEL_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}


def without_the_one(weight, name):
    rest = (weight - np.float32(1)).astype(np.float32)
    if not np.array_equal(np.float32(1) + rest, weight):
        sys.exit(f"{name}: 1 + (weight - 1) is not the weight")
    return rest


def hf_tensors(reader):
    """{Hugging Face's name: f32 array}"""
    from gguf import dequantize

    tensors = {}
    for stored in reader.tensors:
        values = dequantize(stored.data, stored.tensor_type).astype(np.float32)
        values = values.reshape([int(n) for n in stored.shape[::-1]])
        stem = stored.name.removesuffix(".weight")
        if stem in MODEL_NAMES:
            name = MODEL_NAMES[stem]
        else:
            _, layer, part = stem.split(".")
            name = f"model.layers.{layer}.{LAYER_NAMES[part]}"
        if values.ndim == 1:
            values = without_the_one(values, stored.name)
        tensors[name + ".weight"] = np.ascontiguousarray(values)
    return tensors


def build_model(reader):
    import torch
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    def get(key):
        return reader.fields["gemma3." + key].contents()

    n_layers = get("block_count")
    config = Gemma3TextConfig(
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=n_layers,
        num_attention_heads=get("attention.head_count"),
        num_key_value_heads=get("attention.head_count_kv"),
        head_dim=get("attention.key_length"),
        query_pre_attn_scalar=get("attention.key_length"),
        vocab_size=len(reader.fields["tokenizer.ggml.tokens"].data),
        max_position_embeddings=get("context_length"),
        rms_norm_eps=float(np.float32(get("attention.layer_norm_rms_epsilon"))),
        sliding_window=get("attention.sliding_window"),
        layer_types=[
            "full_attention" if (i + 1) % GLOBAL_EVERY == 0 else "sliding_attention"
            for i in range(n_layers)
        ],
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": get("rope.freq_base")},
            "sliding_attention": {"rope_type": "default", "rope_theta": LOCAL_THETA},
        },
    )
    model = Gemma3ForCausalLM._from_config(config, attn_implementation="eager", dtype=torch.float32)
    tensors = {k: torch.from_numpy(v) for k, v in hf_tensors(reader).items()}
    result = model.load_state_dict(tensors, strict=False)
    missing = [k for k in result.missing_keys if k != "lm_head.weight"]
    if missing or result.unexpected_keys:
        sys.exit(
            f"weights do not fit the model: missing {missing}, unexpected {result.unexpected_keys}"
        )
    model.tie_weights()
    return model.eval()


def build_tokenizer(reader):
    from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

    def get(key):
        return reader.fields["tokenizer.ggml." + key].contents()

    proto = sentencepiece_model_pb2.ModelProto()
    for piece, score, kind in zip(get("tokens"), get("scores"), get("token_type")):
        # The converter wrote the runs of spaces among the user's pieces as spaces; sentencepiece
        # looks for them in text whose spaces are U+2581.
        proto.pieces.add(piece=piece.replace(" ", "\u2581"), score=score, type=kind)
    spec = proto.trainer_spec
    spec.model_type, spec.byte_fallback, spec.vocab_size = 2, True, len(proto.pieces)  # 2: BPE
    spec.unk_id, spec.bos_id = get("unknown_token_id"), get("bos_token_id")
    spec.eos_id, spec.pad_id = get("eos_token_id"), get("padding_token_id")
    spec.unk_piece, spec.bos_piece, spec.eos_piece, spec.pad_piece = (
        proto.pieces[i].piece for i in (spec.unk_id, spec.bos_id, spec.eos_id, spec.pad_id)
    )
    normalizer = proto.normalizer_spec
    normalizer.name, normalizer.add_dummy_prefix = "identity", get("add_space_prefix")
    normalizer.remove_extra_whitespaces, normalizer.escape_whitespaces = False, True
    return SentencePieceProcessor(model_proto=proto.SerializeToString())


def texts():
    """The chats as plain text; the two that are long are longer than the window."""
    out = []
    for index, chat in enumerate(CHATS):
        text = "\n\n".join(content for _, content in chat)
        out.append(" ".join([LONG_NOTE] * 3) + "\n\n" + text if index in (3, 11) else text)
    return out


class Gemma3:
    column_stride = COLUMN_STRIDE

    def __init__(self, path):
        import sentencepiece
        from gguf import GGUFReader

        reader = GGUFReader(path)
        self.model = build_model(reader)
        self.tokenizer = build_tokenizer(reader)
        self.bos_id = reader.fields["tokenizer.ggml.bos_token_id"].contents()
        self.versions = {"sentencepiece": sentencepiece.__version__}

    def prompts(self):
        return [
            {"text": text, "prompt_ids": [self.bos_id, *self.tokenizer.encode(text)]}
            for text in texts()
        ]

    def decode(self, ids):
        return self.tokenizer.decode(ids)


if __name__ == "__main__":
    main(__doc__, Gemma3, "tests/fixtures/gemma3/oracle.json")
