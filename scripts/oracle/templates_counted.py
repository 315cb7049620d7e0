#!/usr/bin/env python3
"""Counts, over real chat templates, the renderings that are byte for byte jinja2's.

    templates_counted.py [FOLDER] [--program PROGRAM] [--template NAME]... [--transformers]

FOLDER holds *.jinja; by default $ISOBIT_PEERS/llama.cpp-models/templates, or ~/.cache/isobit-peers/llama.cpp-models/templates.
Each template renders each conversation of chat_conversations.py with and without add_generation_prompt, in jinja2 as
transformers sets it up (jinja_reference.py) and in isobit (the test program template_outcomes); the two are to give the same
bytes, or the same exception with the same message. Prints a line a template, then the first differences, and fails when there
is one. Without the folder or without jinja2 it prints a line that starts with SKIPPED and succeeds.
--transformers takes the environment from the installed transformers instead.
"""
import argparse
import os
import pathlib
import sys

import chat_conversations
import jinja_reference
import template_outcomes

N_SHOWN = 20  # differences


def default_folder():
    peers = os.environ.get("ISOBIT_PEERS") or pathlib.Path.home() / ".cache" / "isobit-peers"
    return pathlib.Path(peers) / "llama.cpp-models" / "templates"


def sources_in(folder, names):
    paths = [path for path in sorted(folder.glob("*.jinja")) if not names or path.stem in names]
    return {path.stem: path.read_bytes().decode("utf-8") for path in paths}


def tally(cases, expected, found):
    """Cases, same bytes, same error, different; and the differences."""
    differences = [(name, e, f) for (name, _), e, f in zip(cases, expected, found) if not template_outcomes.same(e, f)]
    n_same_errors = sum("error" in e and template_outcomes.same(e, f) for e, f in zip(expected, found))
    n_same_bytes = len(cases) - n_same_errors - len(differences)
    return [len(cases), n_same_bytes, n_same_errors, len(differences)], differences


def row(name, counts):
    return f"{name:<56}" + "".join(f"{n:>12}" for n in counts)


def count(sources, program, through_transformers):
    cases = list(chat_conversations.all_variables())
    list_of_variables = [variables for _, variables in cases]
    found = template_outcomes.outcomes(program, [(source, list_of_variables) for source in sources.values()])
    print(row("template", ["cases", "same bytes", "same error", "different"]))
    totals, shown = [0, 0, 0, 0], []
    for (name, source), answers in zip(sources.items(), found):
        expected = jinja_reference.outcomes(source, list_of_variables, through_transformers)
        counts, differences = tally(cases, expected, answers)
        print(row(name, counts))
        totals = [a + b for a, b in zip(totals, counts)]
        shown += [(name, *difference) for difference in differences]
    print(row(f"{len(sources)} templates", totals))
    for name, case, expected, answer in shown[:N_SHOWN]:
        print(f"{name} / {case}: {template_outcomes.first_difference(expected, answer)}")
    return totals[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--program", type=pathlib.Path, default=template_outcomes.default_program())
    parser.add_argument("--template", action="append", default=[])
    parser.add_argument("--transformers", action="store_true")
    arguments = parser.parse_args()
    sources = sources_in(arguments.folder, arguments.template)
    if not sources:
        print(f"SKIPPED templates_counted: no *.jinja in {arguments.folder}")
        return 0
    if jinja_reference.missing():
        print(f"SKIPPED templates_counted: {jinja_reference.missing()}")
        return 0
    if not arguments.program.exists():
        sys.exit(f"{arguments.program} does not exist; build it with ./scripts/build, or name it with --program")
    print(f"jinja2 {jinja_reference.jinja2.__version__}, Python {sys.version.split()[0]}")
    return 1 if count(sources, arguments.program, arguments.transformers) else 0


if __name__ == "__main__":
    sys.exit(main())
