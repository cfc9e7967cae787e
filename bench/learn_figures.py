#!/usr/bin/python3
"""The measurements of docs/learning.md, as tables: bench/learn_figures.py KSPEC DATA OUT [NAME...]

DATA holds fashion/ with its idx files. OUT is a directory for unit.json and 255.json, which are made if they are not there
(half an hour each on two cores; OUT keeps checkpoints, so that it may be interrupted). A NAME prints one table.
"""
import json
import os
import subprocess
import sys

import numpy as np

KSPEC, DATA, OUT = sys.argv[1:4]
NAMES = sys.argv[4:]
WIDTHS = [32, 64, 128, 256, 512, 1024]
SEEDS, SHOWN = 5, (0, 20, 60, 120)


def learn(*options):
    fashion = [f"{DATA}/fashion/{f}-ubyte.gz" for f in ("train15k-images-idx3", "train15k-labels-idx1",
                                                        "t10k-images-idx3", "t10k-labels-idx1")]
    command = [KSPEC, "learn", "--images", fashion[0], "--labels", fashion[1], "--test-images", fashion[2],
               "--test-labels", fashion[3], "--quiet", "--json", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def full(pixels):
    """All widths and seeds for 120 epochs, measured every 4: made once, then read"""
    path = f"{OUT}/{pixels}.json"
    if not os.path.exists(path):
        result = learn("--width", ",".join(map(str, WIDTHS)), "--epochs", "120", "--every", "4", "--seeds", str(SEEDS),
                       "--subsample", "128", "--pixels", pixels, "--checkpoint", f"{OUT}/ckpt-{pixels}")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def values(result, width, epoch, key):
    """seeds x orders, or one number for each seed"""
    return np.array([e[key] for r in result["runs"] if r["width"] == width for e in r["epochs"] if e["epoch"] == epoch])


def table(head, lines):
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |")
    print(flush=True)


def mean(x):
    """mean ± standard error over seeds"""
    return f"{x.mean():.4g} ± {x.std(ddof=1) / np.sqrt(len(x)):.1g}"


def by_width(pixels):
    """Moments by width, mean ± standard error over seeds; (in brackets) the mean error bar of one network"""
    j = full(pixels)
    for n in 2, 3, 4:
        lines = []
        for width in WIDTHS:
            line = [str(width)]
            for epoch in SHOWN:
                u, s, v = (values(j, width, epoch, k)[:, n - 1] for k in ("unbiased", "stderr", "naive"))
                line += [f"{v.mean():.4g}", f"{mean(u)} ({s.mean():.1g})"]
            lines.append(line)
        print(f"\npixels {pixels}, m({n})")
        table(["width"] + [f"{what}, epoch {e}" for e in SHOWN for what in ("naive", "unbiased")], lines)


def agreement(pixels):
    """The spread over widths: (largest - smallest)/mean of the means over seeds, and of the means' standard errors"""
    j = full(pixels)
    lines = []
    for n in 2, 3, 4:
        for epoch in SHOWN:
            line = [str(n), str(epoch)]
            for key in "naive", "unbiased":
                x = [values(j, w, epoch, key)[:, n - 1] for w in WIDTHS]
                m = np.array([a.mean() for a in x])
                se = np.array([a.std(ddof=1) / np.sqrt(len(a)) for a in x])
                centre = (m / se**2).sum() / (1 / se**2).sum()
                line += [f"{100 * (m.max() - m.min()) / m.mean():.0f}%", f"{(((m - centre) / se)**2).sum():.0f}"]
            lines.append(line)
    print(f"\npixels {pixels}; chi squared has {len(WIDTHS) - 1} degrees of freedom")
    table(["n", "epoch", "naive: spread", "chi squared", "unbiased: spread", "chi squared"], lines)


def partial(pixels):
    """128 of 1024 neurons, all of them, and networks of 128: mean ± standard error over seeds"""
    j = full(pixels)
    lines = []
    for n in 2, 3, 4:
        for epoch in SHOWN:
            line = [str(n), str(epoch)]
            for key in "naive", "unbiased":
                all_, part = (values(j, 1024, epoch, k)[:, n - 1] for k in (key, key + "_subsample"))
                small = values(j, 128, epoch, key)[:, n - 1]
                line += [mean(all_), mean(part), mean(small)]
            lines.append(line)
    print(f"\npixels {pixels}")
    table(["n", "epoch"] + [f"{k}: {w}" for k in ("naive", "unbiased") for w in ("all of 1024", "128 of 1024",
                                                                               "128 of 128")], lines)


def error_bars():
    """128 of 1024 neurons against all of them, in error bars of the subsample; pixels unit, 5 seeds, 7 epochs"""
    path = f"{OUT}/bars.json"
    if not os.path.exists(path):
        result = learn("--width", "128,1024", "--epochs", "120", "--every", "20", "--seeds", str(SEEDS), "--subsample",
                       "128", "--checkpoint", f"{OUT}/ckpt-bars")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(result, f)
    with open(path, encoding="utf-8") as f:
        j = json.load(f)
    wide = [e for r in j["runs"] for e in r["epochs"] if r["width"] == 1024]
    lines = []
    for key, error in ("unbiased", "ratio_stderr"), ("naive", "naive_ratio_stderr"):
        for n in 2, 3, 4:
            all_, part, bar, plain = (np.array([e[k][n - 1] for e in wide]).reshape(SEEDS, -1) for k in (
                key, key + "_subsample", error + "_subsample", error.replace("ratio_", "") + "_subsample"))
            off = (part / all_ - 1).mean(1)
            z = np.abs(part - all_) / bar
            lines.append([key, str(n), f"{100 * off.mean():+.1f}% ± {100 * off.std(ddof=1) / np.sqrt(SEEDS):.1f}%",
                          f"{100 * (bar / all_).mean():.0f}%", f"{100 * (plain / all_).mean():.0f}%",
                          f"{100 * (z < 1).mean():.0f}%", f"{100 * (z < 2).mean():.0f}%"])
    table(["estimate", "n", "mean difference ± SE", "error bar", "at fixed scale", "within one", "within two"], lines)
    for width in 128, 1024:
        rows = [(values(j, width, e, "unbiased")[:, 1].std(ddof=1), values(j, width, e, "ratio_stderr")[:, 1].mean(),
                 values(j, width, e, "stderr")[:, 1].mean()) for e in (0, 20, 60, 120)]
        print(f"    width {width}, m(2) at epochs 0, 20, 60, 120: SD over seeds "
              + ", ".join(f"{a:.4f}" for a, _, _ in rows) + "; mean error of the ratio " +
              ", ".join(f"{b:.4f}" for _, b, _ in rows) + "; at a fixed scale " + ", ".join(f"{c:.4f}" for _, _, c in rows))


def subsamples():
    """Many subsamples of one network of 1024 neurons, n = 2: mean ± standard error of 400, against all neurons"""
    def both(F):
        P, Q = F.shape
        K, K2 = F @ F.T, F**2 @ (F**2).T
        off = ~np.eye(P, dtype=bool)
        return (K**2).sum() / (P * Q)**2, (K**2 - K2)[off].sum() / (P * (P - 1) * Q * (Q - 1))

    learn("--width", "1024", "--epochs", "20", "--every", "20", "--save-activations", f"{OUT}/phi")
    rng = np.random.default_rng(1)
    lines = []
    for epoch in 0, 20:
        F = np.load(f"{OUT}/phi/width-1024-seed-0-epoch-{epoch:03}.npy")
        whole = both(F)
        for Q in 32, 128, 512:
            parts = [F[:, rng.permutation(1024)[:Q]] for _ in range(400)]
            plain = np.array([both(G) for G in parts])
            scaled = plain / np.array([(G**2).mean() for G in parts])[:, None]**2
            x = np.stack([plain[:, 0], plain[:, 1], scaled[:, 0], scaled[:, 1]], 1)
            z = (x.mean(0) - whole * 2) / (x.std(0, ddof=1) / np.sqrt(len(x)))
            lines.append([str(epoch), str(Q), f"{whole[0]:.4f}", f"{whole[1]:.4f}"] +
                         [f"{mean(x[:, k])} ({z[k]:+.1f})" for k in range(4)] + [f"{x[:, 3].std():.2g}"])
    table(["epoch", "Q", "naive, all", "unbiased, all", "naive, of Q (in SE)", "unbiased, of Q (in SE)",
           "naive, own scale", "unbiased, own scale", "SD of one"], lines)


def learning(pixels):
    """Loss and accuracy after 120 epochs, mean ± standard error over seeds"""
    j = full(pixels)
    table(["width", "loss", "training accuracy", "test accuracy"],
          [[str(w)] + [mean(values(j, w, 120, k)) for k in ("loss", "accuracy", "test_accuracy")] for w in WIDTHS])


def speed():
    """Training on one thread with nothing else running: multiply-adds per second beside SGEMM's"""
    j = learn("--width", ",".join(map(str, WIDTHS)), "--epochs", "4", "--every", "4", "--threads", "1", "-n", "2", "--no-stderr",
              "--probe", "100")
    table(["width", "seconds an epoch", "Gfma/s", "SGEMM, same shapes", "SGEMM, order 512", "of the latter"],
          [[str(r["width"]), f"{r['train_seconds'] / 4:.3f}", f"{r['gfma_per_s']:.1f}", f"{r['same_gemm_gfma_per_s']:.1f}",
            f"{r['square_gemm_gfma_per_s']:.1f}", f"{r['gemm_fraction']:.2f}"] for r in j["runs"]])


os.makedirs(OUT, exist_ok=True)
for figure in by_width, agreement, partial, error_bars, subsamples, learning, speed:
    if not NAMES or figure.__name__ in NAMES:
        print(f"\n### {figure.__doc__}\n")
        for argument in [("unit",), ("255",)] if figure.__code__.co_argcount else [()]:
            figure(*argument)
