#!/usr/bin/env python3
"""Holds isobit's template interpreter against jinja2 on templates drawn from a seed.

    template_differences.py [--seed N] [--templates N] [--damaged N] [--program PROGRAM] [--all]

Half are grammatical templates over fixed variables (random_templates.py), half are the recorded cases of
tests/text/fixtures/templates with tokens dropped, doubled, swapped or replaced. Same bytes, or the same exception; a
construct that isobit refuses by name, and its limit of 64-bit integers, are counted apart. Prints the counts and the first
differences (--all: all of them), and fails when there is one. Without jinja2 it prints a line that starts with SKIPPED.
"""
import argparse
import collections
import json
import pathlib
import random
import signal
import sys

import jinja_reference
import random_templates
import template_outcomes

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "fixtures" / "templates"
N_SHOWN = 10
SECONDS_A_TEMPLATE = 2  # in jinja2, which has no limits


def recorded_sources():
    """Template and variables of each recorded case."""
    for path in sorted(FIXTURES.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for case in document["cases"]:
            if "template" in case and len(case["template"]) < 2000:
                yield case["template"], {**document.get("variables", {}), **case.get("variables", {})}


def drawn(seed, n_templates, n_damaged):
    source_of_chance = random.Random(seed)
    recorded = list(recorded_sources())
    donors = [source for source, _ in recorded]
    made = [(random_templates.random_template(source_of_chance), random_templates.VARIABLES) for _ in range(n_templates)]
    for _ in range(n_damaged):
        source, variables = source_of_chance.choice(recorded)
        made.append((random_templates.damaged(source_of_chance, source, donors), variables))
    return made


class TooSlow(Exception):
    pass


def expected_outcome(source, variables):
    def stop(*_):
        raise TooSlow()

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS_A_TEMPLATE)
    try:
        return jinja_reference.outcomes(source, [variables])[0]
    finally:
        signal.alarm(0)


def kind_of(expected, found):
    if template_outcomes.same(expected, found):
        return "same error" if "error" in expected else "same bytes"
    if found.get("error") == template_outcomes.REFUSED:
        return "refused by name"
    if "64 bits" in found.get("message", ""):
        return "beyond 64-bit integers"
    if found.get("error") == "LimitError" or expected.get("error") in ("TooSlow", "MemoryError"):
        return "limits"
    if expected.get("error") == "NameError":
        return "jinja2's own fault"  # it writes a float that is too large as the name inf
    if " at 0x" in expected.get("output", expected.get("message", "")):
        return "refused by name"  # a memory address that isobit never prints
    if "error" in expected and expected.get("error") == found.get("error"):
        return "another message"
    return "different"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--templates", type=int, default=3000)
    parser.add_argument("--damaged", type=int, default=3000)
    parser.add_argument("--program", type=pathlib.Path, default=template_outcomes.default_program())
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    if jinja_reference.missing():
        print(f"SKIPPED template_differences: {jinja_reference.missing()}")
        return 0
    if not arguments.program.exists():
        sys.exit(f"{arguments.program} does not exist; build it with ./scripts/build, or name it with --program")
    cases = drawn(arguments.seed, arguments.templates, arguments.damaged)
    found = template_outcomes.outcomes(arguments.program, [(source, [variables]) for source, variables in cases])
    counts, shown = collections.Counter(), collections.defaultdict(list)
    for (source, variables), [answer] in zip(cases, found):
        expected = expected_outcome(source, variables)
        kind = kind_of(expected, answer)
        counts[kind] += 1
        if kind not in ("same bytes", "same error"):
            shown[kind].append((source, expected, answer))
    print(f"jinja2 {jinja_reference.jinja2.__version__}, seed {arguments.seed}: {len(cases)} templates; " +
          ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    for kind in shown if arguments.all else ["different", "another message"]:
        for source, expected, answer in shown[kind][:None if arguments.all else N_SHOWN]:
            print(f"{kind}: {source!r}\n    {template_outcomes.first_difference(expected, answer)}")
    return 1 if counts["different"] + counts["another message"] else 0


if __name__ == "__main__":
    sys.exit(main())
