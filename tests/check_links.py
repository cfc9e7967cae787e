"""Every link of the documentation leads somewhere, and every page of docs/ named in the sources exists.

    check_links.py SOURCE

It checks the links of all Markdown pages (files and headings), the lists of pages (toctree), and that each
page of the site is in one of them. Nothing is fetched.
"""

import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).resolve()
GENERATED = {"commands", "python-api", "c", "json", "status", "doubts", "gallery", "notebook", "changes"}
wrong = []


def say(page, line, what):
    wrong.append(f"{page.relative_to(root)}:{line}: {what}")


def files(*patterns):
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard", *patterns], capture_output=True
    )
    names = listed.stdout.decode().split("\n") if listed.returncode == 0 else []
    names = names or [
        str(p.relative_to(root))
        for d in ("docs", "examples", "src", "include")
        for p in (root / d).rglob("*")
    ]
    return [root / n for n in names if n and (root / n).is_file()]


def prose(text):
    """The text with code blanked out, line by line."""
    text = re.sub(r"^(```+|~~~+).*?^\1", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), text)


def slugs(text):
    """The anchors that a renderer gives to the headings."""
    text = re.sub(r"^(```+).*?^\1", "", text, flags=re.M | re.S)
    found, seen = set(), {}
    for heading in re.findall(r"^#{1,6} +(.*?)\s*$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        n = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{n}" if n else slug)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


pages = [p for p in files("*.md") if p.suffix == ".md"]
texts = {p: p.read_text() for p in pages}
links = 0
for page, text in texts.items():
    for found in re.finditer(r"\]\(([^)\s]+)\)", prose(text)):
        target, _, anchor = found[1].partition("#")
        line = text.count("\n", 0, found.start()) + 1
        if re.match(r"[a-z]+:", target):
            continue
        links += 1
        path = pathlib.Path(os.path.normpath(page.parent / target)) if target else page
        if path.relative_to(root).parts[:1] == ("docs",) and path.stem in GENERATED and path.suffix == ".md":
            continue  # a page that the site makes
        if not path.exists():
            say(page, line, f"{target} does not exist")
        elif anchor and path.suffix == ".md" and anchor.lower() not in slugs(path.read_text()):
            say(page, line, f"{target or page.name} has no heading #{anchor}")

listed = {root / "docs" / "index.md"}
for page, text in texts.items():
    for tree in re.finditer(r"^```\{toctree\}\n(.*?)^```", text, re.M | re.S):
        for entry in tree[1].splitlines():
            if not entry.strip() or entry.startswith(":"):
                continue
            target = pathlib.Path(os.path.normpath(page.parent / (entry + ".md")))
            listed.add(target)
            if not target.exists() and target.stem not in GENERATED:
                say(
                    page,
                    text.count("\n", 0, tree.start()) + 1,
                    f"the list names {entry}, which does not exist",
                )
for page in pages:
    inside = page.relative_to(root).parts
    if inside[0] == "docs" and inside[1] not in ("notes", "site") and page not in listed:
        say(page, 1, "no list of pages names it")

named = 0
for path in files():
    name = str(path.relative_to(root))
    if path.suffix in (".svg", ".json", ".npy", ".gz", ".png") or name.startswith(("docs/notes/", "build")):
        continue
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        continue
    for found in re.finditer(r"(?<![\w/.])docs/[\w/-]+\.md\b", text):
        named += 1
        if not (root / found[0]).exists():
            say(path, text.count("\n", 0, found.start()) + 1, f"names {found[0]}, which does not exist")

print("\n".join(wrong))
print(f"{len(pages)} pages, {links} links, {named} names of pages in sources: {len(wrong)} wrong")
sys.exit(bool(wrong) or links < 100)
