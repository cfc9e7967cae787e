#!/usr/bin/env python3
"""Mutation testing of src/moments: one operator is changed at a time, and a test should notice.

usage: mutants.py [--count N (100)] [--seed S (1)] [--room src/moments]      after make: uses build/

Each mutant is one changed file, linked in place of the library's own into the tests of the room. Prints the
mutants that no test noticed, and the share that one did. A mutant that makes a test hang is noticed.
"""
import argparse, glob, os, random, re, subprocess, sys

args = argparse.ArgumentParser()
args.add_argument("--count", type=int, default=100)
args.add_argument("--seed", type=int, default=1)
args.add_argument("--room", default="src/moments")
args = args.parse_args()
root = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
os.chdir(root)
work = root + "/build-mutants"
os.makedirs(work, exist_ok=True)
# the quickest first: most mutants end there
TESTS = ["moments", "dimension", "dimension_sums", "plan", "exact_plan", "path", "exact"]
TESTS = [t for t in TESTS if os.path.exists("build/tests/test_" + t)]
SWAPS = [(r"(?<![+\w])\+(?![+=])", "-"), (r"(?<=[\w)\]] )-(?= )", "+"), (r"(?<=[\w)\]] )\*(?= )", "+"),
         (r"(?<= )<(?= )", "<="), (r"(?<= )<=(?= )", "<"), (r"(?<= )>(?= )", ">="), (r"(?<= )>=(?= )", ">"),
         (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="), (r"&&", "||"), (r"\|\|", "&&"),
         (r"(?<= )\+=(?= )", "-="), (r"(?<= )-=(?= )", "+="), (r"(?<= )/(?= )", "*"),
         (r"(?<=[( ])0(?=[,;) ])", "1"), (r"(?<=[( ])1(?=[,;) ])", "2")]


def places(path):
    """(line, column, length, replacement) of everything that can be changed in the code of a file"""
    text = open(path).read()
    code = re.sub(r"/\*.*?\*/|\"(\\.|[^\"\\])*\"|^#.*?$", lambda m: re.sub(r"[^\n]", "~", m.group()), text,
                  flags=re.S | re.M)
    for number, line in enumerate(code.split("\n")):
        if re.search(r"ks_check_memory|ks_nomem|ks_run_part|enum \{|alloc|ks_size|take_|TILE|bytes", line):
            continue  # how much memory is asked for, how far it has come, the size of blocks: not a result
        for pattern, new in SWAPS:
            for m in re.finditer(pattern, line):
                yield number, m.start(), len(m.group()), new


every = [(f,) + p for f in sorted(glob.glob(args.room + "/*.c")) for p in places(f)]
random.Random(args.seed).shuffle(every)
flags = re.findall(r"^C_(?:FLAGS|DEFINES|INCLUDES) = (.*)$",
                   open("build/CMakeFiles/kspec_objects.dir/flags.make").read(), re.M)
tried = noticed = broken = 0
for path, number, column, length, new in every:
    if tried == args.count:
        break
    lines = open(path).read().split("\n")
    old = lines[number]
    lines[number] = old[:column] + new + old[column + length:]
    mutant, obj = work + "/" + os.path.basename(path), work + "/mutant.o"
    open(mutant, "w").write("\n".join(lines))
    compiler = "cc %s -O1 -w -I %s -c %s -o %s" % (" ".join(flags), os.path.dirname(path), mutant, obj)
    if subprocess.run(compiler, shell=True, cwd="build", capture_output=True).returncode:
        broken += 1
        continue
    tried += 1
    seen = None
    for t in TESTS:
        link = open("build/tests/CMakeFiles/test_%s.dir/link.txt" % t).read()
        link = re.sub(r"-o \S+", "-o " + work + "/test", link)
        link = link.replace("../libkspec.a", obj + " ../libkspec.a", 1)
        if subprocess.run(link, shell=True, cwd="build/tests", capture_output=True).returncode:
            seen = "link"
            break
        try:
            if subprocess.run([work + "/test"], capture_output=True, timeout=120, cwd=work).returncode:
                seen = t
        except subprocess.TimeoutExpired:
            seen = t + " (hangs)"
        if seen:
            break
    noticed += seen is not None
    if not seen:
        print("not noticed: %s:%d: %s -> %s in: %s" % (path, number + 1, old[column:column + length], new,
                                                       old.strip()), flush=True)
print("%d of %d mutants of %s noticed (%.0f%%); %d more do not compile" %
      (noticed, tried, args.room, 100 * noticed / max(1, tried), broken))
