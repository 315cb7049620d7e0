"""isobit's side of a comparison with jinja2: the test program template_outcomes, and what counts as the same outcome."""
import json
import pathlib
import subprocess

SYNTAX_ERRORS = {"SyntaxError", "TemplateSyntaxError", "TemplateAssertionError"}
REFUSED = "NotSupported"  # isobit does not have the construct, and says so by name
# Said by jinja2 or by the template itself; the words of Python's own exceptions move with its version.
WORDS_COUNT = {"TemplateError", "TemplateRuntimeError", "UndefinedError", "SecurityError", "FilterArgumentError"}


def default_program():
    return pathlib.Path(__file__).resolve().parents[2] / "build" / "cpu" / "template_outcomes"


def outcomes(program, templates):
    """`templates`: pairs of a source and its list of variables. One list of outcomes for each."""
    lines = []
    for source, list_of_variables in templates:
        lines.append(json.dumps({"template": source}))
        lines += [json.dumps({"variables": variables}) for variables in list_of_variables]
    result = subprocess.run([program], input="\n".join(lines).encode(), capture_output=True)
    if result.returncode != 0:
        raise SystemExit(f"{program} ended with {result.returncode}: {result.stderr.decode('utf-8', 'replace')}")
    answers = iter(result.stdout.decode().split("\n"))
    return [[json.loads(next(answers)) for _ in list_of_variables] for _, list_of_variables in templates]


def same(expected, found):
    """The same text; or the same exception, with the same message where jinja2 or the template words it (of a syntax error,
    some syntax error)."""
    if "error" not in expected or "error" not in found:
        return expected == found
    if expected["error"] in SYNTAX_ERRORS:
        return found["error"] in SYNTAX_ERRORS
    return expected["error"] == found["error"] and (expected["error"] not in WORDS_COUNT or expected == found)


def describe(outcome):
    return f"{outcome['error']}: {outcome['message']}" if "error" in outcome else repr(outcome["output"])


def first_difference(expected, found):
    """Both sides, cut to where they part."""
    if "error" in expected or "error" in found:
        return f"jinja2: {describe(expected)[:300]}\n    isobit: {describe(found)[:300]}"
    a, b = expected["output"], found["output"]
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    start = max(0, at - 40)
    return f"at character {at}\n    jinja2: {a[start:at + 60]!r}\n    isobit: {b[start:at + 60]!r}"
