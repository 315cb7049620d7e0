"""Packages from pip for tests that hold isobit's files against other programs; in the project's own .venv."""

import os
import subprocess
import sys

from program import SOURCE

FOLDER = os.path.join(SOURCE, ".venv")


def python_with(module, package):
    """The interpreter that can import the module, after pip if need be; None where pip cannot give it."""
    own = os.path.join(FOLDER, "bin", "python")
    for python in (own, sys.executable):
        if os.path.exists(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    if not os.path.exists(own):
        subprocess.run([sys.executable, "-m", "venv", FOLDER], capture_output=True, check=False)
    command = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20", package]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return own if done.returncode == 0 else None
