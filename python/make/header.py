"""Writes kspec/_header.py: the public header's structs, enums and functions for ctypes.

usage: header.py INCLUDE_DIR TOOL_DIR OUTPUT [COMPILER]

The header is the one source: its declarations are read from the text that the C preprocessor makes of it, and
the sizes, offsets and values are those that the compiler prints. Where ctypes would lay out a struct in
another way, nothing is written.
"""

import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

SCALARS = {
    "int": "c_int",
    "unsigned": "c_uint",
    "double": "c_double",
    "size_t": "c_size_t",
    "ptrdiff_t": "c_ssize_t",
    "uint64_t": "c_uint64",
    "char": "c_char",
}


def preprocess(compiler, include, tool):
    text = subprocess.run(
        [compiler, "-E", "-P", f"-I{include}", f"-I{tool}", f"{tool}/kspec_tool.h"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    text = text.replace('__attribute__((visibility("default")))', "KSPEC_API")
    return text[text.index("KSPEC_OK") - 40 :]


def read_version(include):
    text = pathlib.Path(include, "kspec/base.h").read_text()
    return ".".join(re.findall(r"#define KSPEC_VERSION_[MP][A-Z]+ +(\d+)", text))


def read_enums(code):
    for body, name in re.findall(r"typedef enum \{(.*?)\}\s*(\w+)\s*;", code, re.S):
        yield name, [c.split("=")[0].strip() for c in body.split(",") if c.strip()]


def read_structs(code):
    pattern = r"typedef struct (?:\w+ )?\{((?:[^{}]|\{[^{}]*\})*)\}\s*(\w+)\s*;"
    for body, name in re.findall(pattern, code, re.S):
        yield name, [d.strip() for d in " ".join(body.split()).split(";") if d.strip()]


def read_functions(code):
    for declaration in re.findall(r"KSPEC_API\s+([^;{]*?)\s*;", code, re.S):
        result, name, arguments = re.fullmatch(r"(.*?)(\w+)\((.*)\)", " ".join(declaration.split())).groups()
        yield name, result, arguments


class Types:
    """C types as expressions of ctypes"""

    def __init__(self, enums, structs):
        self.enums = set(enums)
        self.structs = set(structs)

    def of(self, base, stars):
        base = re.sub(r"\b(const|struct)\b", "", base).strip()
        if base == "void":
            return "None" if stars == 0 else "ctypes.c_void_p"
        if base == "char" and stars:
            kind, stars = "ctypes.c_char_p", stars - 1
        elif base in SCALARS:
            kind = "ctypes." + SCALARS[base]
        elif base in self.enums:
            kind = "ctypes.c_int"  # gcc has an unsigned int for it, of the same size; values are small
        elif base in self.structs:
            kind = base
        elif stars:
            return "ctypes.c_void_p"  # a handle
        else:
            raise SystemExit(f"unknown type {base}")
        for _ in range(stars):
            kind = f"ctypes.POINTER({kind})"
        return kind

    def parameter(self, text):
        callback = re.fullmatch(r"(.*?)\(\*\s*(\w+)\)\s*\((.*)\)", text)
        if callback:
            return callback.group(2), self.callback(callback.group(1), callback.group(3))
        text = re.sub(r"\*\s+(?=\*)", "*", text.replace("*const", "*"))
        base, stars, name, array = re.fullmatch(r"(.*?)(\**)\s*(\w+)?((?:\[\w+\])*)", text).groups()
        if name and re.sub(r"\bconst\b", "", base).strip() == "":
            base, name = name, None  # a type alone
        return name, self.of(base + " ", len(stars)) + "".join(
            f" * {n}" for n in re.findall(r"\[(\w+)\]", array)
        )

    def callback(self, result, arguments):
        kinds = [self.parameter(a.strip())[1] for a in arguments.split(",")]
        return f"ctypes.CFUNCTYPE({', '.join([self.parameter(result.strip() + ' x')[1], *kinds])})"

    def fields(self, declarations):
        """(name, type) of each field of a struct; one declaration may declare several"""
        for d in declarations:
            if "(*" in d:
                yield self.parameter(d)
                continue
            first, *others = d.split(",")
            base = re.match(r"((?:const )?\w+)", first).group(1)
            yield self.parameter(first)
            for other in others:
                yield self.parameter(f"{base} {other.strip()}")


def ask_compiler(compiler, include, tool, enums, structs):
    """{name: value} of enums; {struct: (size, {field: offset})}, as a program prints them"""
    lines = ['#include "kspec_tool.h"', "#include <stdio.h>", "int main(void) {"]
    for names in enums.values():
        lines += [f'printf("E {n} %d\\n", (int){n});' for n in names]
    for struct, fields in structs.items():
        lines.append(f'printf("S {struct} %zu\\n", sizeof({struct}));')
        lines += [f'printf("F {struct} {f} %zu\\n", offsetof({struct}, {f}));' for f, _ in fields]
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "ask.c"), pathlib.Path(folder, "ask")
        source.write_text("\n".join([*lines, "return 0; }"]))
        subprocess.run([compiler, f"-I{include}", f"-I{tool}", source, "-o", program], check=True)
        answer = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    values, layouts = {}, {}
    for line in answer.splitlines():
        kind, *words = line.split()
        if kind == "E":
            values[words[0]] = int(words[1])
        elif kind == "S":
            layouts[words[0]] = (int(words[1]), {})
        else:
            layouts[words[0]][1][words[1]] = int(words[2])
    return values, layouts


def module_text(version, values, layouts, enums, structs, functions):
    out = [
        '"""The public header for ctypes. Made by python/make/header.py: do not edit."""',
        "# ruff: noqa",
        "import ctypes",
        "from typing import Any",
        "",
        f'VERSION = "{version}"',
    ]
    for name, constants in enums.items():
        out.append(f"# {name}")
        out += [f"{c} = {values[c]}" for c in constants]
    out.append("")
    for name in structs:
        out += [f"class {name}(ctypes.Structure):", "    pass", ""]
    for name, fields in structs.items():
        out.append(f"{name}._fields_ = [")
        out += [f'    ("{field}", {kind}),' for field, kind in fields]
        out += ["]", ""]
    out += [
        "# sizes and offsets as the C compiler has them",
        "LAYOUTS: dict[str, tuple[int, dict[str, int]]] = {",
    ]
    out += [f'    "{name}": {layout!r},' for name, layout in layouts.items()]
    out += ["}", "", "# result and arguments", "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    out += [f'    "{name}": ({result}, [{", ".join(kinds)}]),' for name, result, kinds in functions]
    return "\n".join([*out, "}", ""])


def check_layouts(text, layouts):
    module = {}
    exec(compile(text, "_header.py", "exec"), module)
    for name, (size, offsets) in layouts.items():
        struct = module[name]
        if ctypes.sizeof(struct) != size or any(getattr(struct, f).offset != at for f, at in offsets.items()):
            raise SystemExit(f"{name}: ctypes and the compiler lay it out in different ways")


def main():
    include, tool, output = sys.argv[1:4]
    compiler = sys.argv[4] if len(sys.argv) > 4 else "cc"
    code = preprocess(compiler, include, tool)
    enums = dict(read_enums(code))
    bodies = dict(read_structs(code))
    types = Types(enums, bodies)
    structs = {name: list(types.fields(body)) for name, body in bodies.items()}
    functions = []
    for name, result, arguments in read_functions(code):
        kinds = [types.parameter(a.strip())[1] for a in arguments.split(",")] if arguments != "void" else []
        functions.append((name, types.parameter(result.strip() + " x")[1], kinds))
    values, layouts = ask_compiler(compiler, include, tool, enums, structs)
    text = module_text(read_version(include), values, layouts, enums, structs, functions)
    check_layouts(text, layouts)
    pathlib.Path(output).write_text(text)


main()
