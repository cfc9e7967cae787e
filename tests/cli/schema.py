"""schema.py FOLDER RESULTS: every JSON object in RESULTS is what FOLDER/NAME.json says, NAME its command.

New keys may come with a new version, so that the schemas allow them; here they are closed, so that a new key
gets its line. The schemas are tried on breaches first: an object without a key, with one more, and with one
of another type are not valid, of every schema."""
import copy
import glob
import json
import os
import sys

import jsonschema

folder, results = sys.argv[1:]


def close(schema):
    """No keys but those that it names, in it and in all that it holds"""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


schemas = {}
for path in glob.glob(folder + "/*.json"):
    schema = json.load(open(path, encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    close(schema)
    schemas[os.path.basename(path)[:-5]] = jsonschema.Draft7Validator(schema)

seen, failures = set(), 0
for path in sorted(glob.glob(results + "/*.json")):
    j = json.load(open(path, encoding="utf-8"))
    name = j["schema"].split("/")[0].removeprefix("kspec-")
    if name not in schemas:
        print("no schema for", name)
        failures += 1
        continue
    for e in schemas[name].iter_errors(j):
        print("%s: %s: %s" % (j["command_line"], "/".join(map(str, e.absolute_path)), e.message[:300]))
        failures += 1
    if name in seen:
        continue
    seen.add(name)
    for key in schemas[name].schema["required"]:
        less = copy.deepcopy(j)
        del less[key]
        assert not schemas[name].is_valid(less), (name, "without", key)
        other = copy.deepcopy(j)
        other[key] = {"another": "type"} if not isinstance(j[key], dict) else 3
        assert not schemas[name].is_valid(other), (name, "other", key)
    more = copy.deepcopy(j)
    more["one_more"] = 1
    assert not schemas[name].is_valid(more), (name, "more")
assert seen == set(schemas), "no object of " + ", ".join(set(schemas) - seen)
sys.exit(failures > 0)
