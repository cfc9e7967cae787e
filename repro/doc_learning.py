#!/usr/bin/env python3
"""The tables of docs/measurements/learning.md: repro/doc_learning.py [TABLE...]

They stand on the full runs of Figures 000-4, A3 and A4: the networks of OUT/full/networks.json, which
repro/networks.py makes on a GPU, or 5 of each width, which `make repro-full` trains.
"""
import json
import functools
import pathlib
import subprocess

from harness import ROOT, mean, standard_error, variance
from page import Page, markdown, with_error
from paper000_learn import ORDERS, PIXELS, Training, files

page = Page("learning", "The tables of docs/measurements/learning.md")
WIDTHS = (32, 64, 128, 256, 512, 1024)
SHOWN = (0, 20, 60, 120)
trained = functools.cache(lambda pixels: Training(page, pixels))


def values(pixels, width, key, n, epoch):
    t = trained(pixels)
    return t.values(width, key, n, t.epochs.index(epoch))


def _figure_4(pixels):
    """The panels of Figure 4 by their titles, from the numbers beside its picture: so that this page and
    docs/reproduction.md agree"""
    content = json.loads((ROOT / f"docs/images/repro/000-4-{pixels}.figure.json").read_text())
    return {p["title"]: p["series"] for p in content["panels"]}


def _moments(pixels):
    head = ["width", *(f"{what}, epoch {e}" for e in SHOWN for what in ("naive", "unbiased"))]
    panels = _figure_4(pixels)
    for n in (2, 4) if pixels == "unit" else (2,):
        def cell(what, k, epoch):
            s = panels[f"{what}, n = {n}"][k]
            at = s["x"].index(epoch)
            return f"{s['y'][at]:.4g} ({s['low'][at]:.3g} … {s['high'][at]:.3g})"
        yield from (f"m({n}):", "", *markdown(head, [
            [width, *(cell(what, k, e) for e in SHOWN for what in ("naive", "unbiased"))]
            for k, width in enumerate(WIDTHS)]), "")


def _spreads(pixels):
    panels = _figure_4(pixels)

    def spread(what, n, epoch):
        y = [s["y"][s["x"].index(epoch)] for s in panels[f"{what}, n = {n}"]]
        return f"{100 * (max(y) - min(y)) / mean(y):.0f}%"
    return markdown(["n", "epoch", "naive: spread", "unbiased: spread"],
                    [[n, e, spread("naive", n, e), spread("unbiased", n, e)] for n in ORDERS for e in SHOWN])


@page.table
def figure_4_unit():
    """moments by width, centred pixels, as in Figure 4: mean (quartiles) of the networks"""
    return list(_moments("unit"))


@page.table
def figure_4_255():
    """moments by width, pixels/255, as in Figure 4: mean (quartiles) of the networks"""
    return list(_moments("255"))


@page.table
def spreads_unit():
    """(largest − smallest)/mean of the means over networks, centred pixels"""
    return _spreads("unit")


@page.table
def spreads_255():
    """(largest − smallest)/mean of the means over networks, pixels/255"""
    return _spreads("255")


@page.table
def behind_unit():
    """unbiased moments while the networks learn, as a share of those of width 1024, centred pixels"""
    panels = _figure_4("unit")
    epochs = (0, 4, 8, 12, 20, 40, 60, 80, 120)

    def share(n, k, epoch):
        at = panels[f"unbiased, n = {n}"][k]["x"].index(epoch)
        return f"{panels[f'unbiased, n = {n}'][k]['y'][at] / panels[f'unbiased, n = {n}'][-1]['y'][at]:.2f}"
    return markdown(["n", "width", *(f"epoch {e}" for e in epochs)],
                    [[n, width, *(share(n, k, e) for e in epochs)]
                     for n in (2, 4) for k, width in enumerate(WIDTHS[:-1])])


@page.table
def partial_unit():
    """128 of 1024 neurons, all of them, and networks of 128 if they are there, centred pixels: mean ±
    standard error over networks"""
    columns = [(f"{kind}: {which}", width, kind + part) for kind in ("naive", "unbiased")
               for which, width, part in (("all of 1024", 1024, ""), ("128 of 1024", 1024, "_subsample"),
                                          ("128 of 128", 128, "")) if trained("unit").runs[width]]
    rows = [[n, epoch, *(with_error(values("unit", width, key, n, epoch)) for _, width, key in columns)]
            for n in ORDERS for epoch in SHOWN]
    return markdown(["n", "epoch", *(name for name, _, _ in columns)], rows)


@page.table
def error_bars():
    """128 of 1024 neurons less all of them, in error bars of the 128; centred pixels, epochs 0, 20 … 120"""
    t = trained("unit")
    runs = [[e for e in run if e["epoch"] % 20 == 0] for run in t.runs[1024]]
    rows = []
    for key, bar in (("unbiased", "ratio_stderr"), ("naive", "naive_ratio_stderr")):
        for n in ORDERS:
            def of(run, what):
                return [e[what][n - 1] for e in run]

            off = [mean([b / a - 1 for a, b in zip(of(r, key), of(r, f"{key}_subsample"))]) for r in runs]
            every, part, ratio, fixed = ([v for r in runs for v in of(r, what)] for what in (
                key, f"{key}_subsample", f"{bar}_subsample", f"{bar.replace('ratio_', '')}_subsample"))
            z = [abs(b - a) / s for a, b, s in zip(every, part, ratio)]
            rows.append([key, n, f"{100 * mean(off):+.1f}% ± {100 * standard_error(off):.1f}%",
                         *(f"{100 * mean([s / a for a, s in zip(every, bars)]):.0f}%"
                           for bars in (ratio, fixed)),
                         *(f"{100 * mean([v < limit for v in z]):.0f}%" for limit in (1, 2))])
    lines = markdown(["estimate", "n", "mean difference ± SE", "error bar", "at fixed scale", "within one",
                      "within two"], rows)
    for width in (w for w in (128, 1024) if t.runs[w]):
        columns = (("SD over seeds", "unbiased", lambda x: variance(x) ** 0.5),
                   ("mean error of the ratio", "ratio_stderr", mean),
                   ("mean error at a fixed scale", "stderr", mean))
        lines += ["", *markdown([f"m(2) of width {width}", *(f"epoch {e}" for e in SHOWN)], [
            [what, *(f"{of(values('unit', width, key, 2, e)):.4f}" for e in SHOWN)]
            for what, key, of in columns])]
    return lines


@page.table
def subsamples():
    """400 subsamples of one network of 1024 neurons, n = 2: mean ± standard error, against all neurons"""
    import numpy as np

    def moments(F):
        P, Q = F.shape
        K, K2 = F @ F.T, F**2 @ (F**2).T
        off = ~np.eye(P, dtype=bool)
        return (K**2).sum() / (P * Q)**2, (K**2 - K2)[off].sum() / (P * (P - 1) * Q * (Q - 1))

    folder = (page.out / "learn-activations").resolve()
    page.kspec("learn", *files(page), "--width", 1024, "--epochs", 20, "--every", 20,
               "--save-activations", folder, cached=False)
    rng, rows = np.random.default_rng(1), []
    for epoch in (0, 20):
        F = np.load(folder / f"width-1024-seed-0-epoch-{epoch:03}.npy")
        whole = moments(F)
        for Q in (32, 128, 512):
            parts = [F[:, rng.permutation(1024)[:Q]] for _ in range(400)]
            plain = np.array([moments(G) for G in parts])
            scaled = plain / np.array([(G**2).mean() for G in parts])[:, None]**2
            x = [*plain.T, *scaled.T]
            z = [(mean(v) - w) / standard_error(v) for v, w in zip(x, whole * 2)]
            rows.append([epoch, Q, *(f"{w:.4f}" for w in whole),
                         *(f"{with_error(v)} ({k:+.1f})" for v, k in zip(x, z)), f"{x[3].std():.2g}"])
    return markdown(["epoch", "Q", "naive, all", "unbiased, all", "naive, of Q (in SE)",
                     "unbiased, of Q (in SE)", "naive, own scale", "unbiased, own scale", "SD of one"], rows)


@page.table
def learning():
    """loss and accuracy at the end, mean ± standard error over networks"""
    def of(pixels, width, key):
        return with_error([run[-1][key] for run in trained(pixels).runs[width]])
    return markdown(["pixels", "width", "loss", "training accuracy", "test accuracy"],
                    [[PIXELS[pixels].replace("|", "\\|"), width, *(of(pixels, width, key)
                                               for key in ("loss", "accuracy", "test_accuracy"))]
                     for pixels in PIXELS for width in WIDTHS])


@page.table
def ratio_255():
    """m(n)/m(1)^n before training, pixels/255, where all widths have the same kernel: as the figures have it,
    and with the jackknife's correction of its bias"""
    rows = [[n, width, with_error(values("255", width, "unbiased", n, 0)),
             with_error(values("255", width, "unbiased_scale_free", n, 0))]
            for n in ORDERS for width in WIDTHS]
    return markdown(["n", "width", "unbiased", "corrected"], rows)


def sgemm_seconds(*shapes):
    program = pathlib.Path(page.kspec_path).parent / "bench/bench_sgemm"
    r = subprocess.run([str(program), *shapes], check=True, capture_output=True, text=True)
    return [float(line.split()[1]) for line in r.stdout.splitlines()]


@page.table
def speed():
    """training on one thread with nothing else running: multiply-adds per second beside SGEMM's"""
    j = page.kspec("learn", *files(page), "--width", ",".join(map(str, WIDTHS)), "--epochs", 4, "--every", 4,
                   "--threads", 1, "-n", 2, "--no-stderr", "--probe", 100, cached=False)
    batch, pixels, rows = j["batch"], 784, []
    for r in j["runs"]:
        N = r["width"]
        # the two products of a step: activations X Wᵀ, gradient Dᵀ X
        forward, back, square = sgemm_seconds(f"{batch}x{N}x{pixels}:nt", f"{N}x{pixels}x{batch}:tn",
                                              "512x512x512")
        same, large = 2e-9 * batch * N * pixels / (forward + back), 1e-9 * 512**3 / square
        rows.append([N, f"{r['train_seconds'] / 4:.3f}", f"{r['gfma_per_s']:.1f}", f"{same:.1f}",
                     f"{large:.1f}", f"{r['gfma_per_s'] / large:.2f}"])
    return markdown(["width", "seconds an epoch", "Gfma/s", "SGEMM, same shapes", "SGEMM, order 512",
                     "of the latter"], rows)


page.finish()
