#!/usr/bin/env python3
"""The Debian package and the tarball: what is in them, what they need, and that their program runs from an unpacked root.

Works on the build that ctest is part of (ISOBIT_PROGRAM's folder). What this machine lacks the tools or the build for is
SKIPPED, by name.
"""

import glob
import gzip
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.dirname(os.environ.get("ISOBIT_PROGRAM", os.path.join(ROOT, "build", "cpu", "isobit")))


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True, **options)


class Packaged(unittest.TestCase):
    kind, needs, targets = "", (), ()

    @classmethod
    def setUpClass(cls):
        missing = [t for t in ("cpack", "cmake", *cls.needs) if shutil.which(t) is None]
        if missing:
            raise unittest.SkipTest("SKIPPED: no " + ", ".join(missing))
        config = os.path.join(BUILD, "CPackConfig.cmake")
        if not os.path.exists(config):
            raise unittest.SkipTest("SKIPPED: no build that can be packaged in " + BUILD)
        if "sanitize" in os.path.basename(BUILD) or "coverage" in os.path.basename(BUILD):
            raise unittest.SkipTest("SKIPPED: an instrumented build is not packaged")
        cls.folder = tempfile.mkdtemp(prefix="isobit-package-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        built = run("cmake", "--build", BUILD, "--target", *cls.targets)
        assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
        packed = run("cpack", "--config", config, "-G", cls.kind, "-B", cls.folder)
        assert packed.returncode == 0, packed.stdout[-2000:] + packed.stderr[-2000:]

    def made(self, pattern):
        files = glob.glob(os.path.join(self.folder, pattern))
        self.assertEqual(len(files), 1, os.listdir(self.folder))
        return files[0]

    def check_program(self, program, share):
        """It runs where it was unpacked, with a clean environment, and finds its own checkpoint."""
        work = tempfile.mkdtemp(dir=self.folder)
        clean = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        version = run(program, "--version", env=clean, cwd=work)
        self.assertEqual(version.returncode, 0, version.stderr)
        self.assertIn("kernel sets: ", version.stdout)
        ran = run(program, "run", os.path.join(share, "isobit/examples/tiny-kjv"), "--max-tokens", "4", "--axis", "load.concurrency=1,8", "--check", "2", env=clean, cwd=work)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        demo = run(program, "demo", "--max-tokens", "4", env=clean, cwd=work)
        self.assertIn(demo.returncode, (0, 3), demo.stderr)
        self.assertIn("invariant arm" if demo.returncode == 0 else "OpenBLAS", demo.stdout + demo.stderr)
        schemas = sorted(os.listdir(os.path.join(share, "isobit/schemas")))
        self.assertEqual(schemas, sorted(os.listdir(os.path.join(ROOT, "schemas"))))

    def check_files(self, program, share):
        for file, words in (("bash-completion/completions/isobit", ["completion", "bash"]), ("zsh/vendor-completions/_isobit", ["completion", "zsh"]),
                            ("fish/vendor_completions.d/isobit.fish", ["completion", "fish"])):
            with open(os.path.join(share, file), encoding="utf-8") as f:
                self.assertEqual(f.read(), run(program, *words).stdout)
        with gzip.open(os.path.join(share, "man/man1/isobit.1.gz"), "rt", encoding="utf-8") as f:
            self.assertEqual(f.read(), run(program, "help", "--man").stdout)
        for file in ("doc/isobit/copyright", "doc/isobit/changelog.gz", "doc/isobit/README.md", "doc/isobit/packages.md", "isobit/examples/policies/two-tiers.json"):
            self.assertTrue(os.path.exists(os.path.join(share, file)), file)

    def check_no_machine(self, program):
        with open(program, "rb") as f:
            content = f.read()
        for place in (ROOT, BUILD, os.path.expanduser("~")):
            if len(place) > 5:
                self.assertNotIn(place.encode(), content)


class Deb(Packaged):
    kind, needs, targets = "DEB", ("dpkg-deb", "dpkg-shlibdeps"), ("isobit", "package_files")

    def field(self, name):
        return run("dpkg-deb", "-f", self.made("isobit_*.deb"), name).stdout.strip()

    def test_its_control_file(self):
        self.assertEqual(self.field("Package"), "isobit")
        with open(os.path.join(ROOT, "packaging", "changelog"), encoding="utf-8") as f:
            self.assertEqual(self.field("Version"), re.match(r"isobit \((.*?)\)", f.readline()).group(1))
        depends = self.field("Depends")
        for library in ("libc6 (>= ", "libsqlite3-0", "libssl3", "libpcre2-8-0", "libutf8proc2", "libmpfr6", "libstdc++6"):
            self.assertIn(library, depends)

    def test_it_has_no_conffiles_and_no_scripts(self):
        control = tempfile.mkdtemp(dir=self.folder)
        self.assertEqual(run("dpkg-deb", "-e", self.made("isobit_*.deb"), control).returncode, 0)
        self.assertLessEqual(set(os.listdir(control)), {"control", "md5sums"})

    def test_its_program_runs_from_an_extracted_root(self):
        root = os.path.join(self.folder, "root")
        self.assertEqual(run("dpkg-deb", "-x", self.made("isobit_*.deb"), root).returncode, 0)
        program, share = os.path.join(root, "usr/bin/isobit"), os.path.join(root, "usr/share")
        self.check_program(program, share)
        self.check_files(program, share)
        self.check_no_machine(program)

    def test_lintian_finds_no_error(self):
        if shutil.which("lintian") is None:
            self.skipTest("SKIPPED: no lintian")
        found = run("lintian", "--allow-root", "--fail-on", "error", "--no-tag-display-limit", self.made("isobit_*.deb"))
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)


class Tarball(Packaged):
    kind, needs, targets = "TGZ", ("objdump",), ("isobit", "package_files", "isobit_portable")

    @classmethod
    def setUpClass(cls):
        targets = run("cmake", "--build", BUILD, "--target", "help").stdout
        if shutil.which("cmake") and not re.search(r"\bisobit_portable\b", targets):
            raise unittest.SkipTest("SKIPPED: archives of the libraries are missing, so no portable program")
        super().setUpClass()

    def test_its_program_needs_libc_and_libm_alone_and_runs(self):
        with tarfile.open(self.made("isobit-*.tar.gz")) as archive:
            top = {name.split("/")[0] for name in archive.getnames()}
            archive.extractall(self.folder)
        self.assertEqual(len(top), 1, top)
        root = os.path.join(self.folder, top.pop())
        program, share = os.path.join(root, "bin/isobit"), os.path.join(root, "share")
        needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", program).stdout))
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
        self.check_program(program, share)
        self.check_files(program, share)
        self.check_no_machine(program)


if __name__ == "__main__":
    unittest.main()
