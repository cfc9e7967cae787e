#!/usr/bin/env python3
"""Writes the page of all figures from their results: repro/report.py [--out FOLDER] [--docs FOLDER]

It takes each figure's full result where there is one, else the quick one, and writes reproduction.md and its
pictures into the docs folder, or beside the results; beside each picture the numbers in it, from which
docs/pictures.sh draws it anew. `make repro-docs` writes docs/reproduction.md.
"""
import argparse
import json
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
INTRODUCTION = """\
# Every figure of the four papers

`make repro` runs every figure in a quick version: smaller sizes and fewer draws, about five minutes on two
quiet cores. `make repro-full` runs them at the papers' sizes: hours, but an interrupted run continues where
it stopped. `make repro-docs` writes this page. `python3 repro/run.py 000-A1b` runs one figure, with `--full`
at the paper's size. Under `mpirun` or `srun` the ranks share the commands out (docs/scale.md).

Each figure has a script in `repro/`, or a row of a script's table. It runs `kspec`, draws the figure, and
checks in numbers what the paper says about it. *Reproduced*: every claim of the paper holds. *Differs*: at
least one claim does not hold, and the reason is given. Lines marked “ours” are statements of this project,
which must hold."""


def read_results(folder):
    results = {}
    for size in ("quick", "full"):
        for f in (folder / size).glob("[0-9]*.json"):
            r = json.loads(f.read_text())
            if "verdict" in r and not (r["verdict"] == "cannot be checked" and r["name"] in results):
                results[r["name"]] = r
    return [results[name] for name in sorted(results)]


def row(*cells):
    return f"| {' | '.join(str(c).replace('|', chr(92) + '|').replace(chr(10), ' ') for c in cells)} |"


def head(*cells):
    return row(*cells) + "\n|" + "---|" * len(cells)


def claims_of(r):
    return [c for c in r["claims"] if c["kind"] == "claim"]


def link(r):
    return f"[{r['name']}](#{r['name']}) ({r['size']})"


def summary(results):
    """How many figures have which verdict, and a line for each figure"""
    verdicts = [r["verdict"] for r in results]
    counts = sorted(((verdicts.count(v), v) for v in set(verdicts)), reverse=True)
    holds = [c["holds"] for r in results for c in claims_of(r)]
    yield (f"{len(results)} figures (some are pairs of panels): " + ", ".join(f"{v} {n}" for n, v in counts)
           + f". {sum(holds)} of {len(holds)} claims hold.\n")
    yield head("figure", "what it shows", "claims that hold", "verdict", "why it differs", "picture")
    for r in results:
        claims = claims_of(r)
        reasons = dict.fromkeys(x["reason"] for x in (r, *claims) if x["reason"])
        pictures = (f"[{i}](images/repro/{p})" for i, p in enumerate(r["pictures"], 1))
        yield row(link(r), r["title"], f"{sum(c['holds'] for c in claims)} of {len(claims)}", r["verdict"],
                  "; ".join(reasons), " ".join(pictures))


def claim_tables(results):
    """A table for each paper, with a line for each claim"""
    paper = None
    for r in results:
        if r["paper"] != paper:
            paper = r["paper"]
            yield f"\n## {paper}\n\n" + head("figure", "the paper's claim", "our number", "verdict", "reason")
        first = f"{link(r)}<br>**{r['verdict']}**"
        if not r["claims"]:
            yield row(first, r["title"], "", r["verdict"], r["reason"])
        for c in r["claims"]:
            ours = c["kind"] == "ours"
            verdict = "differs" if c["reason"] else "failed" if not c["holds"] else "" if ours else "holds"
            yield row(first, ("ours: " if ours else "") + c["text"], c["number"], verdict, c["reason"] or "")
            first = ""


def picture_sections(results):
    yield "\n## Pictures"
    for r in results:
        command = f"`repro/run.py {'--full ' if r['size'] == 'full' else ''}{r['name']}`"
        if r["commands"]:
            count = r["command_count"]
            command += f": {count} command{'s, the first' * (count > 1)} `{r['commands'][0]}`"
        yield f"\n### {r['name']}\n\n{r['title']}. {command}.\n"
        yield from (f"![{r['title']}](images/repro/{p})" for p in r["pictures"])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/repro", help="where the results are")
    p.add_argument("--docs", type=pathlib.Path, help="where the page goes (default: beside the results)")
    args = p.parse_args()
    folder, results = args.docs or args.out, read_results(args.out)
    images = folder / "images/repro"
    images.mkdir(parents=True, exist_ok=True)
    for r in results:
        for picture in r["pictures"]:
            shutil.copyfile(args.out / r["size"] / picture, images / picture)
            figure = (args.out / r["size"] / picture).with_suffix(".figure.json")
            if figure.exists():
                shutil.copyfile(figure, images / figure.name)
    page = folder / "reproduction.md"
    parts = [INTRODUCTION, "", *summary(results), *claim_tables(results), *picture_sections(results)]
    page.write_text("\n".join(parts) + "\n")
    print(page)


if __name__ == "__main__":
    main()
