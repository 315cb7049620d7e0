"""Chat templates of a checkpoint: where they are found, what inspect says of them, their special tokens and their clock."""

import hashlib
import json
import os
import shutil
import unittest

from program import TINY, ProgramTest

DATED = "{{ strftime_now('%d %b %Y') }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class ChatTemplates(ProgramTest):
    def checkpoint(self, name="model", **files):
        """The bundled checkpoint without its template, plus files by name (dots for the folder's separators are not needed)."""
        folder = self.path(name)
        shutil.copytree(TINY, folder)
        config = self.config(folder)
        del config["chat_template"]
        self.write(f"{name}/tokenizer_config.json", json.dumps(config))
        for file, content in files.items():
            self.put(folder, file, content)
        return folder

    def config(self, folder):
        with open(os.path.join(folder, "tokenizer_config.json"), encoding="utf-8") as file:
            return json.load(file)

    def put(self, folder, file, content):
        path = os.path.join(folder, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(content if isinstance(content, str) else json.dumps(content))

    def configure(self, folder, **members):
        self.put(folder, "tokenizer_config.json", {**self.config(folder), **members})

    def messages(self):
        return self.write("m.json", json.dumps([{"role": "user", "content": "hi"}]))

    def render(self, source, *arguments, expect=0):
        return self.isobit("tokens", "render", "--template", source, "--messages", self.messages(), *arguments, expect=expect)

    def inspect(self, source, *arguments, expect=0):
        return self.isobit("inspect", "template", source, "--json", *arguments, expect=expect)

    # Places

    def test_each_place_is_found(self):
        for file, content in (("chat_template.jinja", PLAIN), ("chat_template.json", {"chat_template": PLAIN})):
            folder = self.checkpoint(file.replace(".", "_"))
            self.put(folder, file, content)
            self.assertEqual(self.render(folder).out, "<user>hi")
            self.assertTrue(self.inspect(folder).json["templates"][0]["place"].startswith(file))
        folder = self.checkpoint("in_config")
        self.configure(folder, chat_template=PLAIN)
        self.assertEqual(self.render(folder).out, "<user>hi")
        self.configure(folder, chat_template=[{"name": "default", "template": PLAIN}, {"name": "tool_use", "template": "T" + PLAIN}])
        self.assertEqual(self.render(folder).out, "<user>hi")

    def test_the_file_beats_the_configuration_and_both_digests_are_told(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", PLAIN)
        self.configure(folder, chat_template="other")
        result = self.render(folder)
        self.assertEqual(result.out, "<user>hi")
        for digest in (sha256(PLAIN), sha256("other")):
            self.assertIn(digest[:12], result.err)
        found = {t["place"]: t for t in self.inspect(folder).json["templates"]}
        self.assertTrue(found["chat_template.jinja"]["used"])
        self.assertFalse(found["tokenizer_config.json: chat_template"]["used"])
        self.assertEqual(found["tokenizer_config.json: chat_template"]["sha256"], sha256("other"))
        items = {i["name"]: i["value"] for i in self.isobit("fingerprint", folder, "--json", expect=0).json["items"]}
        self.assertEqual(items["chat_template"], sha256(PLAIN))
        self.assertEqual(items["unused_chat_template.tokenizer_config.json: chat_template"], sha256("other"))

    def test_two_places_that_agree_are_no_conflict(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", PLAIN)
        self.configure(folder, chat_template=PLAIN)
        result = self.render(folder)
        self.assertNotIn("not used", result.err)
        self.assertEqual(self.inspect(folder).json["conflicts"], [])

    def test_tools_take_the_template_that_is_named_for_them(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", PLAIN)
        self.put(folder, "additional_chat_templates/tool_use.jinja", "TOOLS" + PLAIN)
        tools = self.write("t.json", json.dumps([{"type": "function", "function": {"name": "f"}}]))
        self.assertEqual(self.render(folder).out, "<user>hi")
        self.assertEqual(self.render(folder, "--tools", tools).out, "TOOLS<user>hi")
        items = {i["name"]: i["value"] for i in self.isobit("fingerprint", folder, "--json", expect=0).json["items"]}
        self.assertEqual(items["named_chat_template.tool_use"], sha256("TOOLS" + PLAIN))
        self.assertIn("TOOLS", self.inspect(folder, "--name", "tool_use").json["probe"]["text"])
        self.assertIn("only default, tool_use", self.isobit("inspect", "template", folder, "--name", "rag", expect=2).err)

    def test_a_template_that_is_refused_stops_only_what_renders_it(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", "{% include 'x' %}")
        self.assertIn("{% include %}", self.render(folder, expect=2).err)
        self.assertIn("{% include %}", self.isobit("inspect", "template", folder, expect=2).err)
        self.isobit("tokens", "encode", "--tokenizer", folder, "--text", "a", expect=0)
        prompts = self.write("p.jsonl", json.dumps({"id": "a", "prompt": "In the"}) + "\n")
        self.run_audit("--prompts", prompts, model=folder)
        self.run_audit("--prompts", "smoke", model=folder, expect=2)

    def test_a_template_that_is_no_text_is_the_checkpoints_fault(self):
        for value in (5, {"a": 1}, ["x"], [{"name": "default"}]):
            folder = self.checkpoint()
            self.configure(folder, chat_template=value)
            self.assertIn("chat_template", self.render(folder, expect=3).err)
            shutil.rmtree(folder)

    # Special tokens

    def test_special_tokens_are_strings_or_objects_and_absent_ones_are_undefined(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", "{{ bos_token }}|{{ eos_token }}|{{ unk_token is defined }}|{{ image_token }}|{{ sep_token is defined }}")
        self.configure(folder, bos_token={"content": "<|im_start|>", "lstrip": False}, unk_token=None, image_token="<img>")
        self.assertEqual(self.render(folder).out, "<|im_start|>|<|im_end|>|False|<img>|False")
        self.assertEqual(self.render(folder, "--var", 'bos_token="x"').out[:2], "x|")

    def test_special_tokens_map_counts_where_the_configuration_lists_no_added_tokens(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", "{{ bos_token }}|{{ cls_token }}")
        self.put(folder, "special_tokens_map.json", {"bos_token": "<|im_start|>", "cls_token": {"content": "<|im_end|>"}})
        self.assertEqual(self.render(folder).out, "<|im_start|>|<|im_end|>")
        self.configure(folder, added_tokens_decoder={})
        self.assertEqual(self.render(folder).out, "<|endoftext|>|")

    # inspect

    def test_inspect_tells_what_a_template_reads(self):
        text = ("{% set x = 1 %}{{ messages }}{{ x }}{% if tools %}{{ raise_exception('no') }}{% endif %}{% generation %}a{% endgeneration %}{{ strftime_now('%Y') }}")
        source = self.write("t.jinja", text)
        told = self.inspect(source).json
        self.assertEqual(told["variables"], ["messages", "tools"])
        self.assertEqual([told[k] for k in ("reads_clock", "uses_tools", "uses_documents", "marks_generation", "raises")], [True, True, False, True, True])
        self.assertEqual(told["sha256"], sha256(text))
        text = self.isobit("inspect", "template", source, expect=0).out
        self.assertIn("reads the clock    yes: it says 2026-01-01T00:00:00 (--now)", text)
        self.assertIn("special tokens are not marked", text)

    def test_the_probe_shows_special_tokens_and_line_breaks(self):
        told = self.inspect(TINY).json
        self.assertEqual("".join(p["text"] for p in told["probe"]["pieces"]), told["probe"]["text"])
        self.assertEqual({p["text"] for p in told["probe"]["pieces"] if p["special"]}, {"<|im_start|>", "<|im_end|>"})
        text = self.isobit("inspect", "template", TINY, expect=0).out
        self.assertIn("  [<|im_start|>]user\\n\n  What is 2 + 2?[<|im_end|>]\\n\n", text)

    def test_a_template_without_a_system_role_is_probed_without_one(self):
        source = self.write("t.jinja", "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + PLAIN)
        told = self.inspect(source).json
        self.assertFalse(told["probe"]["system_message"])
        self.assertIn("What is 2 + 2?", told["probe"]["text"])
        refusing = self.write("r.jinja", "{{ raise_exception('never') }}")
        told = self.inspect(refusing).json
        self.assertIsNone(told["probe"]["text"])
        self.assertIn("never", told["probe"]["refusal"])

    def test_a_folder_without_a_tokenizer_still_has_a_template(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", PLAIN)
        os.remove(os.path.join(folder, "tokenizer.json"))
        self.assertIn("<user>", self.inspect(folder).json["probe"]["text"])

    def test_inspect_refuses_what_is_not_there(self):
        self.isobit("inspect", "template", self.path("nothing"), expect=3)
        self.assertIn("has no chat template", self.isobit("inspect", "template", self.checkpoint(), expect=2).err)
        self.isobit("inspect", "template", self.write("bad.jinja", "{% if %}"), expect=2)
        self.isobit("inspect", expect=2)

    # The clock

    def test_the_clock_is_pinned_told_and_an_input(self):
        source = self.write("t.jinja", DATED)
        result = self.render(source)
        self.assertEqual(result.out, "01 Jan 2026<user>hi")
        self.assertIn("as of 2026-01-01T00:00:00 (--now)", result.err)
        self.assertEqual(self.render(source, "--now", "2024-02-29").out, "29 Feb 2024<user>hi")
        self.assertNotIn("as of", self.render(self.write("p.jinja", PLAIN)).err)
        self.assertIn("expected a time like", self.render(source, "--now", "today", expect=2).err)

    def test_a_run_records_what_its_clock_said_and_another_time_is_another_question(self):
        folder = self.checkpoint()
        self.put(folder, "chat_template.jinja", DATED)
        first = self.run_audit("--prompts", "smoke", model=folder)
        self.assertIn("as of 2026-01-01T00:00:00", first.err)
        self.run_audit("--prompts", "smoke", "--now", "2026-05-05", model=folder)
        gate = self.isobit("gate", "latest~1", "latest", "--store", self.store, "--level", "1", expect=6)
        self.assertIn("prompts", gate.out + gate.err)
        a, b = (self.isobit("fingerprint", folder, "--json", *now, expect=0) for now in ((), ("--now", "2026-05-05")))
        clock = [i["value"] for i in a.json["items"] if i["name"] == "template_clock"]
        self.assertEqual(clock, ["2026-01-01T00:00:00"])
        changed = self.isobit("fingerprint", "diff", self.write("a.json", a.out), self.write("b.json", b.out), "--json", expect=1).json["changes"]
        decides = {c["name"] for c in changed if not c["name"].startswith("probe.")}
        self.assertEqual(decides, {"template_clock", "rendered_probe"})
        self.isobit("fingerprint", "verify", self.path("b.json"), folder, expect=0)  # the recorded time is taken
        self.isobit("fingerprint", "verify", self.path("b.json"), folder, "--now", "2026-06-06", expect=6)
        for same_time in ("2026-05-05T00:00:00", "2026-05-05T00:00:00Z", "2026-05-05"):
            self.isobit("fingerprint", "verify", self.path("b.json"), folder, "--now", same_time, expect=0)

    def test_a_template_that_does_not_read_the_clock_records_none(self):
        items = self.isobit("fingerprint", TINY, "--now", "2026-05-05", "--json", expect=0).json
        self.assertEqual(items, self.isobit("fingerprint", TINY, "--json", expect=0).json)
        self.assertNotIn("template_clock", {i["name"] for i in items["items"]})

    # bench

    def test_bench_times_the_template_alone(self):
        told = self.isobit("bench", TINY, "--template", "--rounds", "2", "--json", expect=0).json["templates"]
        self.assertEqual([t["what"] for t in told], ["parse", "render", "render", "render"])
        self.assertTrue(all(len(t["microseconds"]) == 2 and min(t["microseconds"]) > 0 for t in told))
        self.assertIn("render 4 messages", self.isobit("bench", TINY, "--template", "--rounds", "1", expect=0).out)
        self.isobit("bench", TINY, "--template", "--kernels", expect=2)


if __name__ == "__main__":
    unittest.main()
