"""Stands for the tool in its own tests: every command that shares work runs under mpirun, too.

What one process prints, writes and ends with goes to the test. The same command then runs with each number of
ranks under each MPI, and must print and write the same bytes, but for times. A command is tried once for its
arguments, the contents of its files and its input, whatever the number of threads and the instruction set.
KSPEC_SAME is a JSON object of run.py: the tool, the launchers, the numbers of ranks, the log.
"""
import hashlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys

SHARES = "moments norm ridge learn spectrum wls dimension compare report".split()
TIMES = re.compile(rb'"(?:(?:train_|measure_)?seconds|gfma_per_s|time)": *[^,\n}]*|'
                   rb"\b[0-9.]+ s\b|\b[0-9.]+ Gfma/s")
# Open MPI's own lines are not the tool's
SPOKEN = re.compile(rb"^kspec: .*$", re.M)


def contents(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return None


def plain(data):
    """Without times: of a table with a column of them, its first line"""
    if data and b"seconds" in data and not data.startswith(b"{"):
        return data.split(b"\n")[0]
    return data and TIMES.sub(b"", data)


def written(arguments):
    """The files that the command names, with what is in them"""
    return {a: plain(contents(a)) for a in arguments if os.path.isfile(a)}


def run(command, given, preload=None):
    environment = {**os.environ, "LD_PRELOAD": preload} if preload else None
    p = subprocess.run(command, input=given, capture_output=True, env=environment)
    return p.returncode, p.stdout, p.stderr


def main():
    how = json.loads(os.environ["KSPEC_SAME"])
    arguments = sys.argv[1:]
    os.environ.pop("KSPEC_MPI", None)
    shares = bool(arguments) and arguments[0] in SHARES and "--checkpoint" not in arguments
    if not shares:
        os.execv(how["kspec"], [how["kspec"], *arguments])
    given = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    key = hashlib.sha256(given)
    for a, before in zip(arguments, ["", *arguments]):
        if "--threads" not in (a, before):
            key.update(a.encode(errors="surrogateescape") + b"\0" + (contents(a.lstrip("@")) or b"") + b"\0")
    alone = run([how["kspec"], *arguments], given)
    seen = os.path.join(how["log"], key.hexdigest())
    fresh = not os.path.exists(seen)
    pairs = list(itertools.product(how["launchers"], how["ranks"]))
    if fresh and how["each"]:
        pairs = [pairs[int(key.hexdigest(), 16) % len(pairs)]]
    if fresh and alone[0] >= 0:
        lines = []
        files = written(arguments)
        for launcher, ranks in pairs:
            command = ["timeout", "-k", "5", "300", launcher, "-n", str(ranks), how["kspec"], *arguments]
            status, out, err = run(command, given, how["rest"])
            if status == -signal.SIGPIPE:  # of MPICH's launcher itself, whose helper had ended before it
                status, out, err = run(command, given, how["rest"])
            differ = [what for what, a, b in [
                ("status", alone[0], status), ("output", plain(alone[1]), plain(out)),
                ("files", files, written(arguments)),
                ("messages", SPOKEN.findall(alone[2]), SPOKEN.findall(err))] if a != b]
            lines.append(f"{'differ' if differ else 'same'} {os.path.basename(launcher)} {ranks} "
                         f"{' '.join(arguments)} {' '.join(differ)}\n")
            if differ:
                lines.append(f"# {plain(alone[1])[:2000]!r} {alone[2][:300]!r}\n"
                             f"# {status} {plain(out)[:2000]!r} {err[:600]!r}\n")
        with open(seen, "w") as f:
            f.writelines(lines)
    sys.stdout.buffer.write(alone[1])
    sys.stderr.buffer.write(alone[2])
    sys.stdout.flush()
    sys.exit(alone[0] if alone[0] >= 0 else 128 - alone[0])


main()
