#!/usr/bin/env python3
"""Writes the page of all figures from their results: repro/report.py [--out FOLDER] [--docs FOLDER]

It takes each figure's full result where there is one, else the quick one, else the one in
repro/results.json, and writes reproduction.md and its pictures into the docs folder, or beside the results;
beside each picture the numbers in it, from which docs/pictures.sh draws it anew. `make repro-docs` writes
docs/reproduction.md, and keeps what it wrote in repro/results.json. A claim that was tried under several
readings of a paper counts once.
"""
import argparse
import json
import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLE = "# Every figure of the four papers"
EXPLANATION = """\
## How to read this page

Each row of the table above is a figure, or some panels of a figure. For each figure a script in `repro/` runs
`kspec`, draws the figure and checks the paper's claims numerically. The sections below list every claim
together with our number.

| verdict | meaning |
|---|---|
| reproduced | every claim holds |
| under a reading | the paper leaves a setting open, and every claim holds under one choice of it |
| in part | under every reading, at least one claim does not hold; its row gives the reason if we know it |
| undecided (of one claim) | our measurement is not precise enough to confirm or refute the claim |

If a claim depends on a reading, we check it under each reading, and count it once. We worked from the papers'
text, not from the authors' programs. We therefore cannot confirm any of the readings.

To check words such as “very close” or “roughly linear”, we need a number. We chose these numbers, and
the head of each script states them. Another choice of a number can change a verdict, so read our number as
well as the verdict. Rows marked *ours* are statements of this project, and do not count as claims. If such a
statement does not hold, the script fails.

The paper on Gram norms gives σ, but its words “all features standardized” do not say how it scales the
features. The paper on spectral moments leaves three other settings open.

| paper | reading | what we do |
|---|---|---|
| Gram norms | as printed | z-scores and the printed σ |
| Gram norms | unit rows, unit columns | rows or columns of length 1, and the printed σ |
| Gram norms | min–max, σ = 1 | columns scaled to 0 … 1; only σ = 1 agrees with the paper's w ~ N(0, I) |
| spectral moments | images centred, mean \\|x\\|² = 1; pixels/255 | two ways to scale the pixels |
| spectral moments | negative estimates dropped; every estimate counted | a negative one has no real root |
| spectral moments | row and col as defined; exchanged | the paper calls one biased and convergent |

## How to run it

`make repro` runs a quick version of every figure, with smaller sizes and fewer draws, in about five minutes
on two quiet cores. `make repro-full` runs the figures at the papers' sizes, which takes hours. If this run is
interrupted, it continues where it stopped. `make repro-docs` writes this page.

The command `python3 repro/run.py 000-A1b` runs one figure, and with `--full` it runs it at the paper's size.
Under `mpirun` or `srun` the ranks divide the commands among themselves ([scale.md](explanation/scale.md)).
The program `repro/networks.py` trains the 29 networks of each width for Figures 4, A3 and A4 on a GPU."""
SHORT = {"000": "spectral moments", "001": "Gram norm", "002": "random features",
         "003": "weighted least squares"}
# What a paper leaves open, as the claims name it
READINGS = re.compile(r"(?:, )?(row and col as defined|row and col exchanged"
                      r"|as printed|min–max, σ = 1|unit rows|unit columns|images centred, mean \|x\|² = 1"
                      r"|pixels/255|negative estimates dropped|every estimate counted)(?:: )?")


def read_results(folder, stored):
    results = {r["name"]: r for r in json.loads(stored.read_text())} if stored.is_file() else {}
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


def distinct(r):
    """The claims of a figure: for each its text without the reading, and by reading the claim"""
    claims = {}
    for c in r["claims"]:
        if c["kind"] == "claim":
            reading = ", ".join(READINGS.findall(c["text"]))
            claims.setdefault(READINGS.sub(": ", c["text"]).removeprefix(": "), {})[reading] = c
    return claims


def outcome(by_reading):
    """Of a claim: every (it holds under every reading), some, none, or undecided"""
    holds = [c["holds"] for c in by_reading.values()]
    if True in holds:
        return "every" if all(holds) else "some"
    return "undecided" if None in holds else "none"


def by_reading(r):
    """For each reading whether each claim holds that was tried under it or needs none"""
    claims = [{reading: c["holds"] for reading, c in tried.items()} for tried in distinct(r).values()]
    names = [reading for tried in claims for reading in tried if reading]
    return {n: [tried.get(n, tried.get("")) for tried in claims if n in tried or "" in tried]
            for n in dict.fromkeys(names or [""])}


def verdict(r):
    """(in a word, with what stands behind it). One reading must serve all claims of a figure"""
    if r["verdict"] not in ("reproduced", "differs") or not distinct(r):
        return r["verdict"], r["verdict"]
    tried = by_reading(r)
    best = max(tried.values(), key=lambda held: (False not in held, held.count(True) / len(held)))
    word = ("in part" if False in best else
            "under a reading" if any(False in held for held in tried.values()) else "reproduced")
    more = f": {best.count(True)} of {len(best)} claims" if word == "in part" else ""
    if None in best:
        more += f", {best.count(None)} undecided"
    if len(tried) > 1:
        more += "".join(f"<br>{n}: {held.count(True)} of {len(held)}" for n, held in tried.items())
    return word, f"**{word}**{more}"


def totals(results):
    words = [verdict(r)[0] for r in results]
    order = ["reproduced", "under a reading", "in part"]
    counts = [f"{words.count(w)} {w}" for w in [*order, *sorted(set(words) - {*order})] if w in words]
    claims = [outcome(c) for r in results for c in distinct(r).values()]
    reduced = sum(r["size"] != "full" for r in results)
    size = ("all at the papers' sizes" if not reduced else
            f"{len(results) - reduced} at the papers' sizes and {reduced} reduced (marked *quick*)")
    none, open_claims = claims.count("none"), claims.count("undecided")
    last = (f"{none} hold under none, and {open_claims} {'is' if open_claims == 1 else 'are'} undecided"
            if open_claims else f"and {none} hold under none")
    return (f"This page has {len(results)} figures, {size}. The verdicts on them are {', '.join(counts)}. "
            f"The figures make {len(claims)} claims, of which {claims.count('every')} hold, "
            f"{claims.count('some')} hold under some reading, {last}.\n")


def command(r):
    return f"repro/run.py {'--full ' if r['size'] == 'full' else ''}{r['name']}"


def summary(results):
    """A line for each figure: paper, result, command, verdict"""
    yield head("paper", "result", "command", "verdict")
    for r in results:
        quick = "" if r["size"] == "full" else f" ({r['size']})"
        yield row(SHORT.get(r["name"][:3], r["paper"]), f"[{r['name']}](#{r['name']}){quick} {r['title']}",
                  f"`{command(r)}`", verdict(r)[1])


def word(c):
    return {True: "holds", False: "does not hold", None: "undecided"}[c["holds"]]


def section(r):
    """A figure: its verdict, claims, statements of ours and pictures"""
    found, *readings = verdict(r)[1].split("<br>")
    found = found.replace("**: ", "**, ").replace(" claims", " claims hold")
    yield f"\n### {r['name']}\n\n" + head("figure", "verdict") + "\n" + row(r["title"], found) + "\n"
    if readings:
        yield of_readings(reading.rsplit(": ", 1) for reading in readings)
    if not r["claims"]:
        yield f"{r['reason']}.\n"
        return
    claims = distinct(r)
    open_settings = any(reading for c in claims.values() for reading in c)
    columns = ["the paper's claim", *["reading"] * open_settings, "our number", "verdict"]
    yield head(*columns)
    for text, by_reading in claims.items():
        for reading, c in by_reading.items():
            found = f"**{word(c)}**: {c['reason']}" if c["reason"] else word(c)
            yield row(text, *[reading] * open_settings, c["number"], found)
            text = ""
    for c in r["claims"]:
        if c["kind"] == "ours":
            yield row(f"*ours:* {c['text']}", *[""] * open_settings, c["number"],
                      "" if c["holds"] else "failed")
    yield ""
    yield from (f"![{r['title']}](images/repro/{p})" for p in r["pictures"])
    if r["commands"]:
        count = r["command_count"]
        ran = "one command" if count == 1 else f"{count} commands, of which this is the first"
        yield f"\nThe script `{command(r)}` runs {ran}:\n\n    {r['commands'][0]}"
    else:
        yield f"\nThe script `{command(r)}` writes this figure."


def of_readings(lines):
    return "\n".join((head("reading", "claims that hold"), *(row(*line) for line in lines))) + "\n"


def sections(results):
    paper = None
    for r in results:
        if r["paper"] != paper:
            paper = r["paper"]
            yield f"\n## {paper}"
            yield from all_readings([q for q in results if q["paper"] == paper])
        yield from section(r)


def all_readings(results):
    """Over the figures of a paper for which a reading matters: how many claims hold under it"""
    count = {}
    for r in results:
        for reading, held in by_reading(r).items():
            if reading:
                count.setdefault(reading, []).extend(held)
    if count:
        yield "\nThe table counts the claims over all figures of this paper that depend on a reading:\n"
        yield of_readings((reading, f"{held.count(True)} of {len(held)}")
                          for reading, held in count.items()).rstrip()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/repro", help="where the results are")
    p.add_argument("--docs", type=pathlib.Path, help="where the page goes (default: beside the results)")
    args = p.parse_args()
    stored = ROOT / "repro/results.json"
    folder, results = args.docs or args.out, read_results(args.out, stored if args.docs else pathlib.Path())
    images = folder / "images/repro"
    images.mkdir(parents=True, exist_ok=True)
    for r in results:
        for picture in r["pictures"]:
            if not (args.out / r["size"] / picture).exists():
                continue  # the docs have it from before
            shutil.copyfile(args.out / r["size"] / picture, images / picture)
            figure = (args.out / r["size"] / picture).with_suffix(".figure.json")
            if figure.exists():
                shutil.copyfile(figure, images / figure.name)
    page = folder / "reproduction.md"
    parts = [TITLE, "", totals(results), *summary(results), "", EXPLANATION, *sections(results)]
    page.write_text("\n".join(parts) + "\n")
    if args.docs:
        stored.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    print(page)


if __name__ == "__main__":
    main()
