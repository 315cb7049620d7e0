"""Weights that two languages compute exactly: so that a tiny model needs no file of its own.

The C++ side is tests/support/formula_checkpoint.h; the two must say the same.

    start    FNV-1a, 64 bits, of the tensor's name in UTF-8
    bits(i)  splitmix64 of element i (row-major): state = start + (i + 1) * 0x9E3779B97F4A7C15,
             mixed by splitmix64's finalizer
    signed   offset + scale * ((bits >> 57) - 64) / 64: 128 values in offset - scale to
             offset + scale
    positive scale * (1 + (bits >> 41) * 2^-23): an F32 with all its bits, from scale to 2 * scale
    e4m3     the byte itself: sign bits >> 63, magnitude (bits >> 56) & 127, at most 126 (127 would
             be a NaN)

Scales are powers of two, and values of `signed` are exact in the dtype that holds them (checked
here).
"""

import struct

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
N_BYTES = {"F32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1}


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def bits(name, n):
    """(n) uint64."""
    with np.errstate(over="ignore"):
        steps = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        z = np.uint64(fnv1a(name)) + steps
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def count(tensor):
    return int(np.prod(tensor["shape"], dtype=np.int64))


def stored_bytes(tensor):
    """The tensor's bytes as safetensors stores them."""
    n, dtype = count(tensor), tensor["dtype"]
    random = bits(tensor["name"], n)
    if tensor["kind"] == "e4m3":
        magnitude = np.minimum((random >> np.uint64(56)) & np.uint64(127), np.uint64(126))
        return (magnitude | (random >> np.uint64(63)) << np.uint64(7)).astype(np.uint8).tobytes()
    return encoded(values(tensor), dtype, tensor["name"])


def values(tensor):
    """(n) float32 of a `signed` or `positive` tensor."""
    random = bits(tensor["name"], count(tensor))
    if tensor["kind"] == "positive":
        unit = 1 + (random >> np.uint64(41)).astype(np.float64) * 2.0**-23
        return (tensor["scale"] * unit).astype(np.float32)
    steps = (random >> np.uint64(57)).astype(np.float64) - 64
    return (tensor["offset"] + tensor["scale"] * steps / 64).astype(np.float32)


def encoded(exact, dtype, name):
    if dtype == "F32":
        return exact.astype("<f4").tobytes()
    if dtype == "F16":
        half = exact.astype("<f2")
        back = half.astype(np.float32)
    else:
        half = (exact.view(np.uint32) >> np.uint32(16)).astype("<u2")
        back = (half.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if not np.array_equal(back, exact):
        raise ValueError(f"{name}: values are not exact in {dtype}")
    return half.tobytes()


def write_safetensors(path, tensors):
    import json

    header, at = {}, 0
    for tensor in tensors:
        end = at + count(tensor) * N_BYTES[tensor["dtype"]]
        header[tensor["name"]] = {
            "dtype": tensor["dtype"],
            "shape": tensor["shape"],
            "data_offsets": [at, end],
        }
        at = end
    header["__metadata__"] = {"format": "pt"}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors:
            out.write(stored_bytes(tensor))
