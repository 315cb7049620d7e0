#!/usr/bin/env python3
"""scripts/check_layers finds each planted violation at its line, and nothing in a clean tree.

A check that never fails proves nothing: every rule has a planted fault here, and the repository
itself must be clean.
"""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CHECK = os.path.join(ROOT, "scripts", "check_layers")

LAYERS = """# folder: the folders it may include
base:
tensor: base
kernels: base tensor
text: base
engine: base tensor kernels
targets: base engine
compare: base
store: base
fingerprint: base tensor
app: base tensor text engine compare store
"""
CLEAN = {
    "lib/layers.txt": LAYERS,
    "lib/base/error.h": "#pragma once\n#include <string>\n",
    "lib/base/json.h": "#include <nlohmann/json.hpp>\n",
    "lib/base/digest.cc": '#include <openssl/evp.h>\n#include "base/error.h"\n',
    "lib/base/digest.h": "#include <string>\n",
    "lib/tensor/view.h": '#include "base/error.h"\n',
    "lib/text/bpe.cc": '#include <pcre2.h>\n#include <utf8proc.h>\n#include "base/json.h"\n',
    "lib/engine/scores.cc": '#include <xxhash.h>\n#include "engine/scores.h"\n#include "kernels/ops.h"\n',
    "lib/engine/scores.h": '#include "tensor/view.h"\n',
    "lib/targets/http_client.cc": "#include <curl/curl.h>\n",
    "lib/store/store.cc": "#include <sqlite3.h>\n",
    "lib/compare/bits.h": '#include "base/error.h"\n',
    "lib/fingerprint/cuda_probe.cc": "#include <cuda.h>\n",
    "kernels/ops.h": '#include "tensor/view.h"\n',
    "kernels/adaptive/gemm.cc": "#include <cblas.h>\n",
    "kernels/cuda/gemm.cu": "#include <cuda_runtime.h>\n",
    "app/main.cc": '#include <CLI/CLI.hpp>\n#include <iostream>\n#include "engine/scores.h"\nint main() { std::getenv("X"); }\n',
    "tests/support/main.cc": "#include <doctest/doctest.h>\n",
    "tests/store/store_test.cc": '#include <doctest/doctest.h>\n#include <sqlite3.h>\n#include "tests/support/fake.h"\n',
}
# path, text, line, words of the rule
PLANTED = [
    (
        "lib/base/up.cc",
        '#include "base/error.h"\n#include "engine/scores.h"\n',
        2,
        "base may include nothing",
    ),
    ("lib/compare/side.cc", '#include "engine/scores.h"\n', 1, "compare may include base"),
    ("kernels/cpu/up.cc", '#include "engine/scores.h"\n', 1, "kernels may include base tensor"),
    ("tests/compare/bits_test.cc", '#include "store/store.h"\n', 1, "names no file"),
    ("tests/compare/more_test.cc", '#include "tensor/view.h"\n', 1, "compare may include base"),
    ("lib/text/relative.cc", '\n#include "bpe.h"\n', 2, "not root-relative"),
    ("lib/text/dots.cc", '#include "text/../base/error.h"\n', 1, "not root-relative"),
    ("lib/text/long.cc", '#include "lib/base/error.h"\n', 1, 'without "lib/"'),
    ("lib/text/angle.cc", "#include <base/error.h>\n", 1, "included with quotes"),
    ("lib/text/nowhere.cc", '#include "elsewhere/x.h"\n', 1, "names no folder"),
    (
        "lib/text/support.cc",
        '#include "tests/support/fake.h"\n',
        1,
        "only tests/ includes test code",
    ),
    ("lib/base/flags.cc", "#include <CLI/CLI.hpp>\n", 1, "CLI11 stays inside"),
    ("lib/compare/sql.cc", "#include <sqlite3.h>\n", 1, "SQLite stays inside"),
    ("lib/base/file.cc", "#include <openssl/sha.h>\n", 1, "OpenSSL stays inside"),
    ("lib/targets/import.cc", "#include <curl/curl.h>\n", 1, "libcurl stays inside"),
    ("lib/targets/device.cc", "#include <cuda_runtime.h>\n", 1, "CUDA headers stays inside"),
    ("lib/fingerprint/gpu.cc", "#include <cuda.h>\n", 1, "CUDA headers stays inside"),
    ("lib/store/regex.cc", "#include <pcre2.h>\n", 1, "PCRE2 stays inside"),
    ("lib/store/unicode.cc", "#include <utf8proc.h>\n", 1, "utf8proc stays inside"),
    ("lib/store/json.cc", "#include <nlohmann/json.hpp>\n", 1, "nlohmann/json stays inside"),
    ("app/gemm.cc", "#include <cblas.h>\n", 1, "OpenBLAS stays inside"),
    ("lib/compare/hash.cc", "#include <xxhash.h>\n", 1, "xxHash stays inside"),
    ("app/self.cc", "#include <doctest/doctest.h>\n", 1, "doctest stays inside"),
    ("lib/compare/clock.cc", "#include <chrono>\n", 1, "are pure"),
    ("lib/text/print.cc", "#include <iostream>\n", 1, "libraries do not print"),
    ("lib/text/print2.cc", '\nvoid f() { fprintf(stderr, "x"); }\n', 2, "only app/ prints"),
    (
        "lib/text/environment.cc",
        '// getenv( here is fine\nauto x = std::getenv("HOME");\n',
        2,
        "reads the environment",
    ),
    ("lib/text/leave.cc", "void f() { std::exit(1); }\n", 1, "only app/ exits"),
    (
        "lib/engine/indirect.cc",
        '\n#include "base/json.h"\n',
        2,
        "the core reaches nlohmann/json through lib/base/json.h",
    ),
    ("lib/rogue/x.cc", '#include "base/error.h"\n', 1, "no row in lib/layers.txt"),
]


def plant(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as out:
            out.write(text)


def check(root):
    done = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class CheckLayers(unittest.TestCase):
    def test_this_repository_is_clean(self):
        code, out, err = check(ROOT)
        self.assertEqual((code, out), (0, ""), err)

    def test_a_clean_tree_passes(self):
        with tempfile.TemporaryDirectory() as root:
            plant(root, CLEAN)
            code, out, err = check(root)
        self.assertEqual((code, out), (0, ""), err)

    def test_each_planted_violation_is_found_at_its_line(self):
        for path, text, line, words in PLANTED:
            with self.subTest(path=path, words=words), tempfile.TemporaryDirectory() as root:
                plant(root, {**CLEAN, path: text})
                code, out, _ = check(root)
                self.assertEqual(code, 1, out)
                where = "lib/rogue:" if path.startswith("lib/rogue") else f"{path}:{line}:"
                hits = [row for row in out.splitlines() if row.startswith(where)]
                self.assertTrue(
                    any(words in row for row in hits),
                    f"expected '{where} ... {words}', found:\n{out}",
                )
                others = [
                    row for row in out.splitlines() if not row.startswith((path, "lib/rogue"))
                ]
                self.assertEqual(others, [])

    def test_a_row_that_names_a_row_below_it_is_refused(self):
        with tempfile.TemporaryDirectory() as root:
            plant(root, {**CLEAN, "lib/layers.txt": "base: tensor\ntensor:\n"})
            code, out, err = check(root)
        self.assertNotEqual(code, 0)
        self.assertIn("not a row above it", err)

    def test_a_folder_that_is_no_tree_cannot_be_checked(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(check(root)[0], 2)


if __name__ == "__main__":
    unittest.main()
