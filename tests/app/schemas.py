"""Holds output of the program to its schemas; shared by the tests of this directory."""

import json
import os

from inspect_test import check
from program import SOURCE


def check_schema(value, name, definition=None):
    with open(os.path.join(SOURCE, "schemas", name), encoding="utf-8") as f:
        schema = json.load(f)
    defs = schema.get("$defs", {})
    check(value, defs[definition] if definition else schema, defs)
