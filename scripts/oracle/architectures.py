#!/usr/bin/env python3
"""Records what transformers computes in f32 for a tiny model of every architecture: the outside
opinion on the architectures of isobit's engine.

    record [NAME ...] [--out tests/fixtures/architectures]
    check [NAME ...]    the fixtures again, in whatever version of transformers is there, from the
                        older spelling of the configuration
    write FOLDER [NAME ...] [--spelling config|older_config]
                        FOLDER/NAME/config.json and model.safetensors, for other programs

The models are those of architecture_models.py, their weights those of architecture_weights.py, by
the formula of formula_weights.py, written as a checkpoint that transformers itself opens: names,
shapes and configuration are what it writes and reads. Attention is `eager`, everything is float32.
FP8 weights are multiplied by their scales in f32 (numeric contract, section 4) and the result is
opened as an F32 checkpoint, since transformers has FP8 arithmetic of its own.

A fixture, NAME.json:
    transformers, torch   versions
    config                config.json as transformers writes it
    older_config          the same model in the spelling of transformers 4 (rope_theta and
                          rope_scaling, torch_dtype, patterns instead of layer_types)
    tensors[]             name, dtype, shape, kind, scale, offset: see formula_weights.py
    tolerance             largest |isobit - transformers| allowed, as a share of a row's max_abs
    columns               vocabulary ids whose logits are kept: every third, no multiple of a vector
    gguf                  the same model as llama.cpp's converter writes it: architecture_gguf.py
    prompts[]             prompt_ids, forced_ids, rows[]; a row: position (of the last token read),
                          step ("prefill": the prompt in one pass, no cache; "decode": one token,
                          with the cache), max_abs (of all logits), logits (at columns)
Row at position p is the output after prompt + forced tokens 0..p. Numbers are f32 in the shortest
decimal that reads back.

`record` leaves "gguf" out: run architecture_gguf.py again after it. Needs torch, transformers,
numpy (PyPI, in a virtual environment). Recorded with transformers 5.24.0, checked with 4.57.6.
"""

import argparse
import copy
import json
import os
import struct
import sys
import tempfile

import formula_weights
import numpy as np
from architecture_models import LENGTHS, models
from architecture_weights import dequantised, weights

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
N_FORCED = 8
COLUMN_STRIDE = 3
TOLERANCE = 2e-5
DTYPE_NAMES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def quiet():
    import warnings

    from transformers.utils import logging

    warnings.filterwarnings("ignore", category=FutureWarning)
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def selected(names):
    known = {model["name"]: model for model in models()}
    for name in names:
        if name not in known:
            sys.exit(f"no model {name}; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(known.values())


def written_by_transformers(model):
    """(config.json, {tensor name: shape}) of a checkpoint that transformers saves."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = CONFIG_MAPPING[model["model_type"]](**copy.deepcopy(model["config"]))
    auto = AutoModelForImageTextToText if "text_config" in model["config"] else AutoModelForCausalLM
    torch.manual_seed(0)  # the values are replaced
    with tempfile.TemporaryDirectory() as folder:
        auto.from_config(config).save_pretrained(folder)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as source:
            written = json.load(source)
        with open(os.path.join(folder, "model.safetensors"), "rb") as source:
            (length,) = struct.unpack("<Q", source.read(8))
            header = json.loads(source.read(length))
    header.pop("__metadata__", None)
    return written, {name: entry["shape"] for name, entry in sorted(header.items())}


def final_config(model, written):
    config = {k: v for k, v in written.items() if k != "transformers_version"}
    config["dtype"] = DTYPE_NAMES[model.get("dtype", "BF16")]
    for part in ("text_config", "vision_config"):
        if part in config:
            config[part]["dtype"] = config["dtype"]
    if "quantization_config" in model:
        config["quantization_config"] = model["quantization_config"]
    return config


def flat_rope(config):
    """rope_parameters in transformers 4's words."""
    rope = config.pop("rope_parameters", None)
    if rope is None:
        return
    if "full_attention" in rope:  # Gemma 3
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    config["rope_theta"] = rope.pop("rope_theta")
    kind = rope.pop("rope_type", "default")
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if kind == "longrope":
        rope.pop("original_max_position_embeddings")  # stays beside, as Phi-3 has it
        config["rope_scaling"] = {"type": kind, **rope}
    else:
        config["rope_scaling"] = None if kind == "default" else {"rope_type": kind, **rope}


def older_config(model, config):
    older = copy.deepcopy(config)
    model.get("older", lambda _: None)(older)
    for part in (older, older.get("text_config", {}), older.get("vision_config", {})):
        flat_rope(part)
        if "dtype" in part:
            part["torch_dtype"] = part.pop("dtype")
    return older


def write_checkpoint(folder, config, tensors):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as out:
        json.dump(config, out, indent=1)
    formula_weights.write_safetensors(os.path.join(folder, "model.safetensors"), tensors)


def open_in_transformers(config, tensors):
    import safetensors.numpy
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    quantised = config.get("quantization_config")
    auto = AutoModelForImageTextToText if "text_config" in config else AutoModelForCausalLM
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(folder, config, tensors)
        if quantised:
            plain = {k: v for k, v in config.items() if k != "quantization_config"}
            with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as out:
                json.dump(plain, out)
            safetensors.numpy.save_file(
                dequantised(tensors, quantised.get("weight_block_size")),
                os.path.join(folder, "model.safetensors"),
                metadata={"format": "pt"},
            )
        opened, loading = auto.from_pretrained(
            folder, torch_dtype=torch.float32, attn_implementation="eager", output_loading_info=True
        )
    for problem in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        # Versions name the vision tower's tensors differently; nothing here looks at an image.
        names = [name for name in loading[problem] if "vision_tower" not in str(name)]
        if names:
            sys.exit(f"transformers says of the tensors: {problem} {names}")
    return opened.eval()


def token_ids(n, seed, n_vocab):
    """Any ids but the special ones at both ends of the vocabulary."""
    random = formula_weights.bits(f"tokens {seed}", n)
    return [3 + int(r % (n_vocab - 6)) for r in random]


def rows_of(model, prompt_ids, forced_ids):
    """{(step, position): (n_vocab) f32}, and the largest difference between the decoded rows and
    those of one pass over everything."""
    import torch

    def output(ids, **more):
        return model(torch.tensor([ids]), **more)

    n = len(prompt_ids)
    with torch.no_grad():
        whole = output(prompt_ids, use_cache=False).logits[0].numpy()
        rows = {("prefill", p): whole[p] for p in sorted({0, n // 2, n - 1})}
        all_at_once = output(prompt_ids + forced_ids, use_cache=False).logits[0].numpy()
        cache = output(prompt_ids, use_cache=True).past_key_values
        apart = 0.0
        for i, token in enumerate(forced_ids):
            step = output([token], past_key_values=cache, use_cache=True)
            rows["decode", n + i] = step.logits[0, -1].numpy()
            apart = max(apart, float(np.abs(rows["decode", n + i] - all_at_once[n + i]).max()))
    return rows, apart


def shortest(number):
    return float(str(np.float32(number)))


def recorded_prompt(model, index, length, n_vocab):
    prompt_ids = token_ids(length, f"prompt {index}", n_vocab)
    forced_ids = token_ids(N_FORCED, f"forced {index}", n_vocab)
    rows, apart = rows_of(model, prompt_ids, forced_ids)
    largest = max(float(np.abs(row).max()) for row in rows.values())
    if not apart < 2e-5 * largest:
        sys.exit(f"decoding and one pass differ by {apart:.2e} of {largest:.2f}: no oracle")
    return {
        "prompt_ids": prompt_ids,
        "forced_ids": forced_ids,
        "rows": [
            {
                "position": position,
                "step": step,
                "max_abs": shortest(np.abs(row).max()),
                "logits": [shortest(z) for z in row[::COLUMN_STRIDE]],
            }
            for (step, position), row in rows.items()
        ],
    }


def difference(fixture, rows_by_prompt):
    """Largest |difference| as a share of its row's max_abs."""
    worst = 0.0
    for prompt, rows in zip(fixture["prompts"], rows_by_prompt):
        for row in prompt["rows"]:
            other = rows[row["step"], row["position"]]
            apart = np.abs(other[fixture["columns"]] - np.array(row["logits"], np.float32)).max()
            worst = max(worst, float(apart) / row["max_abs"])
    return worst


def difference_of_config(fixture, config):
    model = open_in_transformers(config, fixture["tensors"])
    rows = [rows_of(model, p["prompt_ids"], p["forced_ids"])[0] for p in fixture["prompts"]]
    return difference(fixture, rows)


def write_fixture(path, fixture):
    """One line a tensor and one a row, so that a diff of two recordings can be read."""

    def line(value):
        return json.dumps(value, separators=(",", ":"))

    def lines(values):
        return "[\n" + ",\n".join("  " + line(value) for value in values) + "\n ]"

    head = [
        f" {json.dumps(k)}: {line(v)}"
        for k, v in fixture.items()
        if k not in ("gguf", "tensors", "prompts")
    ]
    if "gguf" in fixture:
        gguf = {k: lines(v) if k == "tensors" else line(v) for k, v in fixture["gguf"].items()}
        head.append(
            ' "gguf": {' + ", ".join(f"{json.dumps(k)}: {v}" for k, v in gguf.items()) + "}"
        )
    head.append(' "tensors": ' + lines(fixture["tensors"]))
    prompts = []
    for prompt in fixture["prompts"]:
        ids = [f"   {json.dumps(k)}: {line(prompt[k])}" for k in ("prompt_ids", "forced_ids")]
        rows = ",\n".join("    " + line(row) for row in prompt["rows"])
        prompts.append("  {\n" + ",\n".join(ids) + ',\n   "rows": [\n' + rows + "\n   ]\n  }")
    text = ",\n".join([*head, ' "prompts": [\n' + ",\n".join(prompts) + "\n ]"])
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".tmp", "w", encoding="utf-8") as out:
        out.write("{\n" + text + "\n}\n")
    os.replace(path + ".tmp", path)


def record_model(model, folder):
    import torch
    import transformers

    written, shapes = written_by_transformers(model)
    config = final_config(model, written)
    tensors = weights(model, shapes)
    n_vocab = config.get("text_config", config)["vocab_size"]
    opened = open_in_transformers(config, tensors)
    lengths = model.get("lengths", LENGTHS)
    fixture = {
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "config": config,
        "older_config": older_config(model, config),
        "tolerance": TOLERANCE,
        "columns": list(range(0, n_vocab, COLUMN_STRIDE)),
        "tensors": tensors,
        "prompts": [
            recorded_prompt(opened, i, length, n_vocab) for i, length in enumerate(lengths)
        ],
    }
    older = difference_of_config(fixture, fixture["older_config"])
    if older != 0:
        sys.exit(f"{model['name']}: the older spelling is another model, {older:.2e} away")
    path = os.path.join(folder, model["name"] + ".json")
    write_fixture(path, fixture)
    spread = np.std([r["logits"] for p in fixture["prompts"] for r in p["rows"]])
    print(
        f"{model['name']}: logits spread by {spread:.2f}, {os.path.getsize(path)} bytes", flush=True
    )


def fixture_of(model):
    path = os.path.join(ROOT, "tests/fixtures/architectures", model["name"] + ".json")
    with open(path, encoding="utf-8") as source:
        return json.load(source)


def record(args):
    quiet()
    for model in selected(args.names):
        record_model(model, args.out)
    return 0


def check(args):
    import transformers

    quiet()
    failures = 0
    for model in selected(args.names):
        fixture = fixture_of(model)
        apart = difference_of_config(fixture, fixture["older_config"])
        failures += not apart <= 2e-5
        print(
            f"{model['name']}: transformers {transformers.__version__} is {apart:.1e} away",
            flush=True,
        )
    return 1 if failures else 0


def write(args):
    for model in selected(args.names):
        fixture = fixture_of(model)
        folder = os.path.join(args.folder, model["name"])
        write_checkpoint(folder, fixture[args.spelling], fixture["tensors"])
        print(folder)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("names", nargs="*")
    recording.add_argument("--out", default=os.path.join(ROOT, "tests/fixtures/architectures"))
    recording.set_defaults(run=record)
    checking = commands.add_parser("check")
    checking.add_argument("names", nargs="*")
    checking.set_defaults(run=check)
    writing = commands.add_parser("write")
    writing.add_argument("folder")
    writing.add_argument("names", nargs="*")
    writing.add_argument("--spelling", choices=["config", "older_config"], default="config")
    writing.set_defaults(run=write)
    args = parser.parse_args()
    sys.exit(args.run(args))


if __name__ == "__main__":
    main()
