"""JSON Schema as schemas/ uses it, across files; shared by the tests of this directory. Standard library only.

A keyword that is not known here is an error, so that no constraint is passed over in silence.
"""

import json
import os
import re

from program import SOURCE

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}
NOT_CHECKS = {"$schema", "$id", "$defs", "title", "description", "examples", "default", "then"}


def load(name):
    with open(os.path.join(SOURCE, "schemas", name + ".schema.json"), encoding="utf-8") as f:
        return json.load(f)


def is_kind(value, kind):
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, KINDS[kind])


class Schema:
    def __init__(self, name):
        self.root = load(name)

    def errors(self, value, definition=None):
        return list(self.of(value, self.root["$defs"][definition] if definition else self.root, "$"))

    def referred(self, value, ref, at):
        file, _, path = ref.partition("#")
        other = Schema(file.removesuffix(".schema.json")) if file else self
        target = other.root
        for step in path.strip("/").split("/") if path else ():
            target = target[step]
        return other.of(value, target, at)

    def of(self, value, schema, at):
        for keyword, limit in schema.items():
            if keyword in NOT_CHECKS:
                continue
            check = getattr(self, "check_" + keyword.strip("$"), None)
            if check is None:
                yield f"{at}: the keyword {keyword} is not known to this test"
            else:
                yield from check(value, limit, schema, at)

    def check_ref(self, value, limit, schema, at):
        yield from self.referred(value, limit, at)

    def check_type(self, value, limit, schema, at):
        kinds = [limit] if isinstance(limit, str) else limit
        if not any(is_kind(value, kind) for kind in kinds):
            yield f"{at}: {value!r} is not {kinds}"

    def check_enum(self, value, limit, schema, at):
        if value not in limit:
            yield f"{at}: {value!r} is not in {limit}"

    def check_const(self, value, limit, schema, at):
        if value != limit:
            yield f"{at}: {value!r} is not {limit!r}"

    def choices(self, value, limit, at):
        return [list(self.of(value, choice, at)) for choice in limit]

    def check_anyOf(self, value, limit, schema, at):
        tried = self.choices(value, limit, at)
        if all(tried):
            yield f"{at}: fits none of {len(limit)}: {min(tried, key=len)}"

    def check_oneOf(self, value, limit, schema, at):
        tried = self.choices(value, limit, at)
        if sum(not faults for faults in tried) != 1:
            yield f"{at}: fits {sum(not faults for faults in tried)} of {len(limit)}: {min(tried, key=len)}"

    def check_not(self, value, limit, schema, at):
        if not list(self.of(value, limit, at)):
            yield f"{at}: fits what it must not"

    def check_if(self, value, limit, schema, at):
        if not list(self.of(value, limit, at)):
            yield from self.of(value, schema.get("then", {}), at)

    def check_required(self, value, limit, schema, at):
        if isinstance(value, dict):
            yield from (f"{at} lacks {key}" for key in limit if key not in value)

    def check_properties(self, value, limit, schema, at):
        for key, member in value.items() if isinstance(value, dict) else ():
            if key in limit:
                yield from self.of(member, limit[key], f"{at}.{key}")

    def check_additionalProperties(self, value, limit, schema, at):
        for key, member in value.items() if isinstance(value, dict) else ():
            if key in schema.get("properties", {}):
                continue
            if limit is False:
                yield f"{at}: unexpected {key}"
            elif isinstance(limit, dict):
                yield from self.of(member, limit, f"{at}.{key}")

    def check_propertyNames(self, value, limit, schema, at):
        for key in value if isinstance(value, dict) else ():
            yield from self.of(key, limit, f"{at}.{key}")

    def check_minProperties(self, value, limit, schema, at):
        if isinstance(value, dict) and len(value) < limit:
            yield f"{at}: fewer than {limit} members"

    def check_items(self, value, limit, schema, at):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.of(item, limit, f"{at}[{i}]")

    def check_minItems(self, value, limit, schema, at):
        if isinstance(value, list) and len(value) < limit:
            yield f"{at}: fewer than {limit} items"

    def check_maxItems(self, value, limit, schema, at):
        if isinstance(value, list) and len(value) > limit:
            yield f"{at}: more than {limit} items"

    def check_pattern(self, value, limit, schema, at):
        if isinstance(value, str) and not re.search(limit, value):
            yield f"{at}: {value!r} does not match {limit}"

    def check_minLength(self, value, limit, schema, at):
        if isinstance(value, str) and len(value) < limit:
            yield f"{at}: {value!r} is shorter than {limit}"

    def check_maxLength(self, value, limit, schema, at):
        if isinstance(value, str) and len(value) > limit:
            yield f"{at}: {value!r} is longer than {limit}"

    def check_minimum(self, value, limit, schema, at):
        if is_kind(value, "number") and value < limit:
            yield f"{at}: {value} is below {limit}"

    def check_exclusiveMinimum(self, value, limit, schema, at):
        if is_kind(value, "number") and value <= limit:
            yield f"{at}: {value} is not above {limit}"

    def check_maximum(self, value, limit, schema, at):
        if is_kind(value, "number") and value > limit:
            yield f"{at}: {value} is above {limit}"
