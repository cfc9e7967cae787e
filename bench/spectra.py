"""Eigenvalues by a fit, of processes whose truth is known: one trial, two, and the mean of two as one.

    PYTHONPATH=build/python python3 bench/spectra.py run --seeds N [--sizes 40x60] [--only NAMES] >> FILE
    python3 bench/spectra.py table FILE
    PYTHONPATH=build/python python3 bench/spectra.py signal --seeds N

`run` writes one line of JSON a matrix, `table` makes the tables of docs/measurements/spectrum.md: coverage of
95% intervals, how many of the misses carry a doubt, and total errors, sum |estimate - truth| over the trace.
`signal` says how often noise is taken for signal, and signal for noise.
"""

import argparse
import json
import os
import sys
import warnings
import zlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

KINDS = ("two", "mean", "one")  # two trials; their mean as one trial; the first alone
DEPENDENT = ("series", "blocks")  # rows that are no independent sample: a fit does not know of groups

def total_error(values, truth):
    n = max(len(values), len(truth))
    a, b = np.zeros(n), np.zeros(n)
    a[: len(values)], b[: len(truth)] = values, truth
    return float(np.sum(np.abs(a - b)) / truth.sum())


def slope(log_values, first, last, unweighted):
    """The exponent a of i^-a over first ... last, counted from 1"""
    i = np.arange(first, last + 1.0)
    weight = np.ones_like(i) if unweighted else 1 / i
    x = np.log(i) - np.average(np.log(i), weights=weight)
    return -float(np.sum(weight * x * log_values[first - 1 : last]) / np.sum(weight * x * x))


def inside(low, truth, high):
    return None if low is None or high is None or np.isnan(low) else int(low <= truth <= high)


def scored(r, truth, noise_sd):
    """What is covered, and the errors, of one fit"""
    values, low, high = (np.array(r[k], float) for k in ("eigenvalues", "ci_low", "ci_high"))
    out = {"error": total_error(values, truth), "sample": total_error(r["singular_values"], truth),
           "top": values[0] / truth[0], "sample_top": r["singular_values"][0] / truth[0],
           "signal": r["signal"], "z": r["signal_z"], "z1": r["moments_z"][0], "resolved": r["resolved"],
           "last": values[r["resolved"] - 1] / values[0] if r["resolved"] else None,
           "m1": r["moments_fitted"][0] / truth.sum(), "unbiased": r["moments"][0] / truth.sum(),
           "unbiased_sd": r["moments_stderr"][0] / truth.sum(), "widened": r["widened"]}
    for k in (1, 2, 5, 10):
        true = truth[k - 1] if k <= len(truth) else 0.0
        out[f"l{k}"] = inside(low[k - 1], true, high[k - 1]) if k <= len(values) else int(true == 0)
    out["width"] = float(np.log(high[0] / max(low[0], 1e-300)))
    if noise_sd > 0 and r["noise_reason"] != "none":
        out["noise"] = inside(r["noise_ci_low"], noise_sd, r["noise_ci_high"])
        out["noise_width"] = float(r["noise_ci_high"] / max(r["noise_ci_low"], 1e-300))
    first, last = r["exponent_from"], r["exponent_to"]
    if last and last <= len(truth):
        for name, key in (("exponent", "exponent"), ("unweighted", "exponent_unweighted")):
            a = slope(np.log(truth), first, last, name == "unweighted")
            out[name] = inside(r[key + "_ci_low"], a, r[key + "_ci_high"])
    out["top_over_sample"] = values[0] / r["singular_values"][0]
    out["excess"] = r.get("columns_excess")
    kept = [(p["t"], p["ci_low"], p["ci_high"]) for p in r["effective_dimension"] if p["value"] is not None]
    out["dimension"] = [inside(low, float(np.sum(truth / (truth + t))), high) for t, low, high in kept]
    out["doubts"] = [d["code"] for d in r["doubts"] if d["severity"] != "note"]
    return out


def run(args):
    import kspec
    from processes import processes

    warnings.simplefilter("ignore", kspec.KspecWarning)
    table = processes()
    names = args.only.split(",") if args.only else [n for n in table if n not in DEPENDENT]
    made = {name: table[name][1]() for name in names}
    for seed in range(args.start, args.start + args.seeds):
        for size in args.sizes.split(","):
            P, Q = map(int, size.split("x"))
            for name in names:
                p = made[name]
                rng = np.random.default_rng([args.base, zlib.crc32(name.encode()), P, Q, seed])
                x = p.sample(rng, P, Q, 2)
                line = {"process": name, "size": size, "seed": seed}
                sd = np.sqrt(p.noise)
                for kind in args.kinds.split(",") if p.noise else ("one",):
                    data = {"two": x, "mean": x.mean(axis=0), "one": x[0]}[kind]
                    r = kspec.spectrum(data, threads=1, count=P * Q).to_dict()
                    line[kind] = scored(r, p.centred, sd / np.sqrt(2) if kind == "mean" else sd)
                if p.noise:
                    r = kspec.spectrum(x, method="cvpca", threads=1)
                    line["cvpca"] = total_error(r.eigenvalues, p.centred)
                print(json.dumps(line), flush=True)


def percent(values):
    values = [v for v in values if v is not None]
    return f"{100 * np.mean(values):.0f}" if values else "-"


def table(args):
    cells = {}
    for line in map(json.loads, args.file):
        cells.setdefault((line["size"], line["process"]), []).append(line)
    for kind in KINDS:
        print(f"\n{kind}: covered in %, of misses of the first with a doubt in %\n")
        print("| process | size | matrices | λ1 | λ2 | λ5 | misses doubted | doubted | noise | exponent |"
              " unweighted | effective dimension | error: sample, fit | width |")
        print("|---" * 14 + "|")
        for (size, name), lines in sorted(cells.items()):
            rows = [line[kind] for line in lines if kind in line]
            if not rows:
                continue
            missed = [r for r in rows if 0 in (r["l1"], r["l2"], r["l5"])]
            dims = [[r["dimension"][k] for r in rows if len(r["dimension"]) > k] for k in range(4)]
            print(f"| {name} | {size} | {len(rows)} | {percent([r['l1'] for r in rows])} |"
                  f" {percent([r['l2'] for r in rows])} | {percent([r['l5'] for r in rows])} |"
                  f" {percent([int(bool(r['doubts'])) for r in missed])} |"
                  f" {percent([int(bool(r['doubts'])) for r in rows])} |"
                  f" {percent([r.get('noise') for r in rows])} |"
                  f" {percent([r.get('exponent') for r in rows])} |"
                  f" {percent([r.get('unweighted') for r in rows])} | {' '.join(map(percent, dims))} |"
                  f" {np.mean([r['sample'] for r in rows]):.2f}, {np.mean([r['error'] for r in rows]):.2f} |"
                  f" {np.median([r['width'] for r in rows]):.2f} |")
    print("\ntotal error of two trials\n")
    print("| process | size | sample | cvPCA | two trials | mean as one | two / better |")
    print("|---" * 7 + "|")
    for (size, name), lines in sorted(cells.items()):
        lines = [line for line in lines if "two" in line and "mean" in line] or lines
        if "two" not in lines[0]:
            continue
        two = [(line["two"]["sample"], line["cvpca"], line["two"]["error"]) for line in lines]
        sums = list(np.mean(two, axis=0))
        if "mean" in lines[0]:
            sums.append(np.mean([line["mean"]["error"] for line in lines]))
            sums.append(sums[2] / min(sums[2:4]))
        print(f"| {name} | {size} | " + " | ".join(f"{s:.2f}" for s in sums) + " |")


# ---- is there any signal? ----



def noise(kind, rng, T, P, Q):
    """Entries that are independent, of mean 0"""
    col, row = rng.normal(size=Q), rng.normal(size=(P, 1))
    if kind == "counts":
        return rng.poisson(np.broadcast_to(np.exp(col), (T, P, Q))) - np.exp(col)
    if kind == "Student t4":
        return rng.standard_t(4, size=(T, P, Q))
    scale = {"normal": 1, "unequal columns": np.exp(col), "unequal both": np.exp(0.7 * col + 0.5 * row)}[kind]
    return rng.normal(size=(T, P, Q)) * scale


def signal(args):
    """How often noise is called none, and signal is, in %"""
    import kspec
    from processes import processes

    warnings.simplefilter("ignore", kspec.KspecWarning)
    table = processes()
    kinds = []
    for kind in ("normal", "Student t4", "unequal columns", "counts", "unequal both"):
        kinds.append((f"noise: {kind}", lambda r, T, P, Q, kind=kind: noise(kind, r, T, P, Q)))
    for name, (_, make) in table.items():
        p = make()
        kinds.append((name, lambda r, T, P, Q, p=p: p.sample(r, P, Q, T)))
    print("| | size | trials | centred | none | weak | clear | median z |\n|---|---|---|---|---|---|---|---|")
    for size in args.sizes.split(","):
        P, Q = map(int, size.split("x"))
        for name, draw in kinds:
            count = args.seeds if name.startswith("noise") else max(1, args.seeds // 4)
            for T in (1, 2):
                for center in ("rows", "none"):
                    words, z = [], []
                    for seed in range(count):
                        rng = np.random.default_rng([args.base, zlib.crc32(name.encode()), P, Q, seed])
                        x = draw(rng, T, P, Q)
                        r = kspec.dimension(x, center=center, threads=1)
                        words.append(r.signal), z.append(r.signal_z)
                    of = [100 * words.count(w) / count for w in ("none", "weak", "clear")]
                    shares = " | ".join(f"{share:.1f}" for share in of)
                    print(f"| {name} | {size} | {T} | {center} | {shares} | {np.median(z):.1f} |", flush=True)


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(required=True)
    of_run = commands.add_parser("run")
    of_run.add_argument("--seeds", type=int, default=20)
    of_run.add_argument("--from", type=int, default=0, dest="start")
    of_run.add_argument("--base", type=int, default=331, help="another one draws other matrices")
    of_run.add_argument("--sizes", default="100x300")
    of_run.add_argument("--kinds", default="two,mean,one")
    of_run.add_argument("--only", help="these processes, between commas")
    of_run.set_defaults(call=run)
    of_table = commands.add_parser("table")
    of_table.add_argument("file", type=argparse.FileType())
    of_table.set_defaults(call=table)
    of_signal = commands.add_parser("signal")
    of_signal.add_argument("--seeds", type=int, default=400, help="draws of a noise; of a process a quarter")
    of_signal.add_argument("--base", type=int, default=332, help="another one draws other matrices")
    of_signal.add_argument("--sizes", default="40x60")
    of_signal.set_defaults(call=signal)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    sys.exit(main())
