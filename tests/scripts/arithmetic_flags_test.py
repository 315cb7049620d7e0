#!/usr/bin/env python3
"""Flags that change floating-point results stop the configuration, or failing that the compiler."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

REFUSED = """
-Ofast -ffast-math -funsafe-math-optimizations -fassociative-math -freciprocal-math
-ffinite-math-only -fno-signed-zeros -fno-honor-nans -fno-honor-infinities -fapprox-func
-ffp-contract=fast -ffp-contract=on -ffp-contract=fast-honor-pragmas -ffp-model=fast
-ffp-model=precise -ffp-model=aggressive -mrecip -mrecip=all -mdaz-ftz
-fdenormal-fp-math=preserve-sign -fexcess-precision=fast -ffp-eval-method=double -mfpmath=387
-mfpmath=sse,387 -mfpmath=both -mpc64 -m32 -fsingle-precision-constant -fveclib=SVML
-mveclibabi=svml -mllvm=-enable-unsafe-fp-math
""".split()
ACCEPTED = [
    "",
    "-fno-math-errno -march=x86-64",
    "-fno-fast-math -ffp-contract=off -fno-associative-math -frounding-math",
    "-ffp-model=strict -fexcess-precision=standard -mfpmath=sse -fno-trapping-math",
]
VARIABLES = ["CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_DEBUG", "CMAKE_EXE_LINKER_FLAGS", "CMAKE_CUDA_FLAGS"]


class ConfigurationOfFlags(unittest.TestCase):
    """cmake/arithmetic.cmake, included by a project without languages, so that a try costs little."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "CMakeLists.txt"), "w", encoding="utf-8") as out:
            out.write("cmake_minimum_required(VERSION 3.25)\nproject(flags LANGUAGES NONE)\n")
            out.write(f"include({ROOT}/cmake/arithmetic.cmake)\n")

    def configure(self, *options):
        command = ["cmake", "-S", self.folder, "-B", os.path.join(self.folder, "build")]
        return subprocess.run(
            [*command, "-DCMAKE_BUILD_TYPE=Debug", *options], capture_output=True, text=True
        )

    def test_every_flag_that_changes_results_is_refused(self):
        for flag in REFUSED:
            with self.subTest(flag):
                done = self.configure(f"-DCMAKE_CXX_FLAGS=-g {flag} -Wall")
                self.assertNotEqual(done.returncode, 0)
                message = " ".join(done.stderr.split())
                self.assertIn("changes floating-point results", message)
                self.assertIn(f"CMAKE_CXX_FLAGS is '-g {flag} -Wall'", message)

    def test_wherever_it_comes_from(self):
        for variable in [*VARIABLES, "ISOBIT_OPTIMISE"]:
            with self.subTest(variable):
                others = [f"-D{other}=" for other in VARIABLES if other != variable]
                done = self.configure(*others, f"-D{variable}=-Ofast")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"{variable} is '-Ofast'", " ".join(done.stderr.split()))
        done = self.configure("-DISOBIT_OPTIMISE=", "-DCMAKE_EXE_LINKER_FLAGS=/usr/lib/crtfastmath.o")
        self.assertNotEqual(done.returncode, 0)

    def test_flags_that_change_nothing_are_accepted(self):
        for flags in ACCEPTED:
            with self.subTest(flags):
                done = self.configure(f"-DCMAKE_CXX_FLAGS={flags}")
                self.assertEqual(done.returncode, 0, done.stderr)


class ConfigurationOfIsobit(unittest.TestCase):
    def test_the_environment_of_the_whole_project_is_looked_at(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["cmake", "-S", ROOT, "-B", folder, "-DISOBIT_CORE_ONLY=ON"],
                capture_output=True,
                text=True,
                env={**os.environ, "CXXFLAGS": "-O2 -ffast-math"},
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("fast-math' changes floating-point results", " ".join(done.stderr.split()))


class Compilation(unittest.TestCase):
    """lib/numeric/ieee_arithmetic.h, for flags that cmake never sees."""

    def compile(self, compiler, *flags):
        source = '#include "numeric/ieee_arithmetic.h"\nfloat f;\n'
        command = [compiler, "-std=c++20", f"-I{ROOT}/lib", "-fsyntax-only", "-xc++", *flags, "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True)

    def test_fast_math_does_not_compile_and_plain_arithmetic_does(self):
        compilers = [c for c in ("g++", "clang++-14", "clang++-19") if shutil.which(c)]
        self.assertIn("g++", compilers)
        for compiler in compilers:
            for flags in (["-ffast-math"], ["-Ofast"], ["-ffinite-math-only"]):
                with self.subTest(compiler=compiler, flags=flags):
                    done = self.compile(compiler, *flags)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("the numeric contract forbids it", done.stderr)
            for flags in ([], ["-O3", "-fno-math-errno"], ["-Ofast", "-fno-fast-math"]):
                with self.subTest(compiler=compiler, flags=flags):
                    done = self.compile(compiler, *flags)
                    self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(os.uname().machine == "x86_64", "x87 is an x86 matter")
    def test_x87_does_not_compile(self):
        done = self.compile("g++", "-mfpmath=387")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no x87", done.stderr)


if __name__ == "__main__":
    unittest.main()
