#!/usr/bin/env python3
"""Runs the scripts of all figures, or of those named, one after another: repro/run.py [--full] [NAME...]

A NAME is 000-2a. What was computed before is not computed again, so a run that was interrupted goes on where
it stopped. Ends with what could not be checked for want of data, a table, and exit status 1 where a check
failed.
"""
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
options = [a for a in sys.argv[1:] if a.startswith("-")]
names = [a for a in sys.argv[1:] if not a.startswith("-")]
scripts = sorted(HERE.glob("fig_*.py"))
by_name = {s.stem.removeprefix("fig_").replace("_", "-"): s for s in scripts}
unknown = [n for n in names if n not in by_name]
if unknown:
    sys.exit(f"no figure {unknown[0]}; there are {' '.join(by_name)}")

start, failed, unchecked = time.monotonic(), [], {}
for name in names or by_name:
    command = [sys.executable, str(by_name[name]), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as script:
        for line in script.stdout:
            print(line, end="", flush=True)
            _, said, why = line.rstrip("\n").partition(": cannot be checked: ")
            if said:
                unchecked.setdefault(why, []).append(name)
    if script.returncode:
        failed.append(name)
without = sum(map(len, unchecked.values()))
passed = len(names or by_name) - len(failed) - without
print(f"\n{passed} passed, {len(failed)} failed, {without} not checked in {time.monotonic() - start:.0f} s"
      + (f"; failed: {' '.join(failed)}" if failed else ""))
for why, figures in unchecked.items():
    print(f"not checked: {why} ({', '.join(figures)})")
if not names:
    subprocess.run([sys.executable, str(HERE / "report.py")], check=True)
sys.exit(1 if failed else 0)
