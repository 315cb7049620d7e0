"""Conversations that probe chat templates, and the variables that apply_chat_template would pass with each."""
import json

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
    yield "system", [system, user], {}
    yield "turns", [system, user, answer, user, answer, user], {}
    yield "ends_with_assistant", [user, answer], {}
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
    yield "thinking_key", [user, said("assistant", "Yes.", thinking="Hmm."), user], {}
    yield "reasoning_and_call", [user, said("assistant", "", reasoning_content="Look it up.", tool_calls=[zurich]), result], both
    yield "tool_then_chat", [system, user, asks, result, answer, user, asks, result], both
    yield "many_turns", [system] + [user, answer, user, thinks] * 6 + [user], {}
    yield "empty_content", [said("system", ""), said("user", ""), said("assistant", ""), user], {}
    yield "blank_content", [said("user", " \n\t ")], {}
    yield "scripts", [said("user", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u65e5\u672c\u8a9e \u0e44\u0e17\u0e22 \U0001f469\u200d\U0001f469\u200d\U0001f467 e\u0301 \ufb01 \u01c6 \u1e9e")], {}
    yield "no_role", [{"content": "who?"}], {}
    yield "tool_without_name", [user, {"role": "assistant", "tool_calls": [{"function": {"name": "now"}}]}], both
    yield "tool_without_parameters", [user], {"tools": [{"type": "function", "function": {"name": "f"}}]}
    yield "documents_and_tools", [system, user], {"documents": documents, "tools": [TIME]}
    yield "no_variables", [user], {"only_messages": True}


SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def variables_of(messages, extra, add_generation_prompt):
    if extra.get("only_messages"):
        return {"messages": messages, "add_generation_prompt": add_generation_prompt}
    variables = {"messages": messages, "tools": None, "documents": None,
                 "add_generation_prompt": add_generation_prompt, **SPECIAL_TOKENS, **extra}
    if "bos_token" in extra and extra["bos_token"] is None:
        for name in SPECIAL_TOKENS:
            del variables[name]
    return json.loads(json.dumps(variables))  # nothing shared between two members


def all_variables():
    """Name and variables of each conversation, with and without the opening of the assistant's turn."""
    for name, messages, extra in conversations():
        for opens in (True, False):
            yield f"{name}{'' if opens else ' (no prompt)'}", variables_of(messages, extra, opens)
