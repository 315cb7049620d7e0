#!/usr/bin/env python3
"""Records what jinja2, set up as transformers sets it up, makes of the pieces of the template language.

  template_oracle.py            fills in the expected results of the *.json files in tests/text/fixtures/templates

Needs the Python package jinja2. A result is {"output": text} or {"error": name of the exception, "message": text}.
templates_counted.py holds real templates against jinja2, template_differences.py random ones.
"""
import glob
import json
import os
import sys

import jinja_reference

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "tests", "text", "fixtures", "templates")


def render(source, variables):
    return jinja_reference.outcomes(source, [variables])[0]


def record():
    for path in sorted(glob.glob(os.path.join(FIXTURES, "*.json"))):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        shared = document.get("variables", {})
        for case in document["cases"]:
            for key in ("output", "error", "message"):
                case.pop(key, None)
            if "refused" in case:  # by isobit, by name; jinja2's text may hold a memory address
                continue
            source = case.get("template")
            if source is None:
                path_of_source = os.path.join(FIXTURES, case["file"])
                with open(path_of_source, encoding="utf-8", newline="") as file:
                    source = file.read()
            case.update(render(source, {**shared, **case.get("variables", {})}))
        with open(path, "w", encoding="utf-8") as file:
            head = {key: value for key, value in document.items() if key != "cases"}
            lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in document["cases"])
            body = json.dumps(head, ensure_ascii=False, indent=1)[1:-2].strip("\n")
            file.write("{\n" + (body + ",\n" if body else "") + ' "cases": [\n' + lines + "\n]}\n")
        n_errors = sum("error" in case for case in document["cases"])
        n_cases = len(document["cases"])
        print(f"{os.path.basename(path)}: {n_cases} cases, {n_errors} of them errors")


if __name__ == "__main__":
    if jinja_reference.missing():
        sys.exit(jinja_reference.missing())
    print("jinja2", jinja_reference.jinja2.__version__, file=sys.stderr)
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    record()
