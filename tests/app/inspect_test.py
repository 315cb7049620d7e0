"""`isobit inspect` and `isobit tokens`, for people and for programs, and what untrusted files may not do to a terminal."""

import base64
import json
import os
import re
import shutil
import subprocess
import unittest

from program import PROGRAM, SOURCE, TINY, ProgramTest

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}


def check(value, schema, defs, where="$"):
    """The part of JSON Schema that schemas/inspect.schema.json uses."""
    if "$ref" in schema:
        return check(value, defs[schema["$ref"].rsplit("/", 1)[1]], defs, where)
    if "oneOf" in schema:
        faults = []
        for choice in schema["oneOf"]:
            try:
                return check(value, choice, defs, where)
            except AssertionError as fault:
                faults.append(str(fault))
        raise AssertionError("; ".join(faults))
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    assert not types or any(isinstance(value, KINDS[t]) and (t == "boolean" or not isinstance(value, bool)) for t in types), f"{where}: {value!r} is not {types}"
    assert "enum" not in schema or value in schema["enum"], f"{where}: {value!r}"
    assert "pattern" not in schema or re.search(schema["pattern"], value), f"{where}: {value!r}"
    assert "minimum" not in schema or value >= schema["minimum"], f"{where}: {value!r}"
    if isinstance(value, dict) and "properties" in schema:
        assert set(schema["required"]) <= set(value) <= set(schema["properties"]), f"{where}: {sorted(value)}"
        for key, member in value.items():
            check(member, schema["properties"][key], defs, f"{where}.{key}")
    for i, item in enumerate(value if isinstance(value, list) else []):
        check(item, schema.get("items", {}), defs, f"{where}[{i}]")


class FileTest(ProgramTest):
    def check_schema(self, kind, value):
        with open(os.path.join(SOURCE, "schemas", "inspect.schema.json"), encoding="utf-8") as f:
            defs = json.load(f)["$defs"]
        check(value, defs[kind], defs)
        with self.assertRaises(AssertionError):
            check(value | {"surplus": 1}, defs[kind], defs)

    def copy(self, name, **changes):
        """A copy of the example with files changed: file name with '.' as '_' -> function of its JSON or text."""
        folder = self.path(name)
        shutil.copytree(TINY, folder)
        for key, change in changes.items():
            path = os.path.join(folder, key.replace("__", "."))
            with open(path, encoding="utf-8") as f:
                text = f.read()
            changed = change(json.loads(text))
            with open(path, "w", encoding="utf-8") as f:
                f.write(changed if isinstance(changed, str) else json.dumps(changed))
        return folder


class Inspect(FileTest):
    def test_templates_and_rendered_prompts_have_the_shape_of_the_schema(self):
        self.check_schema("template", json.loads(self.isobit("inspect", "template", TINY, "--json", expect=0).out))
        messages = self.path("m.json")
        with open(messages, "w", encoding="utf-8") as f:
            json.dump([{"role": "user", "content": "hi"}], f)
        rendered = self.isobit("tokens", "render", "--template", TINY, "--messages", messages, "--json", expect=0).out
        self.check_schema("rendered", json.loads(rendered))

    def test_a_checkpoint_in_words_and_as_json(self):
        out = self.isobit("inspect", "checkpoint", TINY, "--tensors", expect=0).out
        facts = self.isobit("inspect", "checkpoint", TINY, "--tensors", "--canonical", "--json", expect=0).json
        self.check_schema("checkpoint", facts)
        self.check_schema("checkpoint", self.isobit("inspect", "checkpoint", TINY, "--json", expect=0).json)
        for word in (facts["architecture"], facts["stored_root"], facts["files"][0]["sha256"], "model.norm.weight", "segments (R)", "cache per token", "--canonical"):
            self.assertIn(word, out)
        self.assertEqual(sum(d["n_parameters"] for d in facts["dtypes"]), facts["n_parameters"])
        c = facts["config"]
        self.assertEqual(facts["memory"]["kv_bytes_per_token"], c["n_layers"] * 2 * c["n_kv_heads"] * c["head_dim"] * 2)
        fingerprint = {i["name"]: i["value"] for i in self.isobit("fingerprint", TINY, "--canonical", "--json", expect=0).json["items"]}
        self.assertEqual(facts["stored_root"], fingerprint["weights.stored_root"])
        self.assertEqual(facts["canonical_root"], fingerprint["weights.canonical_root"])
        self.isobit("inspect", "checkpoint", "nowhere", expect=3)
        self.isobit("inspect", "weights", TINY, expect=2)

    def test_a_tokenizer_in_words_and_as_json(self):
        out = self.isobit("inspect", "tokenizer", TINY, expect=0).out
        facts = self.isobit("inspect", "tokenizer", TINY, "--json", expect=0).json
        self.check_schema("tokenizer", facts)
        self.assertIn(facts["digest"], out)
        self.assertIn("from tokenizer_config.json", out)
        self.assertEqual(len(facts["probe"]["ids"]), len(facts["probe"]["pieces"]))
        file = self.isobit("inspect", "tokenizer", os.path.join(TINY, "tokenizer.json"), "--json", expect=0).json
        self.assertEqual(file["digest"], facts["digest"])
        contradicted = self.copy("contradicted", tokenizer_config__json=lambda c: c | {"add_eos_token": True})
        self.assertIn("add_eos_token", self.isobit("inspect", "tokenizer", contradicted, expect=0).out)

    def test_text_from_files_cannot_steer_a_terminal(self):
        def hostile(t):
            n = max(t["model"]["vocab"].values()) + 1
            t["added_tokens"].append(t["added_tokens"][0] | {"id": max(n, *(a["id"] + 1 for a in t["added_tokens"])), "content": "\x1b[31m\u202etoken"})
            return t
        folder = self.copy("hostile", tokenizer__json=hostile)
        for arguments in (["inspect", "tokenizer", folder], ["tokens", "encode", "--tokenizer", folder, "--text", "a\x1b[31m\u202etoken b"],
                          ["inspect", "tokenizer", folder, "--json"], ["inspect", "tokenizer", folder, "--text", "\x1b]0;x\x07"]):
            out = self.isobit(*arguments, expect=0).out
            self.assertNotIn("\x1b", out)
            self.assertNotIn("\u202e", out)
            self.assertIn("[31m", out)

    def piped(self, data, *arguments):
        return subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, check=False, cwd=self.folder)

    def test_tokens_say_which_bytes_they_stand_for(self):
        text = "In the beginning, na\u00efve \u4eca\u5929\n"
        r = self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", text, "--json", expect=0).json
        self.check_schema("encoded", r)
        data = text.encode()
        self.assertEqual("".join(data[t["begin"]:t["end"]].decode("utf-8", "surrogateescape") for t in r["tokens"]).encode("utf-8", "surrogateescape"), data)
        self.assertEqual([t["id"] for t in r["tokens"]], r["ids"])
        listing = self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", text, expect=0).out
        self.assertIn(f"{len(r['ids'])} tokens, {len(data)} bytes", listing)
        self.assertIn("\\n", listing)
        folder = self.copy("composed", tokenizer__json=lambda t: t | {"normalizer": {"type": "NFC"}})
        changed = self.isobit("tokens", "encode", "--tokenizer", folder, "--text", "e\u0301", "--json", expect=0).json
        self.assertEqual((changed["round_trips"], changed["tokens"][0]["begin"]), (False, None))

    def test_text_and_ids_come_through_pipes(self):
        ids = json.loads(self.piped(b"In the beginning", "tokens", "encode", "--tokenizer", TINY, "--json").stdout)["ids"]
        self.assertEqual(ids, self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", "In the beginning", "--json", expect=0).json["ids"])
        back = self.piped(json.dumps(ids).encode(), "tokens", "decode", "--tokenizer", TINY, "--raw", "--skip-special")
        self.assertEqual(back.stdout, b"In the beginning")
        self.assertIn("--text", self.isobit("tokens", "encode", "--tokenizer", TINY, expect=2).err)
        self.assertIn("not a token id", self.isobit("tokens", "decode", "--tokenizer", TINY, "--ids", "1,x", expect=2).err)
        self.assertEqual(self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", "", "--json", "--no-special", expect=0).json["ids"], [])

    def test_bytes_that_are_not_utf8(self):
        self.assertIn("byte 3", self.isobit("tokens", "encode", "--tokenizer", TINY, "--text-file", self.write("bad", b"ok \xff"), expect=2).err)
        ids = self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", "\u4eca", "--no-special", "--json", expect=0).json["ids"]
        half = self.isobit("tokens", "decode", "--tokenizer", TINY, "--ids", str(ids[0]), "--json", expect=0).json
        self.check_schema("decoded", half)
        self.assertFalse(half["valid_utf8"])
        self.assertTrue("\u4eca".encode().startswith(bytes.fromhex(half["hex"])))

    def test_many_texts_at_once(self):
        texts = ["In the beginning", "", "\u4eca\n", "<|im_end|>"]
        lines = [json.dumps(t) for t in texts] + [json.dumps({"base64": base64.b64encode(b"ok \xff").decode()})]
        r = self.isobit("tokens", "encode", "--tokenizer", TINY, "--batch", self.write("texts.jsonl", "\n".join(lines)), expect=2)
        answers = [json.loads(line) for line in r.out.splitlines()]
        self.assertIn("byte 3", answers.pop()["error"])
        for text, answer in zip(texts, answers, strict=True):
            self.assertEqual(answer["ids"], self.isobit("tokens", "encode", "--tokenizer", TINY, "--text", text, "--json", expect=0).json["ids"])
        r = self.isobit("tokens", "encode", "--tokenizer", TINY, "--batch", self.write("bad.jsonl", '"a"\n7\n'), expect=2)
        self.assertIn("bad.jsonl:2", r.err)
        timed = self.isobit("tokens", "encode", "--tokenizer", TINY, "--batch", self.write("ok.jsonl", lines[0]), "--timing", expect=0).json
        self.assertEqual((timed["n_texts"], timed["n_bytes"]), (1, len(texts[0])))


class SameText(FileTest):
    def verdict(self, after, expect=1):
        return self.isobit("fingerprint", "diff", TINY, after, "--json", expect=expect).json["text"]

    def test_one_merge_less_is_shown_at_its_token(self):
        items = {i["name"]: i["value"] for i in self.isobit("fingerprint", TINY, "--json", expect=0).json["items"]}
        pieces = json.loads(items["probe.sentence.pieces"])

        def changed(t):
            spelled = lambda m: "".join(m.split(" ") if isinstance(m, str) else m)
            used = next(m for m in reversed(t["model"]["merges"]) if spelled(m) in pieces)
            t["model"]["merges"].remove(used)
            return t
        folder = self.copy("merge", tokenizer__json=changed)
        verdict = self.verdict(folder)
        self.check_schema("text_verdict", verdict)
        self.assertEqual((verdict["verdict"], verdict["differing"][0]), ("different", "tokenizer"))
        self.assertTrue(verdict["probes"])
        p = verdict["probes"][0]
        self.assertNotEqual(p["before"]["id"], p["after"]["id"])
        words = self.isobit("fingerprint", "diff", TINY, folder, expect=1).out
        self.assertIn("same text? no", words)
        self.assertIn(f"position {p['position']}", words)

    def test_a_doubled_bos_is_shown_at_position_1(self):
        def with_bos(times):
            def change(t):
                bos = t["added_tokens"][0]
                one = {"SpecialToken": {"id": bos["content"], "type_id": 0}}
                t["post_processor"] = {"type": "TemplateProcessing", "single": [one] * times + [{"Sequence": {"id": "A", "type_id": 0}}],
                                       "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                                       "special_tokens": {bos["content"]: {"id": bos["content"], "ids": [bos["id"]], "tokens": [bos["content"]]}}}
                return t
            return change
        once, twice = self.copy("once", tokenizer__json=with_bos(1)), self.copy("twice", tokenizer__json=with_bos(2))
        verdict = self.isobit("fingerprint", "diff", once, twice, "--json", expect=1).json["text"]
        sentence = next(p for p in verdict["probes"] if p["probe"] == "sentence")
        self.assertEqual(sentence["position"], 1)
        self.assertEqual(sentence["after"]["id"], 0)

    def test_another_date_in_the_template_is_shown_in_the_conversation(self):
        dated = lambda day: lambda c: c | {"chat_template": f"Today is {day} July. " + c["chat_template"]}
        before, after = self.copy("before", tokenizer_config__json=dated(26)), self.copy("after", tokenizer_config__json=dated(27))
        verdict = self.isobit("fingerprint", "diff", before, after, "--json", expect=1).json["text"]
        self.assertEqual(verdict["differing"], ["chat_template", "rendered_probe"])
        self.assertEqual([p["probe"] for p in verdict["probes"]], ["conversation"])

    def test_the_order_of_keys_is_no_difference(self):
        reverse = lambda t: dict(reversed(t.items())) | {"model": dict(reversed(t["model"].items()))}
        folder = self.copy("reordered", tokenizer__json=reverse, tokenizer_config__json=lambda c: json.dumps(dict(reversed(c.items())), indent=3))
        self.assertEqual(self.verdict(folder, expect=0)["verdict"], "same")
        self.assertIn("same text? yes", self.isobit("fingerprint", "diff", TINY, folder, expect=0).out)


if __name__ == "__main__":
    unittest.main()
