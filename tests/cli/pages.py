"""Runs the code of the tutorials and how-tos and compares what they show with what was printed.

    pages.py [PAGE...]            all pages of docs/tutorials and docs/howto by default
    pages.py --update [PAGE...]   writes the output that was printed into the pages

Each page runs from top to bottom in an empty folder, with `kspec` on the path:

    ```console    lines that begin with "$ " are commands, "> " continues one; the rest is what they print
    ```python     runs in one session per page; a ```text block right after it is what it prints
    <!-- file: NAME -->              the next block is written to a file of that name
    <!-- needs: WORD... -->          the next block runs where these programs or Python modules exist
    <!-- not run: REASON -->         the next block is shown only
    <!-- prepare: COMMAND -->        a command that the reader does not see
    <!-- picture: FILE NAME -->      the page made FILE, which is docs/images/NAME (--update copies it)

Words must be equal. Numbers must agree to 1 in 1000 or to one unit of the last digit shown, since libraries
round in their own ways. A line "[...]" stands for any number of lines. Times ("0.12 s") are not compared.
"""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

SOURCE = pathlib.Path(os.environ.get("KSPEC_SOURCE", pathlib.Path(__file__).parents[2]))
NUMBER = re.compile(r"[-+−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
COMMENT = re.compile(r"<!-- (file|needs|not run|prepare|picture): (.*?) -->")


def blocks(lines):
    """(language, first line, end, comments) of each fenced block; lines[first:end] is its text."""
    comments, i = {}, 0
    while i < len(lines):
        if found := COMMENT.fullmatch(lines[i].strip()):
            comments[found[1]] = found[2]
            if found[1] in ("prepare", "picture"):
                yield found[1], i, i + 1, comments
                comments = {}
        elif fence := re.match(r"```(\{?\w*)", lines[i]):
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            yield fence[1], i + 1, end, comments
            comments, i = {}, end
        i += 1


def same_number(a, b):
    if a == b:
        return True
    x, y = (float(s.replace("−", "-")) for s in (a, b))
    digits = re.fullmatch(r"[-+−]?\d+(?:\.(\d+))?(?:[eE]([-+]?\d+))?", a)
    last = 10.0 ** (int(digits[2] or 0) - len(digits[1] or ""))
    return abs(x - y) <= max(1e-3 * abs(x), 1.01 * last)


def same_line(a, b):
    plain = [re.sub(r"\s+", " ", NUMBER.sub("0", re.sub(r"[-─= ]{3,}", " ", s))).strip() for s in (a, b)]
    timeless = [re.sub(r"\S+ s\b", "time", s) for s in (a, b)]
    numbers = [NUMBER.findall(s) for s in timeless]
    return plain[0] == plain[1] and all(map(same_number, *numbers))


def same(shown, printed):
    """The first line that differs, or None."""
    shown, printed = ([s.rstrip() for s in x if s.strip()] for x in (shown, printed))
    if "[...]" in shown:
        k = shown.index("[...]")
        tail = shown[k + 1 :]
        rest = printed[max(k, len(printed) - len(tail)) :] if tail else []
        return same(shown[:k], printed[:k]) or same(tail, rest)
    for a, b in zip(shown, printed):
        if not same_line(a, b):
            return f"shown   {a}\n        printed {b}"
    if len(shown) != len(printed):
        return f"{len(shown)} lines are shown, {len(printed)} were printed: {printed[-3:]}"
    return None


def here(word):
    if shutil.which(word):
        return True
    return bool(importlib.util.find_spec(word))


def shell(command):
    done = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout.splitlines(), done.returncode


class Page:
    def __init__(self, path, update):
        self.path, self.update = path, update
        self.lines = path.read_text().splitlines()
        self.names = {"__name__": "__main__"}
        self.wrong, self.ran, self.skipped, self.new = [], 0, 0, {}

    def compare(self, first, end, printed, at):
        shown = self.lines[first:end]
        if self.update and "[...]" not in shown:
            self.new[first, end] = printed
        elif difference := same(shown, printed):
            self.wrong.append(f"{self.path}:{at + 1}: {difference}")

    def console(self, first, end):
        i = first
        while i < end:
            if not self.lines[i].startswith("$ "):
                self.wrong.append(f"{self.path}:{i + 1}: output without a command")
                return
            command, at = self.lines[i][2:], i
            i += 1
            while i < end and self.lines[i].startswith("> "):
                command += "\n" + self.lines[i][2:]
                i += 1
            out = i
            while i < end and not self.lines[i].startswith("$ "):
                i += 1
            printed, status = shell(command)
            self.ran += 1
            if status and not any(
                s.startswith("kspec: ") for s in (printed if self.update else self.lines[out:i])
            ):
                self.wrong.append(f"{self.path}:{at + 1}: ends with {status}: {printed[-3:]}")
                continue
            self.compare(out, i, printed, at)

    def python(self, first, end, output):
        out = io.StringIO()
        code = "\n" * first + "\n".join(self.lines[first:end])
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(code, str(self.path), "exec"), self.names)
        except Exception:
            self.wrong.append(f"{self.path}:{first + 1}: {traceback.format_exc(limit=-1)}")
            return
        self.ran += 1
        printed = out.getvalue().splitlines()
        if output:
            self.compare(*output, printed, first)
        elif printed:
            self.wrong.append(f"{self.path}:{first + 1}: prints {printed[0]!r}, which the page does not show")

    def picture(self, made, name, at):
        if not shutil.which("gnuplot"):
            self.skipped += 1
        elif not pathlib.Path(made).exists():
            self.wrong.append(f"{self.path}:{at + 1}: {made} was not made")
        elif self.update:
            shutil.copy(made, SOURCE / "docs" / "images" / name)

    def run(self):
        todo = list(blocks(self.lines))
        for k, (language, first, end, comments) in enumerate(todo):
            if language == "prepare":
                printed, status = shell(comments["prepare"])
                if status:
                    self.wrong.append(f"{self.path}:{first + 1}: {printed[-3:]}")
                continue
            if language == "picture":
                self.picture(*comments["picture"].split(), first)
                continue
            if not all(here(word) for word in comments.get("needs", "").split()):
                self.skipped += 1
            elif "not run" in comments:
                pass
            elif "file" in comments:
                pathlib.Path(comments["file"]).write_text("\n".join(self.lines[first:end]) + "\n")
            elif language == "console":
                self.console(first, end)
            elif language == "python":
                after = todo[k + 1] if k + 1 < len(todo) else ("", 0, 0, {})
                follows = after[0] == "text" and not any(
                    s.strip() for s in self.lines[end + 1 : after[1] - 1]
                )
                self.python(first, end, after[1:3] if follows else None)
            elif language not in ("text", "math", "{toctree"):
                self.wrong.append(f"{self.path}:{first}: nobody runs this block of {language or 'code'}")
        for (first, end), printed in sorted(self.new.items(), reverse=True):
            self.lines[first:end] = [s.rstrip() for s in printed]
        if self.new:
            self.path.write_text("\n".join(self.lines) + "\n")


def main():
    update = "--update" in sys.argv
    paths = [pathlib.Path(p).resolve() for p in sys.argv[1:] if not p.startswith("--")]
    paths = paths or sorted([*SOURCE.glob("docs/tutorials/*.md"), *SOURCE.glob("docs/howto/*.md")])
    ran = skipped = 0
    wrong = []
    home = os.getcwd()
    for path in paths:
        page = Page(path, update)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.run()
            os.chdir(home)
        wrong += page.wrong
        ran += page.ran
        skipped += page.skipped
    print("\n".join(wrong))
    print(
        f"{len(paths)} pages: {ran} commands and blocks ran, {skipped} blocks lack a program "
        f"here, {len(wrong)} are wrong"
    )
    sys.exit(bool(wrong))


main()
