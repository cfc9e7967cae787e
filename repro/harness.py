"""The harness of every figure: it runs kspec, caches the results, judges the paper's claims, and draws.

A script makes one Figure, asks it for results, states claims, and ends with finish():

    figure = Figure("000-2a", "Estimating the spectral moments …", "Moments of an RBF kernel")
    result = figure.kspec("moments", "x.npy", "-n", "3")             # the JSON, cached
    figure.claim("MSE below 1e-5", f"{mse:.2g}", mse < 1e-5)         # the paper's claim; False: "differs"
    figure.expect("path and exact agree", f"{gap:.1f} SE", gap < 4)  # our statement; False: the script fails
    figure.picture("moments", panels)
    figure.finish()

A claim that does not hold makes the verdict "differs" and needs a reason (differs="…"); without a reason the
script fails. So a script fails exactly when a result contradicts what this repository says.

Figures that differ by their settings alone share a script with a table FIGURES, one row per figure by name;
chosen() is the row that the command line names. `run.py NAME` runs any figure.

Under mpirun or srun every rank runs the same figures, and the cache is where they meet: a command is run by
the rank that comes to it first, and map() lets each rank come to other items first. Rank 0 alone judges and
writes.
"""
import argparse
import concurrent.futures
import contextlib
import fcntl
import hashlib
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = [os.path.abspath(folder)
        for folder in (os.environ.get("KSPEC_DATA"), ROOT / "data", ROOT.parent / "shared/data") if folder]


def launched(*variables):
    """The first of a launcher's variables that is set, as a number; None where none is"""
    return next((int(os.environ[v]) for v in variables if os.environ.get(v, "").isdecimal()), None)


RANK = launched("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID") or 0
RANKS = launched("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS") or 1
# how many of them share this machine
LOCAL_RANKS = launched("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE") or 1


def find_data(path):
    """A file of the data sets, in the first folder that has it; None where it is missing"""
    return next((f"{d}/{path}" for d in DATA if os.access(f"{d}/{path}", os.R_OK)), None)


def options(description, *, figures=True):
    """The command line of a script; figures: with the options that only figures have"""
    p = argparse.ArgumentParser(description=description)
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/repro", help="where results go")
    p.add_argument("--threads", type=int, default=max(1, os.cpu_count() // LOCAL_RANKS),
                   help="commands that run side by side")
    if figures:
        p.add_argument("--full", action="store_true", help="the paper's sizes (default: a quick version)")
        p.add_argument("--no-pictures", action="store_true", help="check the claims only")
    return p


def chosen(figures):
    """(name, settings): the row of a script's table that the first argument names"""
    name = sys.argv.pop(1) if len(sys.argv) > 1 else None
    if name not in figures:
        raise SystemExit(f"{sys.argv[0]}: the figure must be one of {', '.join(figures)}")
    return name, figures[name]


class Runs:
    """Runs kspec on the data sets and caches the results"""

    def __init__(self, name, args, full):
        self.name, self.args, self.full = name, args, full
        self.kspec_path = _tool(os.environ.get("KSPEC", str(ROOT / "build/kspec")))
        self.tool = _digest_of_tool(self.kspec_path)
        self.size = "full" if full else "quick"
        self.out = args.out / self.size
        self.cache = args.out / "cache"
        for d in (self.out, self.cache):
            d.mkdir(parents=True, exist_ok=True)
        self.commands = []
        if RANK > 0:
            sys.stdout = open(os.devnull, "w")

    def pick(self, quick, full):
        """One of two sizes"""
        return full if self.full else quick

    def data(self, path):
        """The path of a file of the data sets; ends by skip() where it is missing"""
        return find_data(path) or self.skip(f"no {path}", "run 'make data'")

    def skip(self, reason, remedy):
        raise NotImplementedError

    def kspec(self, *args, after=None, cached=True):
        """The JSON of a kspec command, cached by the tool, the arguments and the files among them.
        after: the arguments of a command to run first, whose file (`-o x.npy`) this one reads in a scratch
        folder. cached=False: run it anyway, as for times; rank 0 does, the others end the figure here"""
        args = [str(a) for a in args] + ["--json", "--quiet"]
        before = [str(a) for a in after] if after else None
        identity = [self.tool, before, args, [_stamp(a) for a in args]]
        kept = self.cache / f"{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]}.json"
        shown = " && ".join(_shown(c) for c in (before, args) if c)
        self.commands.append(shown.replace(os.path.abspath(self.args.out), "build/repro"))
        if RANK > 0 and not cached:
            os._exit(0)
        with self._claim(kept):
            if cached and kept.exists():
                return json.loads(kept.read_text())
            with tempfile.TemporaryDirectory() as scratch:
                if before:
                    self._run(before + ["--quiet"], scratch)
                text = self._run(args, scratch)
            partial = kept.with_suffix(f".{os.getpid()}.{id(args)}")
            partial.write_text(text)
            partial.rename(kept)
        return json.loads(text)

    @contextlib.contextmanager
    def _claim(self, kept):
        """Until it ends, no other rank makes this result: a lock on one byte of a file, that of its digest.
        It goes with a rank that is killed"""
        if RANKS == 1 or kept.exists():
            yield
            return
        byte = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, int(kept.stem[:15], 16), 1, 0)
        with open(self.cache / "locks", "a") as f:
            fcntl.fcntl(f, fcntl.F_OFD_SETLKW, byte)
            yield

    def _run(self, args, folder):
        r = subprocess.run([self.kspec_path, *args], cwd=folder, capture_output=True, text=True,
                           env={**os.environ, "KSPEC_MPI": "none"})
        if r.returncode:
            raise SystemExit(f"{self.name}: {_shown(args)}\n{self.name}: exit {r.returncode}: "
                             f"{r.stderr.strip()}")
        return r.stdout

    def map(self, function, items):
        """function of each item, several at a time (give the commands --threads 1); results in order"""
        items = list(items)
        # its own share first, then what is left of the others', from their ends
        order = [*range(RANK, len(items), RANKS)]
        for r in range(1, RANKS):
            order += reversed(range((RANK + r) % RANKS, len(items), RANKS))
        with concurrent.futures.ThreadPoolExecutor(self.args.threads) as pool:
            results = dict(zip(order, pool.map(lambda k: function(items[k]), order)))
        return [results[k] for k in range(len(items))]


class Figure(Runs):
    """One figure of a paper: its results, claims and pictures"""

    def __init__(self, name, paper, title):
        args = options(f"{paper}, figure {name}: {title}").parse_args()
        super().__init__(name, args, args.full)
        self.paper, self.title = paper, title
        self.claims, self.pictures = [], []
        self.start = time.monotonic()

    def skip(self, reason, remedy):
        self._write("cannot be checked", reason)
        print(f"{self.name}: cannot be checked: {reason}; {remedy}")
        sys.exit(0)

    # ---- claims ----

    def claim(self, text, number, holds, differs=None):
        """A claim of the paper; holds: None where that cannot be told; differs: why not, if that is known"""
        self._judge("claim", text, number, None if holds is None else bool(holds), differs)

    def expect(self, text, number, holds):
        """Our own statement, which must hold: it backs a reason, or is the claim as we read it"""
        self._judge("ours", text, number, bool(holds), None)

    def _judge(self, kind, text, number, holds, differs):
        reason = None if holds else differs
        self.claims.append({"kind": kind, "text": text, "number": str(number), "holds": holds,
                            "reason": reason})
        word = "ok" if holds else "FAILED" if not differs else "unknown" if holds is None else "differs"
        print(f"{self.name}: {word:8}{text}: {number}" + (f" ({reason})" if reason else ""), flush=True)

    # ---- pictures and the end ----

    def picture(self, suffix, panels, title=None, note=None):
        """Draws panels (the figure JSON of kspec plot) to NAME[-suffix].svg. note: what error bars or bands
        are, said below the first panel that has them"""
        if RANK > 0:
            return
        if note:
            next(p for p in panels if any("low" in s for s in p["series"]))["note"] = note
        stem = self.name + (f"-{suffix}" if suffix else "")
        source, picture = self.out / f"{stem}.figure.json", self.out / f"{stem}.svg"
        content = {"command": "figure", "title": title or self.title, "panels": panels}
        source.write_text(json.dumps(content, ensure_ascii=False) + "\n")
        if not self.args.no_pictures:
            self._run(["plot", str(source), "-o", str(picture)], ".")
            self.pictures.append(picture.name)

    def finish(self):
        claims = [c for c in self.claims if c["kind"] == "claim"]
        failed = [c for c in self.claims if not c["holds"] and not c["reason"]]
        if not self.claims:
            raise SystemExit(f"{self.name}: checked nothing")
        verdict = ("failed" if failed else "differs" if any(c["holds"] is False for c in claims) else
                   "reproduced")
        self._write(verdict, None)
        print(f"{self.name}: {verdict} ({self.size}, {time.monotonic() - self.start:.0f} s)")
        sys.exit(1 if failed else 0)

    def _write(self, verdict, reason):
        if RANK > 0:
            return
        partial = self.out / f".{self.name}.json"
        partial.write_text(json.dumps({
            "name": self.name, "paper": self.paper, "title": self.title, "size": self.size,
            "verdict": verdict, "reason": reason, "claims": self.claims, "pictures": self.pictures,
            "commands": self.commands[:1], "command_count": len(self.commands),
            "seconds": time.monotonic() - self.start}, indent=1))
        partial.rename(self.out / f"{self.name}.json")


# ---- small statistics ----

def mean(x):
    return math.fsum(x) / len(x)


def variance(x):
    """The unbiased estimate"""
    m = mean(x)
    return math.fsum((v - m) ** 2 for v in x) / (len(x) - 1)


def standard_error(x):
    return math.sqrt(variance(x) / len(x))


def quantile(x, q):
    """By linear interpolation between the order statistics"""
    s = sorted(x)
    at = q * (len(s) - 1)
    low = int(at)
    return s[low] + (at - low) * (s[min(low + 1, len(s) - 1)] - s[low])


def slope(x, y):
    """Of the least-squares line through log y against log x"""
    lx, ly = [math.log(v) for v in x], [math.log(v) for v in y]
    mx, my = mean(lx), mean(ly)
    return sum((a - mx) * (b - my) for a, b in zip(lx, ly)) / sum((a - mx) ** 2 for a in lx)


# 97.5% quantiles of Student's t by degrees of freedom
_T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}


def slope_interval(x, y):
    """That slope, and the half-width of its 95% interval"""
    lx, ly = [math.log(v) for v in x], [math.log(v) for v in y]
    mx, my, b, freedom = mean(lx), mean(ly), slope(x, y), len(x) - 2
    if freedom < 1:
        return b, math.inf
    square = sum((q - my - b * (p - mx)) ** 2 for p, q in zip(lx, ly)) / freedom
    return b, _T[min(freedom, 8)] * math.sqrt(square / sum((p - mx) ** 2 for p in lx))


# ---- what a result depends on ----

def _tool(path):
    found = shutil.which(path)
    if not found:
        raise SystemExit(f"no kspec at {path}: run make first, or set KSPEC")
    return os.path.abspath(found)  # commands run in scratch folders


def _digest_of_tool(path):
    """Of the tool and the library beside it: another build gives other results"""
    h = hashlib.sha256()
    here = pathlib.Path(path).resolve()
    for f in sorted({here, *here.parent.glob("libkspec.so*")}):
        h.update(f.read_bytes())
    return h.hexdigest()


def _stamp(arg):
    """Size and time of an argument that is a file, with or without :key, outside of the scratch folder"""
    path = arg if os.path.isfile(arg) else arg.rsplit(":", 1)[0]
    if not os.path.isabs(path) or not os.path.isfile(path):
        return None
    s = os.stat(path)
    return [s.st_size, s.st_mtime_ns]


def _shown(args):
    """A command as a reader would type it: data folders as $KSPEC_DATA, no options that only scripts need"""
    words = []
    for a in args:
        for folder in DATA:
            if a.startswith(folder + "/"):
                a = "$KSPEC_DATA" + a[len(folder):]
        if a not in ("--json", "--quiet"):
            words.append(a)
    return "kspec " + " ".join(words)
