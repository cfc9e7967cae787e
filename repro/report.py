#!/usr/bin/env python3
"""Writes docs/reproduction.md from the results: repro/report.py [--out FOLDER] [--docs FOLDER]

Each figure's full result is taken where there is one, else the quick one. Without --docs the page is written beside the
results, with its pictures; `make repro-docs` writes docs/.
"""
import argparse
import json
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
p = argparse.ArgumentParser()
p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/repro")
p.add_argument("--docs", type=pathlib.Path)
args = p.parse_args()
page = (args.docs or args.out) / "reproduction.md"
images = (args.docs or args.out) / "images/repro"
images.mkdir(parents=True, exist_ok=True)

results = {}
for size in ("quick", "full"):
    for f in sorted((args.out / size).glob("[0-9]*.json")):
        r = json.loads(f.read_text())
        if "verdict" in r and not (r["verdict"] == "cannot be checked" and r["name"] in results):
            results[r["name"]] = r


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


lines = ["# Every figure of the four papers", "",
         "Made by `make repro` (quick: smaller sizes and fewer draws; about five minutes on two quiet cores) and `make repro-full` "
         "(the papers' sizes, hours, goes on where it stopped), then `make repro-docs`. A script per figure is in `repro/`; it runs "
         "`kspec`, draws, and checks in numbers what the paper says of the figure. *Reproduced*: every claim of the paper holds. "
         "*Differs*: at least one does not, with the reason. Lines marked “ours” are statements of this project that must hold.", ""]
count = {}
for r in results.values():
    count[r["verdict"]] = count.get(r["verdict"], 0) + 1
stated = [c["holds"] for r in results.values() for c in r["claims"] if c["kind"] == "claim"]
lines += [f"{len(results)} scripts, one for each figure or pair of its panels: " + ", ".join(f"{n} {v}" for v, n in sorted(count.items(), key=lambda c: -c[1])) + f"; of {len(stated)} claims {sum(stated)} hold.", ""]

lines += ["| figure | what it shows | claims that hold | verdict | where not, why | picture |", "|---|---|---|---|---|---|"]
for name in sorted(results):
    r = results[name]
    claims = [c for c in r["claims"] if c["kind"] == "claim"]
    reasons = [r["reason"]] if r["reason"] else list(dict.fromkeys(c["reason"] for c in claims if c["reason"]))
    pictures = " ".join(f"[{i + 1}](images/repro/{p})" for i, p in enumerate(r["pictures"]))
    lines.append(f"| [{name}](#{name}) ({r['size']}) | {cell(r['title'])} | {sum(c['holds'] for c in claims)} of {len(claims)} | {r['verdict']} | "
                 f"{cell('; '.join(reasons))} | {pictures} |")

paper = None
for name in sorted(results):
    r = results[name]
    if r["paper"] != paper:
        paper = r["paper"]
        lines += ["", f"## {paper}", "", "| figure | the paper's claim | our number | verdict | reason |", "|---|---|---|---|---|"]
    rows = r["claims"] or [{"kind": "claim", "text": r["title"], "number": "", "holds": False, "reason": r["reason"]}]
    for i, c in enumerate(rows):
        verdict = r["verdict"] if not r["claims"] else "" if c["kind"] == "ours" and c["holds"] else "holds" if c["holds"] else "differs" if c["reason"] else "failed"
        first = f"[{name}](#{name}) ({r['size']})<br>**{r['verdict']}**" if i == 0 else ""
        lines.append(f"| {first} | {'ours: ' if c['kind'] == 'ours' else ''}{cell(c['text'])} | {cell(c['number'])} | {verdict} | {cell(c['reason'] or '')} |")

lines += ["", "## Pictures"]
for name in sorted(results):
    r = results[name]
    lines += ["", f"### {name}", "", f"{r['title']}. `repro/fig_{name.replace('-', '_')}.py{' --full' if r['size'] == 'full' else ''}`"
              + (f": {r['command_count']} commands, the first `{r['commands'][0]}`" if r["commands"] else "") + ".", ""]
    for picture in r["pictures"]:
        shutil.copyfile(args.out / r["size"] / picture, images / picture)
        lines += [f"![{r['title']}](images/repro/{picture})"]
page.write_text("\n".join(lines) + "\n")
print(page)
