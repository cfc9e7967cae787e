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
INTRODUCTION = """\
# Every figure of the four papers

`make repro` runs every figure in a quick version: smaller sizes and fewer draws, about five minutes on two
quiet cores. `make repro-full` runs them at the papers' sizes: hours, but an interrupted run continues where
it stopped. `make repro-docs` writes this page. `python3 repro/run.py 000-A1b` runs one figure, with `--full`
at the paper's size. Under `mpirun` or `srun` the ranks share the commands out (docs/explanation/scale.md).

Each figure has a script in `repro/`, or a row of a script's table. It runs `kspec`, draws the figure, and
checks in numbers what the paper says about it. Some papers leave a setting open. Then a claim is tried under
each reading, and counts once. *Reproduced*: every claim holds under every reading. *Depends on the reading*:
every claim holds under some reading. *Differs*: some claim holds under none. Lines marked “ours” are
statements of this project, which must hold. None of the readings can be confirmed: the papers do not publish
their programs."""
# What a paper leaves open, as the claims name it
READINGS = re.compile(r"(?:, )?(as printed|min–max, σ = 1|unit rows|unit columns"
                      r"|images centred, mean \|x\|² = 1"
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


def claims_of(r):
    return [c for c in r["claims"] if c["kind"] == "claim"]


def distinct(r):
    """The claims of a figure: for each its text without the reading, and whether it holds, by reading"""
    claims = {}
    for c in claims_of(r):
        reading = ", ".join(READINGS.findall(c["text"])) or "as stated"
        claims.setdefault(READINGS.sub(": ", c["text"]).removeprefix(": "), {})[reading] = c["holds"]
    return claims


def verdict(r):
    if r["verdict"] not in ("reproduced", "differs") or not claims_of(r):
        return r["verdict"]
    by_claim = [set(holds.values()) for holds in distinct(r).values()]
    return ("reproduced" if all(s == {True} for s in by_claim)
            else "depends on the reading" if all(True in s for s in by_claim) else "differs")


def best_readings(r):
    """The share of the claims that hold under each reading, where there are several"""
    count = {}
    for holds in distinct(r).values():
        for reading, held in holds.items():
            count.setdefault(reading, []).append(held)
    if len(count) < 2:
        return ""
    return "; ".join(f"{reading}: {sum(held)} of {len(held)}" for reading, held in count.items())


def link(r):
    return f"[{r['name']}](#{r['name']}) ({r['size']})"


def summary(results):
    """The totals, and a line for each figure: paper, result, command, verdict"""
    verdicts = [verdict(r) for r in results]
    counts = sorted(((verdicts.count(v), v) for v in set(verdicts)), reverse=True)
    claims = [holds for r in results for holds in distinct(r).values()]
    every, some = sum(all(h.values()) for h in claims), sum(any(h.values()) for h in claims)
    yield (f"{len(results)} figures (some are pairs of panels): " + ", ".join(f"{v} {n}" for n, v in counts)
           + f". Of {len(claims)} claims {every} hold under every reading, {some - every} under some, "
           f"{len(claims) - some} under none.\n")
    yield head("paper", "result", "command", "verdict", "claims: hold / hold under some reading / all",
               "by reading")
    for r, v in zip(results, verdicts):
        found = distinct(r).values()
        run = f"`repro/run.py {'--full ' if r['size'] == 'full' else ''}{r['name']}`"
        pictures = " ".join(f"[{i}](images/repro/{p})" for i, p in enumerate(r["pictures"], 1))
        yield row(f"[{r['name']}](#{r['name']})", f"{r['title']} {pictures}", f"{run} ({r['size']})", v,
                  f"{sum(all(h.values()) for h in found)} / {sum(any(h.values()) for h in found)} / "
                  f"{len(found)}", best_readings(r))


def claim_tables(results):
    """A table for each paper, with a line for each claim"""
    paper = None
    for r in results:
        if r["paper"] != paper:
            paper = r["paper"]
            yield f"\n## {paper}\n\n" + head("figure", "the paper's claim", "our number", "verdict", "reason")
        first = f"{link(r)}<br>**{verdict(r)}**"
        if not r["claims"]:
            yield row(first, r["title"], "", r["verdict"], r["reason"])
        for c in r["claims"]:
            ours = c["kind"] == "ours"
            found = "differs" if c["reason"] else "failed" if not c["holds"] else "" if ours else "holds"
            yield row(first, ("ours: " if ours else "") + c["text"], c["number"], found, c["reason"] or "")
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
    parts = [INTRODUCTION, "", *summary(results), *claim_tables(results), *picture_sections(results)]
    page.write_text("\n".join(parts) + "\n")
    if args.docs:
        stored.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    print(page)


if __name__ == "__main__":
    main()
