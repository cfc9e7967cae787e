#!/usr/bin/env python3
"""Runs figures one after another: repro/run.py [--full] [NAME...]

NAME is a figure such as 000-2a; without a name all figures run, and report.py writes their page. Results are
cached, so an interrupted run continues where it stopped. The exit status is 1 if a check failed. Under mpirun
or srun the ranks share the commands of every figure out (harness.py); rank 0 prints.
"""
import pathlib
import re
import subprocess
import sys
import time

from harness import RANK, options

HERE = pathlib.Path(__file__).resolve().parent


def figures():
    """The command of each figure, by name. A script makes the figure of its file name, or those of its table
    FIGURES"""
    commands = {}
    for script in HERE.glob("fig_*.py"):
        rows = re.findall(r'^    "(\d{3}-\w+)": ', script.read_text(), re.MULTILINE)
        commands.update({name: [str(script), name] for name in rows})
        if not rows:
            commands[script.stem.removeprefix("fig_").replace("_", "-")] = [str(script)]
    return dict(sorted(commands.items()))


def main():
    p = options(__doc__.splitlines()[0])
    p.add_argument("names", nargs="*", metavar="NAME", help="the figures to run (default: all)")
    args, commands = p.parse_args(), figures()
    unknown = [n for n in args.names if n not in commands]
    if unknown:
        sys.exit(f"'{unknown[0]}' must be one of {', '.join(commands)}")
    chosen = ["--out", str(args.out), "--threads", str(args.threads)]
    chosen += [f"--{o.replace('_', '-')}" for o in ("full", "no_pictures") if getattr(args, o)]
    start, names = time.monotonic(), args.names or list(commands)
    failed, unchecked = [], {}
    for name in names:
        command = [sys.executable, *commands[name], *chosen]
        if RANK > 0:  # what it finds, rank 0 finds, too
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            continue
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            for line in run.stdout:
                print(line, end="", flush=True)
                _, said, why = line.rstrip("\n").partition(": cannot be checked: ")
                if said:
                    unchecked.setdefault(why, []).append(name)
        if run.returncode:
            failed.append(name)
    if RANK > 0:
        return 0
    without = sum(map(len, unchecked.values()))
    print(f"\n{len(names) - len(failed) - without} passed, {len(failed)} failed, {without} not checked in "
          f"{time.monotonic() - start:.0f} s" + (f"; failed: {' '.join(failed)}" if failed else ""))
    for why, without_data in unchecked.items():
        print(f"not checked: {why} ({', '.join(without_data)})")
    if not args.names:
        subprocess.run([sys.executable, str(HERE / "report.py"), "--out", str(args.out)], check=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
