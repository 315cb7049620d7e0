"""Which weights the tiny models of architectures.py have, and what FP8 ones are in f32."""

import math
import re

import formula_weights
import numpy as np


def power_of_two(value):
    return 2.0 ** round(math.log2(value))


def is_fp8(model, name, shape):
    return "fp8" in model and len(shape) == 2 and "_proj." in name


def weight(model, name, shape):
    """The tensor's entry in the fixture: weights that keep activations near 1, norms near their
    neutral value, scores and logits that spread."""
    gain = next((g for k, g in model.get("gains", {}).items() if re.search(k, name)), None)
    entry = {"name": name, "dtype": model.get("dtype", "BF16"), "shape": shape, "kind": "signed"}
    if len(shape) == 1:
        is_norm = "norm" in name and name.endswith(".weight")
        from_one = is_norm and not model["model_type"].startswith("gemma")
        return {**entry, "scale": 0.5 * (gain or 1), "offset": 1 if from_one else 0}
    fan_in = int(np.prod(shape[1:]))
    usual = 1.0 if "embed_tokens" in name else math.sqrt(3 / fan_in)
    if gain is None:
        gain = 2 if re.search(r"(q|k|qkv)_proj|lm_head|\.gate\.weight", name) else 1
    return {**entry, "scale": power_of_two(usual * gain), "offset": 0}


def fp8_weight(model, name, shape):
    """The bytes of an e4m3 weight (about 100 in the mean square) and its scales."""
    scale = power_of_two(math.sqrt(1 / shape[1]) / 100)
    data = {"name": name, "dtype": "F8_E4M3", "shape": shape, "kind": "e4m3"}
    scales = {"dtype": "F32", "kind": "positive", "scale": scale, "offset": 0}
    blocks = model["quantization_config"].get("weight_block_size")
    scales["shape"] = [-(-n // b) for n, b in zip(shape, blocks)] if blocks else []
    scales["name"] = name.removesuffix("weight") + model["fp8"]
    return [data, scales]


def weights(model, shapes):
    tensors = []
    for name, shape in shapes.items():
        if is_fp8(model, name, shape):
            tensors += fp8_weight(model, name, shape)
        else:
            tensors.append(weight(model, name, shape))
    return sorted(tensors, key=lambda tensor: tensor["name"])


def e4m3_values(raw):
    """f32 of e4m3 bytes."""
    exponent, mantissa = (raw >> 3) & 15, (raw & 7).astype(np.float64)
    normal = np.ldexp(1 + mantissa / 8, exponent.astype(np.int64) - 7)
    magnitude = np.where(exponent == 0, mantissa * 2.0**-9, normal)
    return np.where(raw >> 7, -magnitude, magnitude).astype(np.float32)


def dequantised(tensors, block):
    """{name: f32 array}: FP8 weights times their scales, everything else as it is."""
    by_name = {tensor["name"]: tensor for tensor in tensors}
    out = {}
    for name, tensor in by_name.items():
        if "_scale" in name:
            continue
        if tensor["kind"] != "e4m3":
            out[name] = formula_weights.values(tensor).reshape(tensor["shape"])
            continue
        raw = np.frombuffer(formula_weights.stored_bytes(tensor), np.uint8)
        weight = e4m3_values(raw).reshape(tensor["shape"])
        stem = name.removesuffix("weight")
        scale = next(
            by_name[stem + s] for s in ("weight_scale", "weight_scale_inv") if stem + s in by_name
        )
        factors = formula_weights.values(scale).reshape(scale["shape"])
        if block:
            factors = factors.repeat(block[0], 0).repeat(block[1], 1)
            factors = factors[: weight.shape[0], : weight.shape[1]]
        out[name] = weight * factors
    return out
