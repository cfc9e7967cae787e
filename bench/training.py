"""How much longer does an epoch take if kspec follows the layers of a network while it trains on a GPU?

    python3 bench/training.py [transformer | resnet] [--steps N] [--epochs N] [--every N] [--json FILE]

Needs PyTorch and, for figures that mean anything, a GPU. Epochs alternate: plain; with an accumulator for
each layer that takes the activations of training steps from a forward hook; and with kspec.track(), which
runs a probe at the end of the epoch. The printed ratios compare medians of these epochs in one run.
"""

import argparse
import inspect
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
    def __init__(self, name, size, steps):
        torch.manual_seed(1)
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
        """An accumulator for each layer, with the rows of every `every`th step"""
        rows = {name: kspec.Accumulator(self.widths[name], sampled="rows") for name in self.names}
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

    def tracked(self):
        """kspec.track() with a probe of the size of a batch"""
        if not hasattr(self, "follow"):
            options = {"n": 2} if "n" in inspect.signature(kspec.Tracker.__init__).parameters else {}
            self.follow = kspec.track(self.model, self.names, self.data[0], **options)
        self.plain()
        self.follow.epoch()


def seconds(call):
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    out = call()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start, out


def measure(name, args):
    t = Training(name, args.size, args.steps)
    ways = {"plain": t.plain, f"accumulators, every {args.every} steps": lambda: t.hooked(args.every),
            "accumulators, every step": lambda: t.hooked(1), "track, a probe an epoch": t.tracked}
    times = {way: [] for way in ways}
    found = {}
    for epoch in range(args.epochs + 1):  # the first one is warm-up
        for way, call in ways.items():
            try:
                took, out = seconds(call)
            except Exception as e:
                took, out = float("nan"), None
                if epoch == 0:
                    print(f"   {way}: {type(e).__name__}: {e}", flush=True)
            if epoch:
                times[way].append(took)
            if isinstance(out, dict):
                last = out
    plain = sorted(times["plain"])[args.epochs // 2]
    print(f"{name}: {args.steps} steps of {tuple(t.data[0].shape)}, {len(t.names)} layers of "
          f"{sorted(set(t.widths.values()))} units, {args.epochs} epochs of each kind", flush=True)
    for way, values in times.items():
        median = sorted(values)[args.epochs // 2]
        found[way] = {"seconds": median, "longer_percent": 100 * (median / plain - 1)}
        print(f"   {way:34} {median:8.4f} s  {100 * (median / plain - 1):+7.2f}%   "
              f"({min(values):.4f} … {max(values):.4f})", flush=True)
    print("   dimensions:", " ".join(f"{r.dimension:.3g}" for r in last.values()), flush=True)
    return found


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", nargs="?", choices=["transformer", "resnet"])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--size", type=int, default=64, help="64, or less for a smaller network")
    parser.add_argument("--json")
    args = parser.parse_args()
    print(torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU", "PyTorch", torch.__version__)
    found = {name: measure(name, args) for name in ([args.what] if args.what else ["transformer", "resnet"])}
    if args.json:
        with open(args.json, "w") as f:
            json.dump(found, f, indent=1)


if __name__ == "__main__":
    main()
