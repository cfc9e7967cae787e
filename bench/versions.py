"""Times the tool's commands in several builds: did a change make any of them slower?

    python3 bench/versions.py KSPEC KSPEC... [--repeats 9] [--core N] [--json FILE] [--only WORD]

Each KSPEC is a program, the first of which made before the change. Every run is a process of its own, with
one thread and pinned to core N. The builds take turns, in an order that rotates. The table has the least
processor time of each build, and its ratio to the first one's. docs/measurements/benchmarks.md quotes it.
"""

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

DATA = {  # name: rows, columns, dimension, noise; the seed is the place in this list
    "x.npy": (1500, 1000, 5, 0),
    "x.csv": (400, 120, 3, 0),
    "y.npy": (800, 600, 5, 0),
    "z.npy": (800, 500, 5, 0),
    "s.npy": (240, 200, 4, 0.3),
    "g.npy": (2500, 20, 4, 0),
    "t.npy": (500, 8, 3, 0),
    "v.npy": (500, 1, 3, 0.3),
    "n.npy": (7000, 20, 4, 0),
}
COMMANDS = {
    "moments, path": "moments x.npy --estimator path -n 6",
    "moments, exact": "moments x.npy --estimator exact -n 3",
    "moments of a table": "moments x.csv -n 2",
    "dimension": "dimension x.npy --center=rows",
    "spectrum": "spectrum s.npy --center=none",
    "spectrum, from moments": "spectrum s.npy --method moments",
    "compare": "compare y.npy z.npy --center=rows",
    "norm": "norm n.npy --method lanczos --sigma 5 --seed 1",
    "ridge": "ridge t.npy --target v.npy --features 200,1000 --lambda 0.1,0.01 --sigma 2 --empirical 1",
    "ridge, draws": "ridge t.npy --target v.npy --features 100,400 --lambda 0.1 --sigma 2 --empirical 20",
    "wls theory": "wls theory --grid 512 --learn 4-2048:4 --modes 2048 --gamma 0.3",
    "wls decay": "wls decay g.npy --sigma 2",
    "generate rff": "generate rff --rows 3000 --cols 3000 --dim 200 --seed 1 -o made.npy",
    "generate gaussian": "generate gaussian --rows 2000 --cols 2000 --dim 100 --eta 0.9 --seed 1 -o made.npy",
    "learn": "learn --images images --labels labels --test-images images --width 256 --epochs 3 --seed 1",
}


def make_data(kspec):
    for seed, (name, (rows, cols, dim, noise)) in enumerate(DATA.items(), 1):
        line = f"generate rff --rows {rows} --cols {cols} --dim {dim} --noise {noise} --seed {seed} -o {name}"
        subprocess.run([kspec, *line.split()], check=True, stdout=subprocess.DEVNULL)
    draw, n = random.Random(1), 1500
    with open("images", "wb") as f:
        f.write(struct.pack(">IIII", 0x803, n, 14, 14) + bytes(draw.randrange(256) for _ in range(n * 196)))
    with open("labels", "wb") as f:
        f.write(struct.pack(">II", 0x801, n) + bytes(draw.randrange(10) for _ in range(n)))


def seconds(kspec, line):
    """The processor time of one call."""
    env = dict(os.environ, KSPEC_THREADS="1", OPENBLAS_NUM_THREADS="1")
    quiet = subprocess.DEVNULL
    call = subprocess.Popen([kspec, *line.split()], env=env, stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(call.pid, 0)
    call.returncode = os.waitstatus_to_exitcode(status)
    if call.returncode:
        sys.exit(f"versions: {kspec} {line}: exit status {call.returncode}")
    return used.ru_utime + used.ru_stime


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("builds", nargs="+", metavar="KSPEC", type=os.path.realpath)
    p.add_argument("--repeats", type=int, default=9)
    p.add_argument("--core", type=int)
    p.add_argument("--json", type=os.path.realpath)
    p.add_argument("--only", default="", help="commands whose name contains WORD")
    a = p.parse_args()
    if a.core is not None:
        os.sched_setaffinity(0, {a.core})
    times = {}
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        os.chdir(folder)
        make_data(a.builds[0])
        for name, line in COMMANDS.items():
            if a.only not in name:
                continue
            all_of = times[name] = [[] for _ in a.builds]
            for k in range(a.repeats):
                for j in range(len(a.builds)):
                    i = (j + k) % len(a.builds)
                    all_of[i].append(seconds(a.builds[i], line))
            least = [min(t) for t in all_of]
            print(f"| {name} |", *(f"{t:.3f} s, {t / least[0]:.2f} |" for t in least), flush=True)
            if a.json:
                with open(a.json, "w") as f:
                    json.dump({"builds": a.builds, "seconds": times}, f)
        os.chdir("/")


if __name__ == "__main__":
    main()
