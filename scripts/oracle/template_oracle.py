#!/usr/bin/env python3
"""Asks jinja2, set up as transformers sets it up, what chat templates render to.

  template_oracle.py record              fills in the expected results of the *.json files in
                                         tests/text/fixtures/templates
  template_oracle.py real DIR... OUT.json
                                         renders every *.jinja of the folders, and the template in
                                         each *.gguf, over conversations that probe them, and
                                         writes cases that test_text reads:
                                         ISOBIT_TEMPLATE_CASES=OUT.json test_text -tc="real chat*"

Needs Python packages jinja2 and transformers (and gguf for *.gguf). A result is {"output": text} or
{"error": name of the exception, "message": text}.
"""
import datetime
import glob
import json
import os
import sys

import jinja2
from transformers.utils import chat_template_utils

NOW = datetime.datetime(2026, 1, 31, 12, 34, 56)
HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "tests", "text", "fixtures", "templates")


def render(source, variables):
    try:
        compiled = chat_template_utils._compile_jinja_template(source)
        compiled.environment.globals["strftime_now"] = lambda format: NOW.strftime(format)
        text = compiled.render(**variables)
        text.encode("utf-8")  # a lone surrogate cannot leave Python either
        return {"output": text}
    except Exception as error:  # the exception is the result
        return {"error": type(error).__name__, "message": str(error)}


def record():
    for path in sorted(glob.glob(os.path.join(FIXTURES, "*.json"))):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        shared = document.get("variables", {})
        for case in document["cases"]:
            for key in ("output", "error", "message"):
                case.pop(key, None)
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


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather at a place, <now> & 'later'.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City, e.g. \"Zürich\""},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "days": {"type": ["integer", "null"], "description": "How many days"},
                "options": {
                    "type": "object",
                    "properties": {
                        "hourly": {"type": "boolean"},
                        "fields": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["hourly"],
                },
            },
            "required": ["city"],
        },
        "return": {"type": "number", "description": "Degrees"},
    },
}
TIME = {
    "type": "function",
    "function": {
        "name": "now",
        "description": "The time",
        "parameters": {"type": "object", "properties": {}},
    },
}


def call(name, arguments, call_id="call00001"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(role, content, **more):
    return {"role": role, "content": content, **more}


def part(text):
    return {"type": "text", "text": text}


def conversations():
    """Name, messages and further variables of each conversation."""
    user = said("user", "What is the weather in Zürich? 😀")
    system = said("system", "  You answer <briefly> & 'politely'.\n")
    zurich = call("get_weather", {"city": "Zürich", "days": 2})
    bern = call("get_weather", '{"city": "Bern"}')
    asks = said("assistant", "", tool_calls=[zurich])
    asks_text = said("assistant", "Let me look.", tool_calls=[bern, call("now", {}, "call00002")])
    asks_null = said("assistant", None, tool_calls=[call("now", {})])
    result = said("tool", '{"celsius": -3.5}', name="get_weather", tool_call_id="call00001")
    result2 = said("tool", {"time": "12:00", "ok": True}, name="now", tool_call_id="call00002")
    answer = said("assistant", "It is cold.\n\n")
    thinks = said("assistant", "Yes.", reasoning_content="Hmm.\nI think so.")
    thinks_inline = said("assistant", "<think>\nIs it?\n</think>\n\nIt is.")
    image = {"type": "image", "image": "x.png"}
    parts = said("user", [part("Look: "), image, part("what is it?")])
    tricky = 'a\r\nb\t"c" \\ {{ x }} {% y %} \u2028 \u00a0end \u0000'
    on = {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"}
    off = {"enable_thinking": False, "thinking": False}
    documents = [{"title": "Alps", "text": "High."}, {"title": "Sea", "text": "Low."}]
    builtin = ["wolfram_alpha", "code_interpreter"]
    dated = {"date_string": "01 Feb 2026", "tools_in_user_message": False, "tools": [TIME]}
    both = {"tools": [WEATHER, TIME]}
    yield "one_user", [user], {}
    yield "no_prompt", [user], {"add_generation_prompt": False}
    yield "system", [system, user], {}
    yield "turns", [system, user, answer, user, answer, user], {}
    yield "ends_with_assistant", [user, answer], {"add_generation_prompt": False}
    yield "tools_offered", [system, user], both
    yield "tools_no_system", [user], {"tools": [TIME]}
    yield "tool_call", [user, asks, result, answer, user], both
    yield "two_calls", [system, user, asks_text, result, result2], both
    yield "tool_result_pending", [user, asks, result], {"tools": [WEATHER]}
    yield "reasoning", [user, thinks, user], {}
    yield "reasoning_inline", [user, thinks_inline, user], {}
    yield "thinking_off", [system, user], off
    yield "thinking_on", [system, user, thinks, user], on
    yield "empty", [], {}
    yield "parts", [system, parts], {}
    yield "parts_answer", [parts, said("assistant", [part("A cat.")]), user], {}
    yield "null_content", [user, asks_null, result], {"tools": [TIME]}
    yield "no_content", [{"role": "user"}], {}
    yield "unknown_role", [said("wizard", "abra"), user], {}
    yield "two_users", [user, user], {}
    yield "assistant_first", [answer, user], {}
    yield "developer", [said("developer", "Be terse."), user], {}
    yield "system_last", [user, system], {}
    yield "documents", [user], {"documents": documents}
    yield "builtin_tools", [system, user], {"builtin_tools": builtin, "tools": [TIME]}
    yield "date_given", [user], dated
    yield "no_special_tokens", [system, user], {"bos_token": None}
    yield "tricky_text", [said("user", tricky)], {}
    yield "number_content", [said("user", 3.0)], {}


def base_variables(messages, extra):
    variables = {"messages": messages, "tools": None, "documents": None}
    variables["add_generation_prompt"] = True
    tokens = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    variables.update(tokens)
    variables.update(extra)
    if "bos_token" in extra and extra["bos_token"] is None:
        for name in tokens:
            del variables[name]
    return variables


def templates_of(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.jinja"))):
        with open(path, encoding="utf-8", newline="") as file:
            yield os.path.basename(path), file.read()
    for path in sorted(glob.glob(os.path.join(folder, "*.gguf"))):
        import gguf

        for key, field in gguf.GGUFReader(path).fields.items():
            if key.startswith("tokenizer.chat_template") and len(field.types) == 1:
                yield os.path.basename(path) + ":" + key, field.contents()


def real(folders, out):
    document = {"now": NOW.isoformat(), "templates": {}, "cases": []}
    for folder in folders:
        document["templates"].update(dict(templates_of(folder)))
    for name, source in document["templates"].items():
        for kind, messages, extra in conversations():
            variables = base_variables(messages, extra)
            case = {"name": f"{name} / {kind}", "source": name, "variables": variables}
            case.update(render(source, json.loads(json.dumps(variables))))
            document["cases"].append(case)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=False)
    n_errors = sum("error" in case for case in document["cases"])
    n_templates, n_cases = len(document["templates"]), len(document["cases"])
    print(f"{n_templates} templates, {n_cases} cases, {n_errors} of them errors in jinja2")


if __name__ == "__main__":
    print("jinja2", jinja2.__version__, file=sys.stderr)
    if sys.argv[1:2] == ["record"] and len(sys.argv) == 2:
        record()
    elif sys.argv[1:2] == ["real"] and len(sys.argv) >= 4:
        real(sys.argv[2:-1], sys.argv[-1])
    else:
        sys.exit(__doc__)
