"""How much longer does an epoch take if kspec follows the layers of a network while it trains on a GPU?

    python3 bench/training.py [transformer | resnet] [--steps N] [--epochs N] [--every N ...] [--json FILE]

Needs PyTorch and, for figures that mean anything, a GPU. Runs of several epochs alternate: plain; with
kspec.track(), which runs a probe at the end of each epoch; and with an accumulator for each layer that takes
the activations of training steps from a forward hook. A run ends when its last result is there. The printed
ratios compare medians of these runs.
"""

import argparse
import json
import time

import torch

import kspec

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Block(torch.nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.body = torch.nn.Sequential(
            conv(before, after, 3, stride, 1, bias=False), norm(after), torch.nn.ReLU(),
            conv(after, after, 3, 1, 1, bias=False), norm(after))
        self.short = conv(before, after, 1, stride, bias=False) if before != after else torch.nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def resnet(size):
    """A ResNet of eight blocks for 32 x 32 images; tracked are the blocks' channels, averaged over space."""
    widths = [64, 64, 128, 128, 256, 256, 512, 512]
    widths = [max(8, w * size // 64) for w in widths]
    blocks = [Block(a, b, 2 if b != a else 1) for a, b in zip([widths[0], *widths], widths)]
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, widths[0], 3, 1, 1), *blocks, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
        torch.nn.Linear(widths[-1], 10))
    data = torch.randn(256 * size // 64 or 8, 3, 32, 32)
    return model, [str(k + 1) for k in range(8)], widths, data, lambda y: y.mean((2, 3))


def transformer(size):
    """Six layers of a transformer; rows are tokens."""
    units = 8 * size
    layer = torch.nn.TransformerEncoderLayer(units, 8, 4 * units, batch_first=True)
    model = torch.nn.Sequential(
        torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False), torch.nn.Linear(units, 10))
    data = torch.randn(32, 2 * size, units)
    return model, [f"0.layers.{k}" for k in range(6)], [units] * 6, data, lambda y: y.reshape(-1, y.shape[-1])


class Training:
    def __init__(self, name, size, steps, reservoir):
        torch.manual_seed(1)
        self.reservoir = reservoir
        make = {"resnet": resnet, "transformer": transformer}[name]
        self.model, self.names, widths, data, self.rows = make(size)
        self.model.to(DEVICE)
        self.data = [data.to(DEVICE) + 0.1 * torch.randn_like(data).to(DEVICE) for _ in range(4)]
        out = self.model(self.data[0])
        self.labels = torch.randint(10, out.shape[:-1], device=DEVICE).reshape(-1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-4)
        self.widths = dict(zip(self.names, widths))
        self.steps, self.modules = steps, dict(self.model.named_modules())

    def step(self, k):
        with torch.autocast(DEVICE, torch.bfloat16):
            out = self.model(self.data[k % len(self.data)])
        loss = torch.nn.functional.cross_entropy(out.float().reshape(-1, 10), self.labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def plain(self):
        for k in range(self.steps):
            self.step(k)

    def hooked(self, every):
        """An accumulator for each layer and epoch, with the rows of every `every`th step"""
        options = {"sampled": "rows", "reservoir": self.reservoir}
        rows = {name: kspec.Accumulator(self.widths[name], **options) for name in self.names}
        now = [False]

        def hook(name):
            def add(_module, _inputs, out):
                if now[0]:
                    rows[name].update(self.rows(out.detach()))
            return add

        hooks = [self.modules[name].register_forward_hook(hook(name)) for name in self.names]
        for k in range(self.steps):
            now[0] = k % every == 0
            self.step(k)
        for h in hooks:
            h.remove()
        return {name: rows[name].result() for name in self.names}

    def tracked(self, epochs):
        """kspec.track() with a probe of the size of a batch"""
        follow = kspec.track(self.model, self.names, self.data[0])
        for _ in range(epochs):
            self.plain()
            follow.epoch()
        return {r["name"]: r["dimension"] for r in follow.records}

    def probe(self):
        """How long one measurement takes: until epoch() returns, and until its records are there"""
        follow = kspec.track(self.model, self.names, self.data[0])
        follow.epoch()[0]
        start = time.perf_counter()
        records = follow.epoch()
        returned = time.perf_counter() - start
        len(records)
        return returned, time.perf_counter() - start


def seconds(call):
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    out = call()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start, out


def measure(name, args):
    t = Training(name, args.size, args.steps, args.reservoir)
    ways = {
        "plain": lambda n: [t.plain() for _ in range(n)][-1],
        "track, a probe an epoch": t.tracked,
    }
    for every in args.every:
        def hooked(n, every=every):
            return [t.hooked(every) for _ in range(n)][-1]

        ways[f"accumulators, every {every} steps"] = hooked
    times = {way: [] for way in ways}
    found = {}
    for call in ways.values():
        call(1)  # warm-up
    for _ in range(args.repeats):
        for way, call in ways.items():
            took, out = seconds(lambda call=call: call(args.epochs))
            times[way].append(took / args.epochs)
            print(f"   {took / args.epochs:.4f} s an epoch, {way}", flush=True)
            found[way] = out
    plain = sorted(times["plain"])[args.repeats // 2]
    print(f"{name}: {args.steps} steps of {tuple(t.data[0].shape)}, {len(t.names)} layers of "
          f"{sorted(set(t.widths.values()))} units, {args.repeats} runs of {args.epochs} epochs", flush=True)
    for way, values in times.items():
        median = sorted(values)[args.repeats // 2]
        print(f"   {way:34} {median:8.4f} s  {100 * (median / plain - 1):+7.2f}%   "
              f"({min(values):.4f} … {max(values):.4f})", flush=True)
        times[way] = {"seconds": median, "longer_percent": 100 * (median / plain - 1)}
    returned, done = t.probe()
    print(f"   one probe: epoch() returns after {1e3 * returned:.1f} ms, its records are there after "
          f"{1e3 * done:.1f} ms", flush=True)
    for way, out in found.items():
        if out:
            print(f"   dimensions, {way}:", " ".join(f"{float(d):.3g}" for d in out.values()), flush=True)
    return times


def parts(args):
    """What one update and one result take, by themselves"""
    x = torch.randn(4096, 512, device=DEVICE)
    for rows in (512, 4096):
        a = kspec.Accumulator(512, sampled="rows", reservoir=args.reservoir)
        took = [seconds(lambda: a.update(x[:rows]))[0] for _ in range(60)]
        last = [seconds(a.result)[0] for _ in range(5)]
        print(f"update() by {rows} rows of 512 units {1e3 * sorted(took)[30]:.3f} ms, result() "
              f"{1e3 * sorted(last)[2]:.2f} ms; dimension() of them "
              f"{1e3 * sorted(seconds(lambda: kspec.dimension(x[:rows]))[0] for _ in range(9))[4]:.2f} ms",
              flush=True)


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", nargs="?", choices=["transformer", "resnet"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=3, help="of a run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--every", type=int, nargs="*", default=[10])
    parser.add_argument("--reservoir", type=int, default=1024, help="rows for the interval")
    parser.add_argument("--size", type=int, default=64, help="64, or less for a smaller network")
    parser.add_argument("--json")
    args = parser.parse_args()
    print(torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU", "PyTorch", torch.__version__)
    if args.every:
        parts(args)
    found = {name: measure(name, args) for name in ([args.what] if args.what else ["transformer", "resnet"])}
    if args.json:
        with open(args.json, "w") as f:
            json.dump(found, f, indent=1)


if __name__ == "__main__":
    main()
