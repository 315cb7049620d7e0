#!/usr/bin/env python3
"""examples/tiny-kjv keeps the shape it was made for; read with nothing but the standard library."""
import json
import math
import os
import struct
import unittest

FOLDER = os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", "examples", "tiny-kjv")
)


def read_json(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as source:
        return json.load(source)


def safetensors_header():
    with open(os.path.join(FOLDER, "model.safetensors"), "rb") as source:
        (length,) = struct.unpack("<Q", source.read(8))
        return json.loads(source.read(length))


class ExampleCheckpoint(unittest.TestCase):
    def test_the_folder_is_small_enough_to_commit(self):
        size = sum(os.path.getsize(os.path.join(FOLDER, name)) for name in os.listdir(FOLDER))
        self.assertLessEqual(size, 4_000_000)

    def test_every_tensor_has_hugging_faces_name_and_shape_in_bf16(self):
        config = read_json("config.json")
        width, mlp = config["hidden_size"], config["intermediate_size"]
        kv = config["num_key_value_heads"] * config["head_dim"]
        expected = {"model.embed_tokens.weight": [config["vocab_size"], width]}
        expected["model.norm.weight"] = [width]
        parts = {
            "input_layernorm": [width],
            "post_attention_layernorm": [width],
            "self_attn.q_proj": [width, width],
            "self_attn.k_proj": [kv, width],
            "self_attn.v_proj": [kv, width],
            "self_attn.o_proj": [width, width],
            "mlp.gate_proj": [mlp, width],
            "mlp.up_proj": [mlp, width],
            "mlp.down_proj": [width, mlp],
        }
        for layer in range(config["num_hidden_layers"]):
            for part, shape in parts.items():
                expected[f"model.layers.{layer}.{part}.weight"] = shape
        header = safetensors_header()
        header.pop("__metadata__", None)
        self.assertEqual({name: entry["shape"] for name, entry in header.items()}, expected)
        self.assertEqual({entry["dtype"] for entry in header.values()}, {"BF16"})
        self.assertTrue(config["tie_word_embeddings"])

    def test_the_sizes_are_awkward_on_purpose(self):
        config = read_json("config.json")
        heads, mlp = config["num_attention_heads"], config["intermediate_size"]
        g = math.gcd(heads, mlp, 24)
        segments = max(r for r in range(1, g + 1) if g % r == 0 and (r == 1 or mlp // r % 32 == 0))
        self.assertEqual((g, segments), (8, 4))  # the numeric contract's R
        self.assertEqual(config["hidden_size"] % 128, 32)  # one whole leaf and a ragged one
        self.assertEqual(config["head_dim"], 20)  # no multiple of a vector width
        self.assertEqual(config["vocab_size"] % 2, 1)

    def test_the_tokenizer_covers_every_byte_and_the_vocabulary(self):
        tokenizer, config = read_json("tokenizer.json"), read_json("config.json")
        vocabulary = tokenizer["model"]["vocab"]
        self.assertEqual(sorted(vocabulary.values()), list(range(config["vocab_size"])))
        self.assertEqual(sum(len(token) == 1 for token in vocabulary), 256)
        special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        self.assertEqual(special, {"<|endoftext|>": 0, "<|im_start|>": 1, "<|im_end|>": 2})
        self.assertEqual(read_json("tokenizer_config.json")["eos_token"], "<|im_end|>")
        self.assertEqual(config["eos_token_id"], special["<|im_end|>"])


if __name__ == "__main__":
    unittest.main()
