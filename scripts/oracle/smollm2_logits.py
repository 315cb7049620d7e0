#!/usr/bin/env python3
"""Records what transformers computes for SmolLM2-135M-Instruct in f32: the outside opinion on
isobit's own engine.

The weights are those of the GGUF, dequantised by gguf's Python code, with llama.cpp's row order of
Q and K undone; the tokenizer is Hugging Face `tokenizers` over the GGUF's vocabulary and merges;
the chat template is the GGUF's own, rendered by jinja2. Nothing of isobit takes part. For each of
16 chats: 64 greedy tokens (end-of-turn tokens do not stop it), then one teacher-forced pass over
prompt + greedy tokens gives the logits rows that are recorded. Row i is the row that predicts
greedy token i: the model's output at position len(prompt_ids) - 1 + i.

    record MODEL.gguf [--out tests/fixtures/smollm2/oracle.json] [--full ROWS.npy] [--threads 1]
    check ROWS.npy CANDIDATE [--tolerance 2e-3] [--margin 4e-3]

The fixture (--out) is one JSON object:
    model_sha256, versions, n_prompts, n_tokens, n_vocab, row_tolerance, argmax_margin,
    columns            vocabulary ids that every row samples: a fixed stride, (n_columns)
    prompts[]          messages, text (rendered), prompt_ids, greedy_ids (n_tokens), and per row
      margin           top-1 minus top-2 logit, (n_tokens)
      top_ids          the 8 largest logits' ids, best first, (n_tokens, 8);
                       top_ids[i][0] is greedy_ids[i]
      top_logits       their values, (n_tokens, 8)
      column_logits    values at `columns`, (n_tokens, n_columns)
      max, mean, logsumexp   of the whole row, (n_tokens)
Numbers are f32 in the shortest decimal that reads back to the same f32; max, mean and logsumexp are
taken in binary64.

--full also writes every row, f32, shape (n_prompts, n_tokens, n_vocab), 201 MB, not committed.
`check` compares it entry by entry with a candidate of the same shape: an .npy file, or raw
little-endian f32 without a header. Exit 0 when every entry is within the tolerance and the argmax
agrees wherever the oracle's margin is above --margin, else 1.

Needs torch, transformers, tokenizers, gguf, jinja2, numpy (PyPI, in a virtual environment).
"""

import argparse
import hashlib
import json
import os
import sys

import numpy as np

N_TOKENS = 64
N_TOP = 8
COLUMN_STRIDE = 769  # about 64 of 49,152 columns, at no multiple of a vector width or a tile

LONG_NOTE = (
    "The lighthouse at the end of the long stone pier was built in 1874 after three ships "
    "were lost in one winter. Its first keeper, a retired clockmaker, wrote the weather into "
    "a ledger twice a day for thirty-one years, and he never missed an entry. The ledgers "
    "survived a flood in the cellar, a fire in the oil store and, worst of all, a well meant "
    "attempt to rebind them. When the light was made automatic the town council asked what "
    "should become of the tower. Some wanted a restaurant, some a museum, and one council "
    "member proposed to leave it exactly as it was. A vote was held in the school gymnasium. "
    "Two hundred and twelve people came, which was more than anybody had expected, and the "
    "meeting lasted until midnight. In the end the tower was given to a club of amateur "
    "meteorologists who promised to continue the ledger by hand, twice a day, in the same "
    "brown ink. They have kept their promise so far, and the record now covers one hundred "
    "and fifty years of wind, rain, fog and the occasional aurora."
)
CHATS = [
    [("user", "What is the capital of France?")],
    [("user", "Explain in two sentences why the sky looks blue.")],
    [("user", "Write a short poem about an old bicycle.")],
    [("user", "Hi")],
    [("user", "List five things to pack for a week of hiking in the rain.")],
    [
        ("system", "You answer as briefly as you can."),
        ("user", "How many minutes are in three and a half hours?"),
    ],
    [("user", "Write a Python function that returns the n-th Fibonacci number.")],
    [("user", "Summarize this note in one sentence:\n\n" + LONG_NOTE)],
    [
        ("user", "Name a planet."),
        ("assistant", "Saturn."),
        ("user", "Tell me three facts about it."),
    ],
    [("user", "Translate to French: The cat sleeps under the table.")],
    [
        (
            "user",
            "¿Cuál es la diferencia entre «por» y «para»? Explícalo con un ejemplo — por favor.",
        )
    ],
    [
        ("system", "You are a careful librarian who speaks like a ship's captain."),
        ("user", "Recommend a book about the sea to a twelve-year-old."),
    ],
    [
        (
            "user",
            "2, 4, 8, 16, 32: what are the next three numbers, and what is the rule? Show 1024 + 2048 as well.",
        )
    ],
    [("user", "Rewrite this politely:   send me the report NOW!!!   I asked 3 times already...")],
    [
        (
            "user",
            "What should I cook tonight? I have rice, eggs, spinach, garlic and half a lemon 🍋.",
        )
    ],
    [
        ("user", LONG_NOTE + "\n\nHow long was the first keeper in office?"),
        ("assistant", "Thirty-one years."),
        ("user", "And what was his trade before that? Then guess why it mattered for the ledger."),
    ],
]


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as source:
        while block := source.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


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


def greedy_tokens(model, prompt_ids):
    import torch

    ids = torch.tensor([prompt_ids])
    model.generation_config.eos_token_id = (
        None  # an end of turn does not stop it: every prompt has N_TOKENS rows
    )
    out = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=N_TOKENS, do_sample=False
    )
    return out[0, len(prompt_ids) :].tolist()


def teacher_forced_rows(model, prompt_ids, greedy_ids):
    """(N_TOKENS, n_vocab) f32."""
    import torch

    logits = model(torch.tensor([prompt_ids + greedy_ids[:-1]]), use_cache=False).logits[
        0, len(prompt_ids) - 1 :
    ]
    return logits.float().numpy()


def shortest(values):
    """f32 values as the doubles whose shortest decimal is the f32's shortest decimal."""
    values = np.asarray(values, dtype=np.float32)
    if values.ndim > 1:
        return [shortest(row) for row in values]
    return [float(str(v)) for v in values]


def row_summary(rows, columns):
    order = np.argsort(-rows, axis=1, kind="stable")[:, :N_TOP]
    top = np.take_along_axis(rows, order, axis=1)
    wide = rows.astype(np.float64)
    peak = wide.max(axis=1)
    return {
        "margin": shortest(top[:, 0] - top[:, 1]),
        "top_ids": order.tolist(),
        "top_logits": shortest(top),
        "column_logits": shortest(rows[:, columns]),
        "max": peak.tolist(),
        "mean": wide.mean(axis=1).tolist(),
        "logsumexp": (peak + np.log(np.exp(wide - peak[:, None]).sum(axis=1))).tolist(),
    }


def write_fixture(path, fixture):
    """One line per key of a prompt, so that a diff of two recordings can be read."""
    head = {k: v for k, v in fixture.items() if k != "prompts"}
    lines = [f" {json.dumps(k)}: {json.dumps(v)}," for k, v in head.items()]
    prompts = []
    for prompt in fixture["prompts"]:
        prompts.append(
            "  {\n"
            + ",\n".join(
                f"   {json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}"
                for k, v in prompt.items()
            )
            + "\n  }"
        )
    text = "{\n" + "\n".join(lines) + '\n "prompts": [\n' + ",\n".join(prompts) + "\n ]\n}\n"
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".tmp", "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(path + ".tmp", path)


def record(args):
    import tokenizers
    import torch
    import transformers

    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)
    gguf = Gguf(args.model)
    model, tokenizer = build_model(gguf), build_tokenizer(gguf)
    n_vocab = model.config.vocab_size
    columns = list(range(0, n_vocab, COLUMN_STRIDE))
    full = (
        np.lib.format.open_memmap(
            args.full, mode="w+", dtype="<f4", shape=(len(CHATS), N_TOKENS, n_vocab)
        )
        if args.full
        else None
    )
    prompts = []
    with torch.no_grad():
        for index, chat in enumerate(CHATS):
            messages = [{"role": role, "content": content} for role, content in chat]
            text = render(gguf, messages)
            prompt_ids = tokenizer.encode(text, add_special_tokens=False).ids
            greedy_ids = greedy_tokens(model, prompt_ids)
            rows = teacher_forced_rows(model, prompt_ids, greedy_ids)
            moved = [i for i in range(N_TOKENS) if int(rows[i].argmax()) != greedy_ids[i]]
            if moved:
                sys.exit(
                    f"prompt {index}: the teacher-forced argmax differs from the greedy token at {moved}; margins there "
                    f"are rounding noise, change the prompt"
                )
            prompts.append(
                {
                    "messages": messages,
                    "text": text,
                    "prompt_ids": prompt_ids,
                    "greedy_ids": greedy_ids,
                    **row_summary(rows, columns),
                }
            )
            if full is not None:
                full[index] = rows
            print(
                f"prompt {index}: {len(prompt_ids)} tokens, smallest margin {min(prompts[-1]['margin']):.5f}: "
                f"{tokenizer.decode(greedy_ids)[:70]!r}",
                flush=True,
            )
    write_fixture(
        args.out,
        {
            "model_sha256": sha256_of(args.model),
            "versions": {
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                "tokenizers": tokenizers.__version__,
            },
            "n_prompts": len(CHATS),
            "n_tokens": N_TOKENS,
            "n_vocab": n_vocab,
            "row_tolerance": 2e-3,
            "argmax_margin": 4e-3,
            "columns": columns,
            "prompts": prompts,
        },
    )
    print(f"wrote {args.out}, {os.path.getsize(args.out)} bytes")
    return 0


def load_rows(path, shape):
    if path.endswith(".npy"):
        rows = np.load(path, mmap_mode="r")
    else:
        expected, found = 4 * int(np.prod(shape)), os.path.getsize(path)
        if expected != found:
            sys.exit(f"{path}: expected {expected} bytes for shape {shape}, found {found}")
        rows = np.memmap(path, dtype="<f4", mode="r", shape=shape)
    if rows.shape != shape:
        sys.exit(f"{path}: expected shape {shape}, found {rows.shape}")
    return rows


def check(args):
    oracle = np.load(args.rows, mmap_mode="r")
    candidate = load_rows(args.candidate, oracle.shape)
    largest, far, flipped, judged = 0.0, 0, 0, 0
    for prompt in range(oracle.shape[0]):
        ours, theirs = np.asarray(candidate[prompt]), np.asarray(oracle[prompt])
        difference = np.abs(ours.astype(np.float64) - theirs)
        difference[~np.isfinite(difference)] = np.inf
        top = np.sort(theirs, axis=1)[:, -2:]
        clear = (top[:, 1] - top[:, 0]) > args.margin
        wrong = clear & (ours.argmax(axis=1) != theirs.argmax(axis=1))
        rows_far = int((difference.max(axis=1) > args.tolerance).sum())
        largest, far = max(largest, float(difference.max())), far + rows_far
        flipped, judged = flipped + int(wrong.sum()), judged + int(clear.sum())
        print(
            f"prompt {prompt}: largest difference {difference.max():.3e}, rows beyond {args.tolerance}: {rows_far}, "
            f"argmax wrong: {int(wrong.sum())} of {int(clear.sum())} with a margin above {args.margin}"
        )
    n_rows = oracle.shape[0] * oracle.shape[1]
    print(
        f"all: largest difference {largest:.3e}, rows beyond {args.tolerance}: {far} of {n_rows}, argmax wrong: {flipped} of {judged}"
    )
    return 1 if far or flipped else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("model")
    recording.add_argument("--out", default="tests/fixtures/smollm2/oracle.json")
    recording.add_argument("--full")
    recording.add_argument("--threads", type=int, default=1)
    recording.set_defaults(run=record)
    checking = commands.add_parser("check")
    checking.add_argument("rows")
    checking.add_argument("candidate")
    checking.add_argument("--tolerance", type=float, default=2e-3)
    checking.add_argument("--margin", type=float, default=4e-3)
    checking.set_defaults(run=check)
    args = parser.parse_args()
    sys.exit(args.run(args))


if __name__ == "__main__":
    main()
