#!/usr/bin/env python3
"""Trains the bundled checkpoint examples/tiny-kjv from public-domain text, on a CPU, from a fixed
seed.

A demonstration of determinism needs a model whose margins are those of a trained model: random
weights give logits that are almost tied everywhere, or nowhere. This one is small enough to commit
(3.3 MB in bf16) and large enough to write recognisable words. Its shape is awkward on purpose:
head_dim 20, a vocabulary of 1,021, sums of 160 terms that end in a ragged leaf, and R = 4 segments
in the row-parallel matmuls.

The text is the King James Bible as Debian packages it (public domain: first printed in 1611). Three
quarters of the training stream are whole chapters; one quarter are short chats cut from the same
verses, so that a chat prompt gets an answer and <|im_end|> ends it.

The command that made the committed folder (Debian 12: apt-get install bible-kjv bible-kjv-text):

    python3 -m venv .venv && .venv/bin/pip install torch transformers tokenizers safetensors numpy
    .venv/bin/python scripts/train_example.py --out examples/tiny-kjv   # 1,800 steps, 1 thread

One run repeats on one machine with the same versions and the same thread count. Another machine
gives other low bits, hence other weights of the same quality: the committed file is the reference,
its training is not.
"""

import argparse
import json
import math
import os
import random
import subprocess
import time

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM

SEED = 1611
VOCAB_SIZE = 1021
CONTEXT = 2048
TOKENS_PER_STEP = 2048
SHORT, LONG = (
    256,
    2048,
)  # most steps see short windows; every eighth sees windows as long as the context
END_OF_TEXT, IM_START, IM_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] | trim + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

BOOKS = (
    "Genesis Exodus Leviticus Numbers Deuteronomy Joshua Judges Ruth 1_Samuel 2_Samuel "
    "1_Kings 2_Kings 1_Chronicles 2_Chronicles Ezra Nehemiah Esther Job Psalms Proverbs "
    "Ecclesiastes Song_of_Solomon Isaiah Jeremiah Lamentations Ezekiel Daniel Hosea Joel Amos "
    "Obadiah Jonah Micah Nahum Habakkuk Zephaniah Haggai Zechariah Malachi Matthew Mark Luke "
    "John Acts Romans 1_Corinthians 2_Corinthians Galatians Ephesians Philippians Colossians "
    "1_Thessalonians 2_Thessalonians 1_Timothy 2_Timothy Titus Philemon Hebrews James 1_Peter "
    "2_Peter 1_John 2_John 3_John Jude Revelation"
).split()


def read_chapters():
    """The text as [(book, chapter, [verse, ...]), ...], in order."""
    printed = subprocess.run(
        ["bible", "-f", "gen1:1-rev22:21"], check=True, capture_output=True, text=True
    ).stdout
    chapters, book_index, last_abbreviation = [], -1, None
    for line in printed.splitlines():
        reference, verse = line.split(" ", 1)
        place, number = reference.split(":")
        chapter = place[len(place.rstrip("0123456789")) :]
        abbreviation = place[: len(place) - len(chapter)]
        if abbreviation != last_abbreviation:
            book_index, last_abbreviation = book_index + 1, abbreviation
        if int(number) == 1:
            chapters.append((BOOKS[book_index].replace("_", " "), int(chapter), []))
        chapters[-1][2].append(verse.strip())
    if len(chapters) != 1189 or sum(len(c[2]) for c in chapters) != 31102:
        raise SystemExit("bible printed another text than expected: 1189 chapters and 31102 verses")
    return chapters


def turn(role, text):
    return f"{IM_START}{role}\n{text.strip()}{IM_END}\n"


def one_chat(rng, chapter):
    """A question and an answer from one chapter; now and then a system turn or a second exchange."""
    book, number, verses = chapter
    at = rng.randrange(len(verses))
    verse, length = verses[at], rng.choice([1, 2, 2, 3, 3, 4, 5])
    words = verse.split()
    names = [w.strip(",.;:?!()'") for w in words if len(w.strip(",.;:?!()'")) > 4]
    kind = rng.choice(["continue", "after", "read", "about", "about", "about"])
    if kind == "continue" and len(words) > 6:
        cut = rng.randrange(3, len(words) - 2)
        question = rng.choice(["Continue: ", "Go on from here: ", "Complete this: "]) + " ".join(
            words[:cut]
        )
        answer = " ".join([" ".join(words[cut:])] + verses[at + 1 : at + length])
    elif kind == "after" and at + 1 < len(verses):
        question = rng.choice(["What comes after this? ", "And then? "]) + verse
        answer = " ".join(verses[at + 1 : at + 1 + length])
    elif kind == "about" and names:
        word = rng.choice(names)
        question = rng.choice(
            [
                "Tell me about {}.",
                "What is {}?",
                "Write about {}.",
                "Who was {}?",
                "Why {}?",
                "Explain {}.",
                "Describe {} in a few words.",
                "What do you know of {}?",
                "How does {} begin?",
                "Give me a verse with {}.",
            ]
        ).format(word)
        answer = " ".join(verses[at : at + length])
    else:
        question = rng.choice(
            ["Read {} {}:{}", "Read me {} {}:{}.", "What does {} {}:{} say?"]
        ).format(book, number, at + 1)
        answer = " ".join(verses[at : at + length])
    text = turn("user", question) + turn("assistant", answer)
    rest = verses[at + length : at + 2 * length]
    if rest and rng.random() < 0.2:
        text += turn("user", rng.choice(["Go on.", "More.", "Continue."])) + turn(
            "assistant", " ".join(rest)
        )
    if rng.random() < 0.15:
        text = (
            turn("system", rng.choice(["Answer with a verse.", "You are a helpful assistant."]))
            + text
        )
    return text


def documents(rng, chapters, chats_per_chapter):
    """Every chapter once and its share of chats, shuffled."""
    texts = [END_OF_TEXT + "\n".join(c[2]) + "\n" for c in chapters]
    for chapter in chapters:
        texts += [one_chat(rng, chapter) for _ in range(chats_per_chapter)]
    rng.shuffle(texts)
    return texts


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=VOCAB_SIZE,
            special_tokens=[END_OF_TEXT, IM_START, IM_END],
            show_progress=False,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        ),
    )
    if tokenizer.get_vocab_size() != VOCAB_SIZE:
        raise SystemExit(
            f"tokenizer has {tokenizer.get_vocab_size()} tokens, expected {VOCAB_SIZE}"
        )
    return tokenizer


def encode(tokenizer, texts):
    return np.concatenate([np.array(e.ids, dtype=np.int64) for e in tokenizer.encode_batch(texts)])


def batches(tokenizer, chapters, n_steps):
    """Yields n_steps arrays (n_windows, length + 1) of ids; each epoch has new chats and order."""
    epoch, step = 0, 0
    while step < n_steps:
        rng = random.Random(SEED * 1000 + epoch)
        stream = encode(tokenizer, documents(rng, chapters, chats_per_chapter=4))
        offset = rng.randrange(SHORT)
        n_windows = (len(stream) - offset - 1) // SHORT
        starts = [offset + SHORT * i for i in range(n_windows)]
        rng.shuffle(starts)
        while starts and step < n_steps:
            if step % 8 == 7:
                at = [rng.randrange(len(stream) - LONG - 1) for _ in range(TOKENS_PER_STEP // LONG)]
                length = LONG
            else:
                at, length = [
                    starts.pop() for _ in range(min(len(starts), TOKENS_PER_STEP // SHORT))
                ], SHORT
            yield np.stack([stream[s : s + length + 1] for s in at])
            step += 1
        epoch += 1


def config():
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 160,
        "intermediate_size": 640,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 20,
        "vocab_size": VOCAB_SIZE,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0,
        "rope_scaling": None,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "bos_token_id": 0,
        "eos_token_id": 2,
        "initializer_range": 0.02,
        "use_cache": True,
    }


def new_model():
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(
        LlamaConfig(**{k: v for k, v in config().items() if k != "torch_dtype"}, dtype="float32")
    )
    for name, weight in model.named_parameters():
        if name.endswith(
            ("o_proj.weight", "down_proj.weight")
        ):  # keeps the residual stream's size at the start
            weight.data /= math.sqrt(2 * config()["num_hidden_layers"])
    return model


def mean_loss(model, tokens, length=512):
    """Nats per token over consecutive windows of the validation tokens."""
    n = (len(tokens) - 1) // length
    x = torch.from_numpy(np.stack([tokens[i * length : i * length + length + 1] for i in range(n)]))
    model.eval()
    total = 0.0
    with torch.no_grad():
        for rows in x.split(8):
            logits = model(rows[:, :-1]).logits
            total += F.cross_entropy(
                logits.reshape(-1, VOCAB_SIZE), rows[:, 1:].reshape(-1), reduction="sum"
            ).item()
    model.train()
    return total / (n * length)


def write_json(folder, name, value):
    temporary = os.path.join(folder, name + ".tmp")
    with open(temporary, "w", encoding="utf-8") as out:
        json.dump(value, out, indent=2, ensure_ascii=False)
        out.write("\n")
    os.replace(temporary, os.path.join(folder, name))


def save(folder, model, tokenizer):
    os.makedirs(folder, exist_ok=True)
    weights = {
        name: weight.detach().to(torch.bfloat16).contiguous()
        for name, weight in model.named_parameters()
    }
    temporary = os.path.join(folder, "model.safetensors.tmp")
    save_file(weights, temporary, metadata={"format": "pt"})
    os.chmod(temporary, 0o644)
    os.replace(temporary, os.path.join(folder, "model.safetensors"))
    write_json(folder, "config.json", config())
    write_json(
        folder,
        "generation_config.json",
        {"bos_token_id": 0, "eos_token_id": [2, 0], "do_sample": False},
    )
    write_json(
        folder,
        "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": END_OF_TEXT,
            "eos_token": IM_END,
            "pad_token": END_OF_TEXT,
            "unk_token": None,
            "model_max_length": CONTEXT,
            "clean_up_tokenization_spaces": False,
            "chat_template": CHAT_TEMPLATE,
        },
    )
    temporary = os.path.join(folder, "tokenizer.json.tmp")
    tokenizer.save(temporary)
    os.replace(temporary, os.path.join(folder, "tokenizer.json"))


def sample_text(model, tokenizer, prompt, n_tokens):
    ids = torch.tensor([tokenizer.encode(prompt).ids])
    model.eval()
    with torch.no_grad():
        out = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=n_tokens,
            do_sample=False,
            eos_token_id=[2, 0],
            pad_token_id=0,
        )
    model.train()
    return tokenizer.decode(out[0, ids.shape[1] :].tolist(), skip_special_tokens=False)


def learning_rate(step, n_steps, peak):
    warmup = 100
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * (
        0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (n_steps - warmup)))
    )


def train(args):
    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)
    chapters = read_chapters()
    held_out = [c for i, c in enumerate(chapters) if i % 40 == 7]
    training = [c for i, c in enumerate(chapters) if i % 40 != 7]
    tokenizer = train_tokenizer(documents(random.Random(SEED), training, chats_per_chapter=4))
    prose = encode(tokenizer, [END_OF_TEXT + "\n".join(c[2]) + "\n" for c in held_out])
    rng = random.Random(SEED)
    chats = encode(tokenizer, [one_chat(rng, c) for c in held_out for _ in range(8)])
    model = new_model()
    decayed = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
        betas=(0.9, 0.95),
    )
    print(
        f"{sum(p.numel() for p in model.parameters())} parameters, {args.steps} steps, {args.threads} threads",
        flush=True,
    )
    start = time.monotonic()
    for step, rows in enumerate(batches(tokenizer, training, args.steps)):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args.steps, args.peak_rate)
        rows = torch.from_numpy(rows)
        logits = model(rows[:, :-1]).logits
        loss = F.cross_entropy(logits.reshape(-1, VOCAB_SIZE), rows[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            print(
                f"step {step} loss {loss.item():.4f} seconds {time.monotonic() - start:.0f}",
                flush=True,
            )
        if args.save_every and step % args.save_every == args.save_every - 1:
            save(args.out, model, tokenizer)
            print(
                f"saved at step {step}: validation loss {mean_loss(model, prose):.4f}", flush=True
            )
    with torch.no_grad():
        for weight in model.parameters():  # judged as it is stored
            weight.copy_(weight.to(torch.bfloat16).float())
    save(args.out, model, tokenizer)
    print(
        f"validation loss: prose {mean_loss(model, prose):.4f}, chats {mean_loss(model, chats):.4f} nats per token"
    )
    for prompt in [
        "And it came to pass",
        turn("user", "Tell me about the sea.") + IM_START + "assistant\n",
    ]:
        print(repr(prompt), "->", repr(sample_text(model, tokenizer, prompt, 80)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True, help="folder to write")
    parser.add_argument("--steps", type=int, default=1800)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peak-rate", type=float, default=4e-3)
    parser.add_argument("--save-every", type=int, default=0, help="also save every so many steps")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
