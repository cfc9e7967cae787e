"""Stages the pages of the site in BUILD/site-pages: docs/*.md as they are, and the pages made from sources.

    stage.py BUILD

From sources come the man pages, the C header, the Python package, the JSON schemas, exit statuses, doubts,
the gallery and the notebook. Links that leave docs/ lead to a copy of the file, and links to README.md to the
home page.
"""

import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import gallery
import reference

LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]*)(#[^)\s]*)?(\))")


def relink(text, page, pages):
    """The text of docs/PAGE with its links as the site needs them."""

    def link(found):
        before, target, anchor, after = found[1], found[2], (found[3] or "").lower(), found[4]
        if re.match(r"[a-z]+:", target):
            return found[0]
        if not target:  # Sphinx writes anchors in lower case
            return before + anchor + after
        path = os.path.normpath(ROOT / "docs" / page.parent / target)
        inside = os.path.relpath(path, ROOT / "docs")
        if man := re.fullmatch(r"man/(kspec[\w-]*)\.1", inside):
            return before + os.path.relpath(f"reference/man/{man[1]}.md", page.parent) + after
        if not inside.startswith(".."):
            return before + target + anchor + after
        if path == str(ROOT / "README.md"):
            return before + os.path.relpath("index.md", page.parent) + anchor + after
        if os.path.isdir(path):
            return before + os.path.relpath("gallery.md", page.parent) + after
        copy = pages / "files" / os.path.relpath(path, ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
        if copy.suffix == ".md":  # a page of another folder is shown as text
            copy = copy.rename(copy.with_suffix(".txt"))
        return before + os.path.relpath(copy, pages / page.parent) + after

    return LINK.sub(link, text)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    pages = build / "site-pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "images", pages / "images", ignore=shutil.ignore_patterns("*.json"))
    for source in sorted((ROOT / "docs").rglob("*.md")):
        page = source.relative_to(ROOT / "docs")
        if page.parts[0] == "notes":
            continue
        target = pages / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(relink(source.read_text(), page, pages))
    changes = re.sub(r"\]\(docs/notes/[^)]*\)", "]", (ROOT / "CHANGELOG.md").read_text())
    (pages / "changes.md").write_text(
        relink(changes.replace("](docs/", "]("), pathlib.Path("changes.md"), pages)
    )
    reference.write(ROOT, build, pages / "reference")
    gallery.write(ROOT, build, pages)


main()
