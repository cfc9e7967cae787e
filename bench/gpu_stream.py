"""Dimensions, comparisons and accumulators of arrays that are on a GPU, next to cuBLAS's DGEMM.

    python3 bench/gpu_stream.py [all] [--rows P] [--cols Q] [--json FILE]
    python3 bench/gpu_stream.py dimension | compare | batch | accumulator | track | profile

Needs PyTorch and a GPU. Every part prints its time beside the DGEMM of the same run (two operations a
multiply-add). `profile` lists the kernels of one warm kspec.dimension() by their time.
"""

import argparse
import json
import os
import time

import numpy as np
import torch

import kspec

FOUND = {}


def note(name, value, unit=""):
    FOUND[name] = value
    print(f"{name:64} {value:12.5g} {unit}", flush=True)


def seconds(call, repeats=5, warm=1):
    """The median of so many calls, after `warm` others"""
    times = []
    for k in range(warm + repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times[warm:])[repeats // 2], times


def layer(P, Q, dims=60, seed=1, dtype=torch.float32):
    g = torch.Generator("cuda").manual_seed(seed)
    x = torch.randn(P, dims, generator=g, device="cuda") @ torch.randn(dims, Q, generator=g, device="cuda")
    return (x / dims**0.5 + 0.5 * torch.randn(P, Q, generator=g, device="cuda") + 1).to(dtype)


def naive(x):
    y = (x - x.mean(0)).double()
    k = y.T @ y if y.shape[1] < y.shape[0] else y @ y.T
    return float(k.trace() ** 2 / (k * k).sum())


def rates():
    a = torch.randn(8192, 8192, dtype=torch.float64, device="cuda")
    t, _ = seconds(lambda: a @ a)
    note("DGEMM 8192^3, TFLOP/s", 2 * 8192**3 / t / 1e12)
    b = torch.empty(1 << 28, dtype=torch.float64, device="cuda")
    c = torch.zeros(1 << 28, dtype=torch.float64, device="cuda")
    t, _ = seconds(lambda: b.copy_(c))
    note("copy, TB/s (read and written)", 16 * (1 << 28) / t / 1e12)


def dimension(P, Q):
    x = layer(P, Q)
    start = time.perf_counter()
    first = kspec.dimension(x, sampled="rows")
    note("dimension, first call", time.perf_counter() - start, "s")
    t, all_times = seconds(lambda: kspec.dimension(x, sampled="rows"))
    note(f"dimension {P} x {Q} float32, sampled rows, warm", t, "s")
    print("   calls:", " ".join(f"{v:.3f}" for v in all_times))
    t, _ = seconds(lambda: kspec.dimension(x))
    note(f"dimension {P} x {Q} float32, sampled both, warm", t, "s")
    y = x.double()
    t, _ = seconds(lambda: kspec.dimension(y))
    note(f"dimension {P} x {Q} float64, sampled both, warm", t, "s")
    t, _ = seconds(lambda: y.T @ y)
    note("one Gram matrix by cuBLAS", t, "s")
    t, _ = seconds(lambda: x.double())
    note("the conversion alone", t, "s")
    t, _ = seconds(lambda: naive(x))
    note("participation ratio in PyTorch, float64", t, "s")
    print("  ", first.dimension, first.ci_low, first.ci_high, first.naive, naive(x))
    print("  ", first.to_dict()["device"])
    h = x[:2000].cpu().double().numpy()
    there, here = kspec.dimension(x[:2000]), kspec.dimension(h)
    note("largest difference to the CPU, 2000 rows", max(
        abs(there.dimension / here.dimension - 1), abs(there.ci_low / here.ci_low - 1),
        abs(there.ci_high / here.ci_high - 1)))
    tiny = layer(64, 64)
    t, _ = seconds(lambda: kspec.dimension(tiny), 20, 3)
    note("dimension 64 x 64 on the GPU: what a call costs", t, "s")


def compare(P, Q):
    x, y = layer(P, Q), layer(P, Q, seed=2)
    y[:, : Q // 2] += x[:, : Q // 2]
    t, _ = seconds(lambda: kspec.compare(x, y, sampled="rows"), 3)
    note(f"compare {P} x {Q} twice, float32, sampled rows, warm", t, "s")
    t, _ = seconds(lambda: kspec.compare(x, y), 3)
    note(f"compare {P} x {Q} twice, float32, sampled both, warm", t, "s")
    there = kspec.compare(x, y, sampled="rows")
    print("  ", there.alignment, there.alignment_ci_low, there.alignment_ci_high, there.to_dict()["device"])
    a, b = x[:2000, :700], y[:2000, :900]
    there, here = kspec.compare(a, b), kspec.compare(a.cpu().numpy(), b.cpu().numpy(), device="cpu")
    keys = ("alignment", "alignment_ci_low", "alignment_ci_high", "dimension", "other_dimension")
    note("    largest difference to the CPU, 2000 rows",
         max(abs(getattr(there, k) / getattr(here, k) - 1) for k in keys))
    turn = torch.linalg.qr(torch.randn(Q, Q, device="cuda", dtype=torch.float64))[0]
    same = kspec.compare(x.double(), x.double() @ turn, sampled="rows")
    note("    alignment with a rotated copy, less 1", same.alignment - 1)
    t, _ = seconds(lambda: x.double().T @ y.double())
    note("    X^T Y in PyTorch, with the conversion", t, "s")


def batch(count, P, Q):
    x = torch.stack([layer(P, Q, seed=k) for k in range(8)]).repeat(count // 8, 1, 1)
    few = max(1, count // 20)
    t, _ = seconds(lambda: [kspec.dimension(m, sampled="rows") for m in x[:few]], 3)
    note(f"dimension {P} x {Q} one by one on the GPU", t / few, "s each")
    h = x[:few].cpu().numpy()
    t, _ = seconds(lambda: [kspec.dimension(m, sampled="rows", threads=1) for m in h], 3)
    note(f"dimension {P} x {Q} one by one, one thread", t / few, "s each")
    try:
        t, _ = seconds(lambda: kspec.dimension(x, axes="batch,rows,cols", sampled="rows"), 3)
        note(f"dimension of {count} matrices {P} x {Q}, float32, one call", t, "s")
        found = kspec.dimension(x, axes="batch,rows,cols", sampled="rows").results[3]
        one = kspec.dimension(x[3].double().cpu().numpy(), sampled="rows")
        note("    largest difference to the CPU's", max(
            abs(found["dimension"] / one.dimension - 1), abs(found["ci_low"] / one.ci_low - 1),
            abs(found["ci_high"] / one.ci_high - 1), abs(found["signal_z"] / one.signal_z - 1)))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
            kspec.dimension(x, axes="batch,rows,cols", sampled="rows")
        print(p.key_averages().table(sort_by="cuda_time_total", row_limit=12, max_name_column_width=60))
        h = x.cpu().numpy()
        t, _ = seconds(lambda: kspec.dimension(h, axes="batch,rows,cols", sampled="rows"), 3)
        note(f"dimension of {count} matrices {P} x {Q}, on the host", t, "s")
    except kspec.Error as e:
        print("   one call:", e)


def accumulator(P, Q, rows=8192):
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        x = layer(rows, Q, dtype=dtype)
        steps = max(1, P // rows if dtype == torch.float32 else P // rows // 8)

        def stream():
            acc = kspec.Accumulator(Q, sampled="rows", stream=1)
            for _ in range(steps):
                acc.update(x)
            return acc

        t, all_times = seconds(stream, 1)
        n = steps * rows
        note(f"accumulator, {n} x {Q} in batches of {rows}, {str(dtype)[6:]}", t, "s")
        note("    2PQ^2/t, TFLOP/s", 2.0 * n * Q * Q / t / 1e12)
    held = stream()
    t, _ = seconds(held.result, 3)
    note("    result()", t, "s")
    for few in (64, 512, 2048):
        acc, part = kspec.Accumulator(Q, sampled="rows"), layer(few, Q)
        t, _ = seconds(lambda: acc.update(part), 20, 5)
        note(f"    update() by {few} rows", t, "s")
    x, y = layer(rows, Q // 2), layer(rows, Q // 2, seed=2)
    two = kspec.Accumulator(Q // 2, Q // 2, sampled="rows")
    t, _ = seconds(lambda: two.update(x, y), 10, 2)
    note(f"    update() of two matrices, {rows} x {Q // 2}", t, "s")
    h = [layer(500, 300, seed=k) for k in range(4)]
    there, here = kspec.Accumulator(300, stream=1), kspec.Accumulator(300, stream=1, device="cpu")
    for b in h:
        there.update(b), here.update(b)
    a, b = there.result(), here.result()
    note("    largest difference to the CPU's", max(
        abs(a.dimension / b.dimension - 1), abs(a.ci_low / b.ci_low - 1), abs(a.ci_high / b.ci_high - 1)))


def track():
    """An epoch of a small transformer, with and without a tracker of its layers"""
    torch.manual_seed(1)
    block = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    model = torch.nn.Sequential(*[torch.nn.TransformerEncoder(block, 6)]).cuda()
    names = [f"0.layers.{k}" for k in range(6)]
    data = [torch.randn(32, 128, 512, device="cuda") for _ in range(4)]
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    follow = kspec.track(model, names, data[0])

    def epoch(tracked):
        for _ in range(50):
            for x in data:
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
        if tracked:
            follow.epoch()

    plain, _ = seconds(lambda: epoch(False), 3)
    tracked, _ = seconds(lambda: epoch(True), 3)
    note("an epoch of 200 steps", plain, "s")
    note("    tracked: longer by", 100 * (tracked / plain - 1), "%")


def profile(P, Q):
    x = layer(P, Q)
    kspec.dimension(x, sampled="rows")
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as p:
        start = time.perf_counter()
        kspec.dimension(x, sampled="rows")
        torch.cuda.synchronize()
        print(f"   under the profiler: {time.perf_counter() - start:.3f} s")
    print(p.key_averages().table(sort_by="cuda_time_total", row_limit=25, max_name_column_width=70))


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", nargs="?", default="all")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--cols", type=int, default=4096)
    parser.add_argument("--json")
    args = parser.parse_args()
    parts = {
        "batch": lambda: batch(1000, 128, 512),
        "dimension": lambda: dimension(args.rows, args.cols),
        "accumulator": lambda: accumulator(1_000_000, args.cols),
        "profile": lambda: profile(args.rows, args.cols),
        "compare": lambda: compare(args.rows, args.cols // 2),
        "track": track,
    }
    print(torch.cuda.get_device_name(), "NumPy", np.__version__, "PyTorch", torch.__version__)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    rates()
    for name, run in parts.items():
        if args.what not in ("all", name):
            continue
        try:
            run()
        except Exception as e:  # the other parts are worth having
            print(f"{name}: {type(e).__name__}: {e}", flush=True)
    rates()
    if args.json:
        with open(args.json, "w") as f:
            json.dump(FOUND, f, indent=1)


if __name__ == "__main__":
    main()
