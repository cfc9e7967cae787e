#!/usr/bin/env python3
"""Mutation testing of src/moments: one operator is changed at a time, and a test should notice.

usage: mutants.py [--first K (1)] [--count N (100)] [--seed S (1)] [--room src/moments] [--jobs N]
       after make: uses build/

Each mutant is one changed file, linked in place of the library's own into the tests of the room. Prints the
mutants that no test noticed, and the share that one did. A mutant that makes a test hang is noticed: after
SECONDS of processor time, as other work on the machine does not count, or ten times as many by the clock.
"""
import argparse, concurrent.futures, glob, os, random, re, resource, shutil, subprocess, tempfile

args = argparse.ArgumentParser()
args.add_argument("--first", type=int, default=1)
args.add_argument("--count", type=int, default=100)
args.add_argument("--seed", type=int, default=1)
args.add_argument("--room", default="src/moments")
args.add_argument("--jobs", type=int, default=os.cpu_count())
args = args.parse_args()
root = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
os.chdir(root)
os.environ["KSPEC_LIBEXEC"] = root + "/build"  # where the tests find kspec-hdf5
os.environ["MALLOC_PERTURB_"] = "165"  # what was not set is not 0
# the quickest first: most mutants end there
TESTS = ["result", "moments", "dimension_sums", "pairs", "missing", "rounding", "exact_plan", "holes", "plan",
         "ratio", "dimension", "path_groups", "path", "groups", "exact", "exact_terms", "contract"]
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


SECONDS = 120


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


order = {}  # of the tests, by file: the one that noticed a change of it last comes first


def try_tests(work, obj, path):
    """The first test that notices the changed object, None where none does"""
    for t in list(order.setdefault(path, list(TESTS))):
        link = open("build/tests/CMakeFiles/test_%s.dir/link.txt" % t).read()
        link = re.sub(r"-o \S+", "-o " + work + "/test", link)
        link = link.replace("../libkspec.a", obj + " ../libkspec.a", 1)
        if subprocess.run(link, shell=True, cwd="build/tests", capture_output=True).returncode:
            return "link"
        try:
            if not subprocess.run([work + "/test"], capture_output=True, timeout=10 * SECONDS, cwd=work,
                                  preexec_fn=limit).returncode:
                continue
        except subprocess.TimeoutExpired:
            pass
        order[path] = [t] + [u for u in order[path] if u != t]
        return t
    return None


def attempt(mutant):
    """(what the mutant is, does it compile, which test notices it)"""
    path, number, column, length, new = mutant
    lines = open(path).read().split("\n")
    old = lines[number]
    lines[number] = old[:column] + new + old[column + length:]
    what = "%s:%d: %s is now %s" % (path, number + 1, old.strip(), lines[number].strip())
    work = tempfile.mkdtemp(prefix="mutant-")
    try:
        source, obj = work + "/" + os.path.basename(path), work + "/mutant.o"
        open(source, "w").write("\n".join(lines))
        room = os.path.join(root, os.path.dirname(path))
        compiler = "cc %s -O1 -w -I %s -c %s -o %s" % (" ".join(flags), room, source, obj)
        if subprocess.run(compiler, shell=True, cwd="build", capture_output=True).returncode:
            return what, False, None
        return what, True, try_tests(work, obj, path)
    finally:
        shutil.rmtree(work, ignore_errors=True)


# as given, no test may fail
first = every[0]
if attempt(first[:3] + (0, ""))[2]:
    raise SystemExit("a test of %s fails without any change" % args.room)
tried = noticed = broken = 0
with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    share = every[args.first - 1:args.first - 1 + args.count]
    for number, (what, compiles, seen) in enumerate(pool.map(attempt, share), args.first):
        if not compiles:
            broken += 1
            continue
        tried += 1
        noticed += seen is not None
        if tried % 20 == 0:
            print("%d of %d noticed, to number %d" % (noticed, tried, number), flush=True)
        if not seen:
            print("not noticed, number %d: %s" % (number, what), flush=True)
print("%d of %d mutants of %s noticed (%.0f%%), of %d places; %d more do not compile" %
      (noticed, tried, args.room, 100 * noticed / max(1, tried), len(every), broken))
