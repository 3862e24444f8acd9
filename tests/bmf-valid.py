#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether files are valid by tests/bmf-schema.json, and hold something: bmf-valid.py FILE...

The words of JSON Schema that the schema uses are understood here; where the jsonschema
package is installed, it has to agree. Numbers that JSON doesn't have, as NaN, are refused.
"""
import json
import os
import sys

TYPES = {"object": dict, "number": (int, float)}


def problem(value, schema, where="$"):
    """The first thing that is wrong, or None."""
    unknown = set(schema) - {"$schema", "title", "type", "required", "properties",
                             "additionalProperties"}
    if unknown:
        return f"{where}: the schema says {unknown}, which this does not understand"
    if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool):
        return f"{where}: not of type {schema['type']}: {value!r}"
    if not isinstance(value, dict):
        return None
    for name in schema.get("required", []):
        if name not in value:
            return f"{where}: lacks {name}"
    for name, part in value.items():
        inner = schema.get("properties", {}).get(name, schema["additionalProperties"])
        if inner is False:
            return f"{where}: {name} is not allowed"
        found = problem(part, inner, f"{where}/{name}")
        if found:
            return found
    return None


def refuse(word):
    raise ValueError(f"{word} is no number of JSON")


def main():
    with open(os.path.join(os.path.dirname(__file__), "bmf-schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                value = json.load(file, parse_constant=refuse)
        except (OSError, ValueError) as error:
            sys.exit(f"{path}: {error}")
        found = problem(value, schema) or (None if value else "holds nothing")
        if found:
            sys.exit(f"{path}: {found}")
        try:
            import jsonschema
        except ImportError:
            continue
        jsonschema.Draft7Validator(schema).validate(value)


if __name__ == "__main__":
    main()
