"""Writes kspec/_functions.py: a function for each command, with the options of the tool's own tables.

usage: functions.py LIBKSPEC_TOOL PACKAGE OUTPUT

A command whose result has no class of its own in PACKAGE/_results.py gets the one that all of them share.
"""

import ctypes
import json
import keyword
import pathlib
import re
import shlex
import sys
import textwrap

# commands that have another form in Python, and options that have no use there
LEFT_OUT = {"plot", "completion", "generate", "estimate"}
HIDDEN = {"json", "quiet", "help", "help-all", "output", "plot", "label"}
# what the INPUTs are called
INPUTS = {"compare": "*matrices", "wls fit": "y", "wls features": "psi", "wls decay": "x"}
CLASSES: list[str] = []
# values of options that are words, not arrays or files
WORDS = {"LIST", "NAMES", "NAME", "DIR", "TEXT"}


def describe(library):
    handle = ctypes.CDLL(library)
    handle.kspec_tool_describe.restype = ctypes.c_char_p
    return json.loads(handle.kspec_tool_describe())


def python_name(option):
    name = option["name"].replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def kind_of(option):
    """The rule by which a value becomes a word of the command line (kspec/_call.py)"""
    if option["type"] == "double" and option["automatic"]:
        return "automatic"
    if option["type"] != "string":
        return option["type"]
    if option["writes"]:
        return "path"
    arg = option["arg"]
    return "words" if arg in WORDS else "numbers" if "|FILE" in arg else "input"


def type_of(option, kind):
    words = f"Literal{option['choices']}" if option["choices"] else "str"
    types = {  # a type that is new to the tool is an error here: say what it takes
        "flag": "bool",
        "int": "int",
        "size": "int",
        "u64": "int",
        "double": "float",
        "automatic": 'float | Literal["auto"]',
        "choice": words,
        "set": "str | Sequence[str]",
        "list": "float | Numbers",
        "ranges": "str | int | Sequence[int]",
        "sigma": 'float | Literal["median"]',
        "block": 'int | Literal["auto"]',
        "words": "str | os.PathLike[str] | Sequence[int | str]",
        "path": "str | os.PathLike[str]",
        "numbers": "str | os.PathLike[str] | Numbers | Result | Mapping[str, Any]",
        "input": "Input",
        "word": "str",
    }
    kind = types[kind]
    if option["bare"]:
        kind += " | bool"
    return kind if kind == "bool" else f"{kind} | None"


def parameters(command, word):
    """(Python's name, option) of each option that the function has"""
    names = {o["name"] for o in command["options"]}
    for o in command["options"]:
        wanted = o["name"] == "output" and command["writes_output"]
        if (o["name"] in HIDDEN and not wanted) or (word and word not in o["of"]):
            continue
        o["off"] = o["name"] == "center" and "no-center" in names
        if o["name"] == "no-center":
            o["help"] = "deprecated: center=False"
        yield python_name(o), o


# ---- help: what the tool says of its flags and files, in words of Python ----

# the sentences about INPUT end a command's description
_FILES = re.compile(r"^(INPUT is|A and B are INPUTs|@FILE is)\b.*", re.M | re.S)
_SEVERAL = {
    "x": "a list of them is trials of one matrix, a dict several matrices by their names",
    "*matrices": "a list is trials of one matrix; or a dict of all matrices by their names",
}


def call_of(command, line):
    """An example of the command line as a call: kspec.dimension("x.npy", axes="cols,rows")"""
    by_flag = {f"--{o['name']}": o for o in command["options"]}
    inputs, keywords, words = [], [], shlex.split(line)[1 + len(command["name"].split()) :]
    while words:
        word = words.pop(0)
        if word not in by_flag:
            inputs.append(json.dumps(word))
            continue
        value = True if by_flag[word]["type"] == "flag" else words.pop(0)
        numeric = by_flag[word]["type"] in ("int", "size", "u64", "double")
        text = value if numeric or value is True else json.dumps(value)
        keywords.append(f"{python_name(by_flag[word])}={text}")
    first = inputs if len(inputs) < 2 or command["name"] in INPUTS else [f"[{', '.join(inputs)}]"]
    return f"kspec.{command['name'].replace(' ', '.')}({', '.join([*first, *keywords])})"


def in_python(command, text):
    """Text with calls for command lines, and keywords for flags: method='moments'"""
    choices = {o["name"]: o["choices"] or [] for o in command["options"]}

    def keyword_of(flag):
        name, value = flag[1], flag[2]
        word = python_name({"name": name})
        if value in choices.get(name, []):
            return f"{word}={value!r}"
        return f"{word} {value}" if value else word

    examples = [m.split("  ")[0] for m in re.findall(r"^    (kspec .*)$", text, re.M)]
    calls = {e: call_of(command, e) for e in examples}
    width = max(map(len, calls.values()), default=0)
    for example, call in calls.items():
        text = re.sub(re.escape(example) + " *", call.ljust(width) + "  ", text)
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*)(?: ([a-z0-9-]+)\b)?", keyword_of, text)


def docstring(command, word, options):
    lines = [f"{command['summary'][:1].upper()}{command['summary'][1:]}." if command["summary"] else "", ""]
    lines += [*in_python(command, _FILES.sub("", command["description"])).rstrip().splitlines(), ""]
    lines += ["Parameters", "----------"]
    first = INPUTS.get(command["name"], "x")
    if first in _SEVERAL and command["reads_input"]:
        files = ".npy, .npz:key, .h5:/path, .mat:name, idx, text"
        text = f"{first} : an array, DataFrame, or file's name ({files}); {_SEVERAL[first]}"
        lines += textwrap.wrap(text, 108, subsequent_indent="    ")
    for name, o in options:
        text = f"{name} : {in_python(command, o['help'])}"
        lines += textwrap.wrap(text, 108, subsequent_indent="    ")
    lines += ["progress : True for a bar, or a function of the fraction done"]
    text = "\n".join(line.rstrip() for line in lines).strip()
    return text.replace("\\", "\\\\").replace('"""', "'''")


def function(command, word=None):
    name = (command["name"] + (f" {word}" if word else "")).replace(" ", "_")
    result = command["name"].split()[0].capitalize()
    result = result if result in CLASSES else "Result"
    options = list(parameters(command, word))
    takes_input = command["reads_input"] or command["takes_files"]
    first = INPUTS.get(command["name"], "x") if takes_input else None
    signature = []
    if first:
        kind = "Input" if first.startswith("*") else "Inputs"
        optional = " | None = None" if command["input_optional"] else ""
        signature.append(f"    {first}: {kind}{optional},")
    if not (first and first.startswith("*")):
        signature.append("    *,")
    for python, o in options:
        kind = type_of(o, kind_of(o))
        signature.append(f"    {python}: {kind} = {False if kind == 'bool' else None},")
    signature.append("    progress: Progress = None,")
    inputs = "None" if not first else first.lstrip("*") if first.startswith("*") else f"({first},)"
    words = [*command["name"].split(), *([word] if word else [])]
    given = ", ".join(f"{python}={python}" for python, _ in options)
    table = {python: rule(o) for python, o in options}
    body = [
        f"def {name}(",
        *signature,
        f") -> {result}:",
        textwrap.indent(f'"""{docstring(command, word, options)}\n"""', "    "),
        f"    return {result}._of(run({words!r}, {inputs}, {(first or '').lstrip('*')!r}, _{name},",
        f"        dict({given}), progress))",
        "",
    ]
    return [
        f"_{name}: dict[str, Rule] = {{",
        *[f"    {k!r}: {v}," for k, v in table.items()],
        "}",
        "",
        "",
        *body,
        "",
    ]


def rule(o):
    flag = ("-" if o["short"] else "--") + o["name"]
    return f"Rule({flag!r}, {kind_of(o)!r}, {bool(o['bare'])}, {'--no-center' if o['off'] else None!r})"


def main():
    library, package, output = sys.argv[1:]
    CLASSES.extend(
        re.findall(r"^class (\w+)\(Result\)", pathlib.Path(package, "_results.py").read_text(), re.M)
    )
    names = []
    out = [
        '"""A function for each command of the tool. Made by python/make/functions.py: do not edit."""',
        "# ruff: noqa",
        "from __future__ import annotations",
        "",
        "import os",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal",
        "",
        "from ._call import Input, Inputs, Numbers, Progress, Rule, run",
        f"from ._results import {', '.join(sorted([*CLASSES, 'Result']))}",
        "",
        "",
    ]
    for command in describe(library):
        if command["name"] in LEFT_OUT:
            continue
        for word in command["words"] or [None]:
            out += function(command, word)
        if not command["words"] and " " not in command["name"] and command["name"] != "wls":
            names.append(command["name"])
    out += [f"__all__ = {names!r}", ""]
    pathlib.Path(output).write_text("\n".join(out))


main()
