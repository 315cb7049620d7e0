#!/usr/bin/env python3
"""Records what transformers computes for SmolLM2-135M-Instruct in f32: the outside opinion on
isobit's own engine.

The weights are those of the GGUF, dequantised by gguf's Python code, with llama.cpp's row order of
Q and K undone; the tokenizer is Hugging Face `tokenizers` over the GGUF's vocabulary and merges;
the chat template is the GGUF's own, rendered by jinja2. Nothing of isobit takes part.

    record MODEL.gguf [--out tests/fixtures/smollm2/oracle.json] [--full ROWS.npy] [--threads 1]
    check ROWS.npy CANDIDATE [--tolerance 2e-3] [--margin 4e-3]

forced_logits.py says what is recorded and compared. --full is 201 MB.

Needs torch, transformers, tokenizers, gguf, jinja2, numpy (PyPI, in a virtual environment).
"""

import sys

import numpy as np
from forced_logits import CHATS, main

COLUMN_STRIDE = 769  # about 64 of 49,152 columns, at no multiple of a vector width or a tile


class Gguf:
    """The metadata of a llama-architecture GGUF and its tensors under Hugging Face's names."""

    def __init__(self, path):
        from gguf import GGUFReader

        self.reader = GGUFReader(path)

    def get(self, key):
        return self.reader.fields[key].contents()

    def hf_tensors(self):
        """{name: f32 array}, rows of Q and K in Hugging Face's order (half-split rotary pairs)."""
        from gguf import dequantize

        outer = {
            "token_embd": "model.embed_tokens",
            "output_norm": "model.norm",
            "output": "lm_head",
        }
        inner = {
            "attn_norm": "input_layernorm",
            "ffn_norm": "post_attention_layernorm",
            "attn_q": "self_attn.q_proj",
            "attn_k": "self_attn.k_proj",
            "attn_v": "self_attn.v_proj",
            "attn_output": "self_attn.o_proj",
            "ffn_gate": "mlp.gate_proj",
            "ffn_up": "mlp.up_proj",
            "ffn_down": "mlp.down_proj",
        }
        n_heads = {
            "attn_q": self.get("llama.attention.head_count"),
            "attn_k": self.get("llama.attention.head_count_kv"),
        }
        tensors = {}
        for stored in self.reader.tensors:
            values = dequantize(stored.data, stored.tensor_type).astype(np.float32)
            values = values.reshape([int(n) for n in stored.shape[::-1]])
            stem = stored.name.removesuffix(".weight")
            if stem in outer:
                tensors[outer[stem] + ".weight"] = values
                continue
            _, layer, part = stem.split(".")
            if part in n_heads:
                values = interleaved_to_halves(values, n_heads[part])
            tensors[f"model.layers.{layer}.{inner[part]}.weight"] = np.ascontiguousarray(values)
        return tensors


def interleaved_to_halves(rows, n_heads):
    """Rotary pair i of a head: GGUF keeps it in rows 2i, 2i + 1, HF in rows i, i + head_dim/2."""
    n_rows, n_columns = rows.shape
    pairs = rows.reshape(n_heads, n_rows // n_heads // 2, 2, n_columns)
    return pairs.transpose(0, 2, 1, 3).reshape(n_rows, n_columns)


def build_model(gguf):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tensors = gguf.hf_tensors()
    width, heads = gguf.get("llama.embedding_length"), gguf.get("llama.attention.head_count")
    model = LlamaForCausalLM._from_config(
        LlamaConfig(
            hidden_size=width,
            intermediate_size=gguf.get("llama.feed_forward_length"),
            num_hidden_layers=gguf.get("llama.block_count"),
            num_attention_heads=heads,
            num_key_value_heads=gguf.get("llama.attention.head_count_kv"),
            head_dim=width // heads,
            vocab_size=len(gguf.get("tokenizer.ggml.tokens")),
            max_position_embeddings=gguf.get("llama.context_length"),
            rope_theta=gguf.get("llama.rope.freq_base"),
            tie_word_embeddings="lm_head.weight" not in tensors,
            rms_norm_eps=float(np.float32(gguf.get("llama.attention.layer_norm_rms_epsilon"))),
            hidden_act="silu",
            attention_bias=False,
            mlp_bias=False,
        ),
        attn_implementation="eager",
        dtype=torch.float32,
    )
    result = model.load_state_dict(
        {k: torch.from_numpy(v) for k, v in tensors.items()}, strict=False
    )
    missing = [k for k in result.missing_keys if k != "lm_head.weight"]
    if missing or result.unexpected_keys:
        sys.exit(
            f"weights do not fit the model: missing {missing}, unexpected {result.unexpected_keys}"
        )
    model.tie_weights()
    theta = (
        model.config.rope_parameters["rope_theta"]
        if hasattr(model.config, "rope_parameters")
        else model.config.rope_theta
    )
    if theta != gguf.get("llama.rope.freq_base"):
        sys.exit(f"rope theta is {theta}, expected {gguf.get('llama.rope.freq_base')}")
    return model.eval()


def build_tokenizer(gguf):
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    if gguf.get("tokenizer.ggml.pre") != "smollm":
        sys.exit(f"pre-tokenizer is {gguf.get('tokenizer.ggml.pre')}, expected smollm")
    tokens, kinds = gguf.get("tokenizer.ggml.tokens"), gguf.get("tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ")) for merge in gguf.get("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = 3
    tokenizer.add_special_tokens(
        [
            AddedToken(t, special=True, normalized=False)
            for t, k in zip(tokens, kinds)
            if k == control
        ]
    )
    return tokenizer


def render(gguf, messages):
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    tokens = gguf.get("tokenizer.ggml.tokens")
    return environment.from_string(gguf.get("tokenizer.chat_template")).render(
        messages=messages,
        add_generation_prompt=True,
        bos_token=tokens[gguf.get("tokenizer.ggml.bos_token_id")],
        eos_token=tokens[gguf.get("tokenizer.ggml.eos_token_id")],
    )


class Smollm2:
    column_stride = COLUMN_STRIDE

    def __init__(self, path):
        import tokenizers

        self.gguf = Gguf(path)
        self.model = build_model(self.gguf)
        self.tokenizer = build_tokenizer(self.gguf)
        self.versions = {"tokenizers": tokenizers.__version__}

    def prompts(self):
        out = []
        for chat in CHATS:
            messages = [{"role": role, "content": content} for role, content in chat]
            text = render(self.gguf, messages)
            ids = self.tokenizer.encode(text, add_special_tokens=False).ids
            out.append({"messages": messages, "text": text, "prompt_ids": ids})
        return out

    def decode(self, ids):
        return self.tokenizer.decode(ids)


if __name__ == "__main__":
    main(__doc__, Smollm2, "tests/fixtures/smollm2/oracle.json")
