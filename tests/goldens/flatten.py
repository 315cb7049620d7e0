#!/usr/bin/env python3
"""Writes a Llama checkpoint of one safetensors file as flat_checkpoint.h reads it.

Why: the core of the numeric contract has no JSON parser, and its goldens must speak about the
bundled checkpoint too. tests/engine/golden_checkpoint_test.cc holds the same golden against the
real reader. Usage: flatten.py FOLDER OUTPUT
"""
import json
import os
import struct
import sys


def read_json(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def config_lines(folder):
    config = read_json(folder, "config.json")
    if config["architectures"] != ["LlamaForCausalLM"] or config.get("rope_scaling"):
        sys.exit(f"{folder}: only plain Llama checkpoints can be flattened")
    names = {
        "hidden_size": "hidden_size",
        "intermediate_size": "intermediate_size",
        "n_layers": "num_hidden_layers",
        "n_heads": "num_attention_heads",
        "n_kv_heads": "num_key_value_heads",
        "head_dim": "head_dim",
        "vocab_size": "vocab_size",
        "max_positions": "max_position_embeddings",
    }
    for name, key in names.items():
        yield f"config {name} {config[key]:d}"
    yield f"config rms_norm_eps {float(config['rms_norm_eps']).hex()}"
    yield f"config rope_theta {float(config['rope_theta']).hex()}"
    yield f"config tied_head {config['tie_word_embeddings']:d}"
    eos = {}  # a dict keeps the order
    for source in config, read_json(folder, "generation_config.json"):
        ids = source["eos_token_id"]
        eos.update(dict.fromkeys(ids if isinstance(ids, list) else [ids]))
    for token_id in eos:
        yield f"config eos_token_id {token_id:d}"


def read_tensors(folder):
    """[(name, dtype, shape, bytes)] by name."""
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        (n_bytes,) = struct.unpack("<Q", file.read(8))
        head, body = json.loads(file.read(n_bytes)), file.read()
    head.pop("__metadata__", None)
    tensors = []
    for name, entry in sorted(head.items()):
        begin, end = entry["data_offsets"]
        tensors.append((name, entry["dtype"], entry["shape"], body[begin:end]))
    return tensors


def main(folder, output):
    tensors = read_tensors(folder)
    lines = ["isobit-flat 1", *config_lines(folder)]
    for name, dtype, shape, _ in tensors:
        lines.append(" ".join(["tensor", name, dtype, str(len(shape)), *map(str, shape)]))
    text = "\n".join([*lines, "end", ""])
    with open(output + ".part", "wb") as file:
        file.write(text.encode())
        for _, _, _, data in tensors:
            file.write(data)
    os.replace(output + ".part", output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[-1])
    main(*sys.argv[1:])
