#!/usr/bin/env python3
"""Line coverage of a build of the coverage preset, from its tests and from the fuzzers' corpora together.

usage: coverage.py BUILD            run `make coverage`, which makes the profiles first

Prints a line per room, and the files below their bound. The exit status is 1 where a room is below its bound.
"""
import glob, json, os, subprocess, sys

build = os.path.realpath(sys.argv[1])
root = os.path.dirname(build)
BOUNDS = [("src/io", 95), ("cli", 85), ("src", 95)]  # the first that fits

profiles = glob.glob(build + "/profiles/*.profraw")
if not profiles:
    sys.exit("no profiles in %s/profiles: run make coverage" % build)
merged = build + "/all.profdata"
with open(build + "/profiles.txt", "w") as f:
    f.write("\n".join(profiles))
subprocess.run(["llvm-profdata", "merge", "-sparse", "-failure-mode=all", "-f", build + "/profiles.txt",
                "-o", merged], check=True, stderr=subprocess.DEVNULL)
programs = [p for p in [build + "/kspec", build + "/kspec-hdf5"] + glob.glob(build + "/tests/test_*") +
            glob.glob(build + "/fuzz/fuzz_*") if os.path.isfile(p) and os.access(p, os.X_OK)]
command = ["llvm-cov", "export", "-format=lcov", "-instr-profile", merged, programs[0]]
for p in programs[1:]:
    command += ["-object", p]
lcov = subprocess.run(command, check=True, capture_output=True, text=True).stdout

# a line counts once, however many instruction sets it is compiled for: hit where any of them hits it
hit, name = {}, None
for line in lcov.splitlines():
    if line.startswith("SF:"):
        name = os.path.relpath(os.path.realpath(line[3:]), root)
        hit.setdefault(name, {})
    elif line.startswith("DA:") and name:
        number, count = line[3:].split(",")[:2]
        hit[name][int(number)] = hit[name].get(int(number), 0) + int(count)

rooms, low, status = {}, [], 0
for name, lines in sorted(hit.items()):
    if not name.startswith(("src/", "cli/")) or not lines:
        continue
    room = "cli" if name.startswith("cli/") else "/".join(name.split("/")[:2])
    bound = next(b for prefix, b in BOUNDS if name.startswith(prefix))
    done = sum(1 for c in lines.values() if c)
    total = rooms.setdefault(room, [0, 0, bound])
    total[0] += done
    total[1] += len(lines)
    if 100 * done < bound * len(lines):
        missing = sorted(n for n, c in lines.items() if not c)
        some = ",".join(map(str, missing[:12])) + (",..." if len(missing) > 12 else "")
        low.append("  %-32s %5.1f%%  lines %s" % (name, 100 * done / len(lines), some))
for room, (done, lines, bound) in sorted(rooms.items()):
    below = 100 * done < bound * lines
    status |= below
    print("%-16s %6d of %6d lines %6.1f%%   at least %d%%%s" % (room, done, lines, 100 * done / lines, bound,
                                                                 "   BELOW" if below else ""))
if low:
    print("files below the bound of their room:")
    print("\n".join(low))
sys.exit(status)
