"""Reference pages from their sources: man pages, header, Python package, schemas, exit statuses, doubts."""

import inspect
import json
import re
import subprocess
import textwrap

SEVERITY = {"NOTE": "note", "WARNING": "warning", "SERIOUS": "serious"}


def plain(text):
    """Prose of a source as Markdown: no character of it is markup; what is indented is code."""
    out, paragraph, code = [], [], []

    def flush():
        if paragraph:
            out.append(re.sub(r"([\\`*_<>\[\]$|#{}])", r"\\\1", "\n".join(paragraph)))
            paragraph.clear()
        if code:
            out.append("```\n" + textwrap.dedent("\n".join(code)).rstrip() + "\n```")
            code.clear()

    for line in text.splitlines():
        if not line.strip():
            if not code:
                flush()
            elif code:
                code.append("")
        elif line.startswith("    ") or line.lstrip().startswith(">>>"):
            if paragraph:
                flush()
            code.append(line)
        elif re.match(r" *- ", line):
            if (paragraph and not re.match(r" *- ", paragraph[0])) or code:
                flush()
            paragraph.append(line.strip())
        else:
            if code:
                flush()
            paragraph.append(
                line.strip() if not paragraph or not paragraph[-1].startswith("-") else "  " + line.strip()
            )
    flush()
    return "\n\n".join(out) + "\n"


# ---- man pages ----
def definitions(text):
    """Terms with a quoted block become a definition list."""
    out, lines, i = [], text.splitlines(), 0
    while i < len(lines):
        if lines[i].startswith(">") and len(out) > 1 and not out[-1]:
            out.pop()
            first = True
            while i < len(lines) and (
                lines[i].startswith(">")
                or (not lines[i] and lines[i + 1 : i + 2][0:1] and lines[i + 1].startswith("> "))
            ):
                body = re.sub(r"^> ?", "", lines[i]).replace("\t", "    ")
                out.append((": " if first else "  ") + body if body else "")
                first = False
                i += 1
            continue
        out.append(lines[i])
        i += 1
    return "\n".join(out) + "\n"


def man_page(path):
    text = subprocess.run(
        ["mandoc", "-T", "markdown", path], capture_output=True, text=True, check=True
    ).stdout
    lines = text.splitlines()
    lines = (
        lines[1:-1]
        if re.match(r"\S+ - \w+ \d", lines[-1].replace("&nbsp;", " ")) or " - " in lines[-1]
        else lines[1:]
    )
    body = re.sub(
        r"^(#+) (.*)$",
        lambda m: "#" + m[1] + " " + m[2].capitalize() if m[1] == "#" else "#" + m[0],
        "\n".join(lines),
        flags=re.M,
    )
    body = re.sub(r"\b(kspec(?:-\w+)?)\(1\)", lambda m: f"[{m[1]}]({m[1]}.md)", body)
    name = path.stem
    short = re.search(r"\*\* - (.*)", body)[1]
    body = re.sub(r"^## Name\n\n.*\n", "", body, count=1, flags=re.M)
    return (
        name,
        short,
        f"# {name.replace('-', ' ')}\n\n{short[0].upper()}{short[1:]}.\n\n"
        + definitions(body).replace("$", r"\$"),
    )


def man(root, out):
    rows = []
    (out / "man").mkdir(parents=True)
    for path in sorted((root / "docs" / "man").glob("*.1")):
        name, short, text = man_page(path)
        (out / "man" / f"{name}.md").write_text(text)
        rows.append(f"| [{name.replace('-', ' ')}](man/{name}.md) | {short} |")
    toc = "```{toctree}\n:hidden:\n:glob:\n\nman/*\n```\n"
    (out / "commands.md").write_text(
        "# Commands\n\nThe manual page of each command. `man kspec-dimension` shows the same text.\n\n"
        "| command | about |\n|---|---|\n" + "\n".join(rows) + "\n\n" + toc
    )
    status = (out / "man" / "kspec.md").read_text()
    section = re.search(r"^## Exit status\n(.*?)^## ", status, re.M | re.S)[1]
    enum = re.search(
        r"typedef enum \{(.*?)\} kspec_status;", (root / "include/kspec/base.h").read_text(), re.S
    )[1]
    code = textwrap.dedent("\n".join(line for line in enum.splitlines() if line.strip()))
    (out / "status.md").write_text(
        f"# Exit statuses\n\nEvery command ends with one of these.\n\n{section}\nA failing command "
        f"prints one line, "
        "which begins with `kspec: `. The C library returns a status:\n\n```c\n" + code + "\n```\n"
    )


# ---- the C header ----
def comment_text(comment):
    body = comment[2:-2]
    lines = [re.sub(r"^ ?\* ?", "", line) if k else line.lstrip() for k, line in enumerate(body.splitlines())]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def header_page(path):
    text = path.read_text()
    first = re.match(r"/\* Part of kspec.h: (.*?) \*/", text, re.S)
    title = re.sub(r"\s*\n \*\s*", " ", first[1]).rstrip(".") if first else "the contract"
    name = f"kspec/{path.name}" if path.parent.name == "kspec" else path.name
    out = [f"# `{name}`\n\n{title[0].upper()}{title[1:]}.\n"]
    text = text[first.end() if first else 0 :]
    text = re.sub(r"^#(ifndef|endif|define) *(KSPEC_\w*_H)?\s*$", "", text, flags=re.M)
    for chunk in re.split(r"\n\s*\n(?=\S)", text):  # a comment with the declarations below it
        while found := re.match(r"\s*(/\*.*?\*/)[ \t]*(\n|$)", chunk, re.S):
            rule = re.fullmatch(r"/\* -{5,} (.*?) \*/", found[1])
            out.append(f"## {rule[1][0].upper()}{rule[1][1:]}\n" if rule else plain(comment_text(found[1])))
            chunk = chunk[found.end() :]
        if chunk.strip():
            out.append("```c\n" + chunk.strip("\n") + "\n```\n")
    return name, title, "\n".join(out)


def header(root, out):
    (out / "c").mkdir()
    rows = []
    include = root / "include"
    order = re.findall(r'#include "(kspec/\w+\.h)"', (include / "kspec.h").read_text())
    for path in [include / "kspec.h", *(include / p for p in order)]:
        name, title, text = header_page(path)
        (out / "c" / f"{path.stem}.md").write_text(text)
        rows.append(f"| [{name}](c/{path.stem}.md) | {title} |")
    toc = "```{toctree}\n:hidden:\n\n" + "\n".join(
        f"c/{p.stem}" for p in [include / "kspec.h", *map(include.joinpath, order)]
    )
    (out / "c.md").write_text(
        "# C library\n\nThese pages are the public header, part by part. "
        "Include `<kspec.h>`, and link with "
        "`pkg-config --libs kspec`.\n\n| part | about |\n|---|---|\n" + "\n".join(rows) + f"\n\n{toc}\n```\n"
    )


# ---- the Python package ----
def docstring(doc):
    head, *parts = re.split(r"\n(Parameters|Returns|Yields|Attributes)\n-+\n", inspect.cleandoc(doc))
    out = [plain(head)]
    for title, body in zip(parts[::2], parts[1::2]):
        if title in ("Returns", "Yields"):
            out.append(f"**{title}**\n\n" + plain(textwrap.dedent(body)))
            continue
        items = []
        for line in body.splitlines():
            if found := re.match(r"(\w[\w, *]*) : (.*)", line):
                items.append([found[1], found[2]])
            elif items and line.strip():
                items[-1][1] += " " + line.strip()
        if items:
            out.append(
                f"**{title}**\n\n" + "\n\n".join(f"`{n}`\n: {plain(t).strip()}" for n, t in items) + "\n"
            )
    return "\n".join(out)


def entry(name, thing, level="##"):
    try:
        signature = str(inspect.signature(thing))
    except (TypeError, ValueError):
        signature = "()"
    signature = re.sub(r"0x[0-9a-f]+", "…", signature)
    lines = [f"{level} {name}\n"]
    code = textwrap.fill(name + signature, 96, subsequent_indent="    ", break_long_words=False)
    lines.append(f"```python\n{code}\n```\n")
    if thing.__doc__:
        lines.append(docstring(thing.__doc__))
    if inspect.isclass(thing) and level == "##":
        for method, value in vars(thing).items():
            if not method.startswith("_") and callable(value) and value.__doc__:
                lines.append(entry(f"{name}.{method}", value, "###"))
    return "\n".join(lines)


def python(root, out):
    import kspec

    (out / "python").mkdir()
    public = {n: getattr(kspec, n) for n in sorted(dir(kspec), key=str.lower) if not n.startswith("_")}
    functions = [entry(f"kspec.{n}", v) for n, v in public.items() if inspect.isfunction(v) or n == "wls"]
    classes = [entry(f"kspec.{n}", v) for n, v in public.items() if inspect.isclass(v)]
    modules = []
    for module in ("theory", "generate"):
        for n, v in sorted(vars(getattr(kspec, module)).items()):
            if inspect.isfunction(v) and not n.startswith("_") and v.__doc__:
                modules.append(entry(f"kspec.{module}.{n}", v))
    for n in sorted(n for n in dir(kspec.wls) if not n.startswith("_")):
        if callable(getattr(kspec.wls, n)) and getattr(kspec.wls, n).__doc__:
            modules.append(entry(f"kspec.wls.{n}", getattr(kspec.wls, n)))
    pages = [
        ("functions", "Functions", functions),
        ("modules", "theory, generate and wls", modules),
        ("classes", "Results and classes", classes),
    ]
    rows = []
    for stem, title, parts in pages:
        (out / "python" / f"{stem}.md").write_text(f"# {title}\n\n" + "\n".join(parts))
        rows.append(f"- [{title}](python/{stem}.md)")
    (out / "python-api.md").write_text(
        "# Python package\n\nThe docstrings of `import kspec`, as `help()` prints them.\n\n"
        + "\n".join(rows)
        + "\n\n```{toctree}\n:hidden:\n:glob:\n\npython/*\n```\n"
    )


# ---- JSON ----
def kind(node):
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return ", ".join(f"`{json.dumps(v)}`" for v in node["enum"])
    types = node.get("type", "")
    return " or ".join(types if isinstance(types, list) else [types]) if types else ""


def keys(node, root, prefix="", within=()):
    if "$ref" in node:
        if node["$ref"] in within:  # a definition that contains itself is listed once
            return
        within = (*within, node["$ref"])
        node = root["definitions"][node["$ref"].split("/")[-1]]
    for choice in ("anyOf", "oneOf"):
        if choice in node and "properties" not in node:
            for one in node[choice]:
                yield from keys(one, root, prefix, within)
            return
    for name, child in node.get("properties", {}).items():
        inner = within
        if ref := child.get("$ref"):
            inner = (*within, ref)
            target = root["definitions"][ref.split("/")[-1]]
            child = {
                **(target if ref not in within else {}),
                **{k: v for k, v in child.items() if k != "$ref"},
            }
        yield prefix + name, kind(child), child.get("description", "")
        yield from keys(child, root, prefix + name + ".", inner)
        if isinstance(child.get("items"), dict):
            yield from keys(child["items"], root, prefix + name + "[].", inner)


def cell(text):
    return re.sub(r"([|<>*_$\[\]])", r"\\\1", text)


def schemas(root, out):
    (out / "json").mkdir()
    names = []
    for path in sorted((root / "docs" / "schema").glob("*.json")):
        schema = json.loads(path.read_text())
        lines = [f"# {path.stem}", f"The object that `{schema.get('title', path.stem)}` prints."]
        variants = [v for v in schema.get("anyOf", [schema]) if "properties" in v] or [schema]
        for variant in variants:
            if len(variants) > 1:
                lines.append(f"## {cell(variant.get('description', 'object')).capitalize()}")
            rows, seen = [], set()
            for name, type_, about in keys(variant, schema):
                if name not in seen:
                    seen.add(name)
                    rows.append(f"| `{name}` | {type_} | {cell(about)} |")
            if rows:
                lines.append("| key | type | meaning |\n|---|---|---|\n" + "\n".join(rows))
        (out / "json" / f"{path.stem}.md").write_text("\n\n".join(lines) + "\n")
        names.append(f"- [{path.stem}](json/{path.stem}.md)")
    (out / "json.md").write_text(
        "# JSON results\n\n`--json` prints one object. Each has `schema`, `kspec`, `input`, "
        "`doubts`, `warnings` and `seconds`. Numbers have "
        "17 significant digits, and `null` stands for a number that is undefined. The schemas are "
        "files in `docs/schema`.\n\n"
        + "\n".join(names)
        + "\n\n```{toctree}\n:hidden:\n:glob:\n\njson/*\n```\n"
    )


# ---- doubts ----
def doubts(root, out):
    source = (root / "src/base/doubt.c").read_text()
    listed = re.search(r"static const kind kinds\[\] = \{(.*?)^\};", source, re.S | re.M)[1]
    rows = []
    for body in re.findall(r"\[KSPEC_DOUBT_\w+\] = \{(.*?)\},\s*(?=\[|$|/)", listed.strip() + "\n", re.S):
        severity = SEVERITY[re.match(r"\s*(\w+)", body)[1]]
        strings = re.sub(r'"\s*\n\s*"', "", body)
        name, text = re.findall(r'"((?:[^"\\]|\\.)*)"', strings)[:2]
        after = re.search(r"\}\s*,\s*(.*)$", strings.split(text, 1)[1], re.S)
        remedy = re.findall(r'"([^"]*)"', after[1]) if after else []
        option = " ".join([f"--{remedy[0].replace('_', '-')}", *remedy[1:]]) if remedy else ""
        text = re.sub(r"\{(\w+)(?::[^}]*)?\}", r"*\1*", re.sub(r"([|<>_$\[\]])", r"\\\1", text)).replace(
            '\\"', '"'
        )
        rows.append(f"| `{name}` | {severity} | {text} | {f'`{option}`' if option else ''} |")
    codes = len(re.findall(r"\[KSPEC_DOUBT_", listed))
    if codes != len(rows):
        raise SystemExit(f"{len(rows)} doubts were read, but the source has {codes}")
    (out / "doubts.md").write_text(
        "# Doubts\n\nA result lists what is doubtful about it, in `doubts` of the JSON object and "
        "in the struct of C and Python. The command "
        "prints the same sentence as a warning. A *note* is worth knowing. A *warning* asks you to "
        "look before you use the numbers. A *serious* "
        "doubt means that the numbers say little.\n\nWords in italics stand for numbers or names. "
        "The last column is the option that helps, if "
        "there is one.\n\n| code | severity | sentence | option |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def write(root, build, out):
    out.mkdir(parents=True, exist_ok=True)
    man(root, out)
    header(root, out)
    python(root, out)
    schemas(root, out)
    doubts(root, out)
