"""What every figure's script shares: it runs kspec, remembers the results, judges the paper's claims, and draws.

A script makes one Figure, asks it for results, states claims, and ends with finish():

    figure = Figure("000-2a", "Unbiased estimation of spectral moments", "moments of an RBF kernel by four estimators")
    result = figure.kspec("moments", "x.npy", "-n", "3")            # the JSON, from memory where it was made before
    figure.claim("MSE below 1e-5", f"{mse:.2g}", mse < 1e-5)          # the paper's words; False: "differs"
    figure.expect("path and exact agree", f"{gap:.1f} SE", gap < 4)   # ours; False: the script fails
    figure.picture("moments", panels)
    figure.finish()

A claim that does not hold makes the verdict "differs" and needs a reason (differs="…"); without one the script fails. So a
script fails exactly when something is not as this repository says it is.
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = [os.path.abspath(folder)
        for folder in (os.environ.get("KSPEC_DATA"), ROOT / "data", ROOT.parent / "shared/data") if folder]


def find_data(path):
    """A file of the data sets, in the first folder that has it; None where it is missing"""
    return next((f"{d}/{path}" for d in DATA if os.access(f"{d}/{path}", os.R_OK)), None)


def no_data(path):
    """That a file is missing, and how to get it"""
    return f"no {path}; run 'make data'"


class Figure:
    def __init__(self, name, paper, title):
        self.name, self.paper, self.title = name, paper, title
        p = argparse.ArgumentParser(description=f"{paper}, figure {name}: {title}")
        p.add_argument("--full", action="store_true", help="the paper's sizes (default: a quick version)")
        p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/repro", help="where results go")
        p.add_argument("--no-pictures", action="store_true", help="check the claims only")
        p.add_argument("--threads", type=int, default=os.cpu_count(), help="commands that run side by side")
        self.args = p.parse_args()
        self.full = self.args.full
        self.kspec_path = _tool(os.environ.get("KSPEC", str(ROOT / "build/kspec")))
        self.size = "full" if self.full else "quick"
        self.out = self.args.out / self.size
        self.cache = self.args.out / "cache"
        for d in (self.out, self.cache):
            d.mkdir(parents=True, exist_ok=True)
        self.claims, self.commands, self.pictures = [], [], []
        self.start = time.monotonic()
        self.tool = _digest_of_tool(self.kspec_path)

    def pick(self, quick, full):
        """One of two sizes"""
        return full if self.full else quick

    # ---- results ----

    def data(self, path):
        """A file of the data sets; where it is absent, the figure cannot be checked"""
        found = find_data(path)
        if not found:
            self._write("cannot be checked", no_data(path))
            print(f"{self.name}: cannot be checked: {no_data(path)}")
            sys.exit(0)
        return found

    def kspec(self, *args, after=None):
        """The JSON of a kspec command. after: arguments of a command before it, whose `-o x.npy` it reads in a scratch folder"""
        args = [str(a) for a in args] + ["--json", "--quiet"]
        before = [str(a) for a in after] if after else None
        key = hashlib.sha256(json.dumps([self.tool, before, args, [_stamp(a) for a in args]]).encode()).hexdigest()[:24]
        shown = " && ".join(_shown(c) for c in (before, args) if c).replace(os.path.abspath(self.args.out), "build/repro")
        self.commands.append(shown)
        kept = self.cache / f"{key}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        with tempfile.TemporaryDirectory() as scratch:
            if before:
                self._run(before + ["--quiet"], scratch)
            text = self._run(args, scratch)
        partial = kept.with_suffix(f".{os.getpid()}.{id(args)}")
        partial.write_text(text)
        partial.rename(kept)
        return json.loads(text)

    def _run(self, args, folder):
        r = subprocess.run([self.kspec_path, *args], cwd=folder, capture_output=True, text=True)
        if r.returncode:
            raise SystemExit(f"{self.name}: {_shown(args)}\n{self.name}: exit {r.returncode}: {r.stderr.strip()}")
        return r.stdout

    def map(self, function, items):
        """function of each item, several at a time (give the commands --threads 1); results in order"""
        with concurrent.futures.ThreadPoolExecutor(self.args.threads) as pool:
            return list(pool.map(function, items))

    # ---- claims ----

    def claim(self, text, number, holds, differs=None):
        """A claim of the paper; differs: why it does not hold, where that is known"""
        self._judge("claim", text, number, bool(holds), differs)

    def expect(self, text, number, holds):
        """A statement of ours that must hold: what backs the reason of a difference, or the paper's claim as we read it"""
        self._judge("ours", text, number, bool(holds), None)

    def _judge(self, kind, text, number, holds, differs):
        self.claims.append({"kind": kind, "text": text, "number": str(number), "holds": holds, "reason": None if holds else differs})
        word = "ok" if holds else "differs" if differs else "FAILED"
        print(f"{self.name}: {word:8}{text}: {number}" + (f" ({differs})" if differs and not holds else ""), flush=True)

    # ---- pictures and the end ----

    def picture(self, suffix, panels, title=None):
        """Draws panels (the figure JSON of kspec plot) to NAME[-suffix].svg"""
        stem = self.name + (f"-{suffix}" if suffix else "")
        source = self.out / f"{stem}.figure.json"
        source.write_text(json.dumps({"command": "figure", "title": title or self.title, "panels": panels}, indent=1))
        self._draw(stem, [source])

    def plot(self, suffix, *results):
        """Draws results of kspec commands as kspec plot does"""
        stem = self.name + (f"-{suffix}" if suffix else "")
        sources = []
        for i, r in enumerate(results):
            sources.append(self.out / f"{stem}.{i}.json")
            sources[-1].write_text(json.dumps(r))
        self._draw(stem, sources)

    def _draw(self, stem, sources):
        if self.args.no_pictures:
            return
        picture = self.out / f"{stem}.svg"
        self._run(["plot", *map(str, sources), "-o", str(picture)], ".")
        self.pictures.append(picture.name)

    def finish(self):
        claims = [c for c in self.claims if c["kind"] == "claim"]
        failed = [c for c in self.claims if not c["holds"] and not c["reason"]]
        if not self.claims:
            raise SystemExit(f"{self.name}: checked nothing")
        verdict = "failed" if failed else "reproduced" if all(c["holds"] for c in claims) else "differs"
        self._write(verdict, None)
        print(f"{self.name}: {verdict} ({self.size}, {time.monotonic() - self.start:.0f} s)")
        sys.exit(1 if failed else 0)

    def _write(self, verdict, reason):
        partial = self.out / f".{self.name}.json"
        partial.write_text(json.dumps({
            "name": self.name, "paper": self.paper, "title": self.title, "size": self.size, "verdict": verdict, "reason": reason,
            "claims": self.claims, "pictures": self.pictures, "commands": self.commands[:1], "command_count": len(self.commands),
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


# ---- what a result depends on ----

def _tool(path):
    found = shutil.which(path)
    if not found:
        raise SystemExit(f"no kspec at {path}: run make first, or set KSPEC")
    return os.path.abspath(found)  # commands run in scratch folders


def _digest_of_tool(path):
    """The tool and the library beside it: another build gives other results"""
    h = hashlib.sha256()
    here = pathlib.Path(path).resolve()
    for f in sorted({here, *here.parent.glob("libkspec.so*")}):
        h.update(f.read_bytes())
    return h.hexdigest()


def _stamp(arg):
    """Size and time of an argument that is a file (with or without :key); a relative name is one in the scratch folder"""
    path = arg if os.path.isfile(arg) else arg.rsplit(":", 1)[0]
    if not os.path.isabs(path) or not os.path.isfile(path):
        return None
    s = os.stat(path)
    return [s.st_size, s.st_mtime_ns]


def _shown(args):
    """A command as a reader would type it: folders of data as $KSPEC_DATA, without what only this script needs"""
    words = []
    for a in args:
        for folder in DATA:
            if a.startswith(folder + "/"):
                a = "$KSPEC_DATA" + a[len(folder):]
        if a not in ("--json", "--quiet"):
            words.append(a)
    return "kspec " + " ".join(words)
