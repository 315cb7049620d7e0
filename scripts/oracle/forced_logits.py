"""What the oracles of real models share: greedy answers of transformers in f32, and one
teacher-forced pass over them whose rows are recorded. smollm2_logits.py and gemma3_logits.py are
the programs; each says how its model and its prompts come from a GGUF without isobit.

    PROGRAM record MODEL.gguf [--out FIXTURE] [--full ROWS.npy] [--threads 1]
    PROGRAM check ROWS.npy CANDIDATE [--tolerance 2e-3] [--margin 4e-3]

For each of 16 prompts: 64 greedy tokens (end-of-turn tokens do not stop it), then one
teacher-forced pass over prompt + greedy tokens gives the logits rows. Row i is the row that
predicts greedy token i: the model's output at position len(prompt_ids) - 1 + i.

The fixture (--out) is one JSON object:
    model_sha256, versions, n_prompts, n_tokens, n_vocab, row_tolerance, argmax_margin,
    columns            vocabulary ids that every row samples: a fixed stride, (n_columns)
    prompts[]          messages (of chats), text (rendered), prompt_ids, greedy_ids (n_tokens), and
                       per row
      margin           top-1 minus top-2 logit, (n_tokens)
      top_ids          the 8 largest logits' ids, best first, (n_tokens, 8);
                       top_ids[i][0] is greedy_ids[i]
      top_logits       their values, (n_tokens, 8)
      column_logits    values at `columns`, (n_tokens, n_columns)
      max, mean, logsumexp   of the whole row, (n_tokens)
Numbers are f32 in the shortest decimal that reads back to the same f32; max, mean and logsumexp are
taken in binary64.

--full also writes every row, f32, shape (n_prompts, n_tokens, n_vocab), not committed.
`check` compares it entry by entry with a candidate of the same shape: an .npy file, or raw
little-endian f32 without a header. Exit 0 when every entry is within the tolerance and the argmax
agrees wherever the oracle's margin is above --margin, else 1.
"""

import argparse
import hashlib
import json
import os
import sys

import numpy as np

N_TOKENS = 64
N_TOP = 8
ROW_TOLERANCE = 2e-3
ARGMAX_MARGIN = 4e-3

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


def record(source, args):
    import torch
    import transformers

    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)
    opened = source(args.model)
    n_vocab = opened.model.config.vocab_size
    columns = list(range(0, n_vocab, opened.column_stride))
    asked = opened.prompts()
    full = (
        np.lib.format.open_memmap(
            args.full, mode="w+", dtype="<f4", shape=(len(asked), N_TOKENS, n_vocab)
        )
        if args.full
        else None
    )
    prompts = []
    with torch.no_grad():
        for index, prompt in enumerate(asked):
            greedy_ids, rows = greedy_rows(opened.model, index, prompt["prompt_ids"])
            prompts.append({**prompt, "greedy_ids": greedy_ids, **row_summary(rows, columns)})
            if full is not None:
                full[index] = rows
            print(
                f"prompt {index}: {len(prompt['prompt_ids'])} tokens, smallest margin {min(prompts[-1]['margin']):.5f}: "
                f"{opened.decode(greedy_ids)[:70]!r}",
                flush=True,
            )
    write_fixture(
        args.out,
        {
            "model_sha256": sha256_of(args.model),
            "versions": {
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                **opened.versions,
            },
            "n_prompts": len(asked),
            "n_tokens": N_TOKENS,
            "n_vocab": n_vocab,
            "row_tolerance": ROW_TOLERANCE,
            "argmax_margin": ARGMAX_MARGIN,
            "columns": columns,
            "prompts": prompts,
        },
    )
    print(f"wrote {args.out}, {os.path.getsize(args.out)} bytes")
    return 0


def greedy_rows(model, index, prompt_ids):
    """The greedy tokens and the rows that predict them."""
    greedy_ids = greedy_tokens(model, prompt_ids)
    rows = teacher_forced_rows(model, prompt_ids, greedy_ids)
    moved = [i for i in range(N_TOKENS) if int(rows[i].argmax()) != greedy_ids[i]]
    if moved:
        sys.exit(
            f"prompt {index}: the teacher-forced argmax differs from the greedy token at {moved}; margins there "
            f"are rounding noise, change the prompt"
        )
    return greedy_ids, rows


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


def main(description, source, fixture):
    """The command line of one model's script; `source(path)` opens a model: .model, .prompts(),
    .decode(ids), .versions, .column_stride."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("model")
    recording.add_argument("--out", default=fixture)
    recording.add_argument("--full")
    recording.add_argument("--threads", type=int, default=1)
    recording.set_defaults(run=lambda args: record(source, args))
    checking = commands.add_parser("check")
    checking.add_argument("rows")
    checking.add_argument("candidate")
    checking.add_argument("--tolerance", type=float, default=ROW_TOLERANCE)
    checking.add_argument("--margin", type=float, default=ARGMAX_MARGIN)
    checking.set_defaults(run=check)
    args = parser.parse_args()
    sys.exit(args.run(args))
