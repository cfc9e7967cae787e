#!/usr/bin/env python3
"""Trains the networks of Figures 4, A3 and A4 on a GPU, by JAX: repro/networks.py [--seeds 29] -o FILE

`kspec learn` trains on the processor: 29 networks of six widths under two scalings of pixels are 14 hours of
one core. Here all networks of a width learn side by side on a GPU, in minutes. Network, loss, Adam and first
weights are those of docs/explanation/learning.md; the random numbers are others. kspec measures the hidden
layers.

FILE is JSON: for each scaling the runs in the form of `kspec learn`, written after each width. If FILE
exists, the widths in it are kept and only the others are trained. `repro/run.py --full 000-4` reads FILE in
place of training if it is OUT/full/networks.json. Every 20 epochs FILE also has m(n)/m(1)^n with the
jackknife's correction of its bias, which `kspec learn` does not give.

The first 10,000 images train; the first 1000 test images are measured, and the test accuracy is of them.
"""
import argparse
import concurrent.futures
import gzip
import json
import multiprocessing
import os
import struct
import sys
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np

import kspec

warnings.simplefilter("ignore", kspec.KspecWarning)
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")

SCALINGS = ("unit", "255")
BATCH, CLASSES, BETA1, BETA2, EPSILON = 32, 10, 0.9, 0.999, 1e-8
ORDERS, SUBSAMPLE = 4, 128


def read_idx(path):
    with gzip.open(path) as f:
        content = f.read()
    shape = struct.unpack(f">{content[3]}I", content[4:4 + 4 * content[3]])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(shape[0], -1)


def scaled(images, train):
    """Both scalings of images: centred with mean |x|^2 = 1, as the training images say, and divided by 255"""
    train, images = train.astype(float), images.astype(float)
    mean = train.mean(axis=0)
    factor = 1 / np.sqrt(((train - mean) ** 2).sum(axis=1).mean())
    return np.stack([factor * (images - mean), images / 255])


class Networks:
    """`seeds` networks of one width under each scaling, side by side: network r has scaling r // seeds"""

    def __init__(self, width, seeds, x, labels, test_x, test_labels, key):
        self.width, self.seeds, self.count = width, seeds, len(SCALINGS) * seeds
        self.scaling = jnp.arange(self.count) // seeds
        self.x, self.t = jnp.asarray(x, jnp.float32), jax.nn.one_hot(labels, CLASSES, dtype=jnp.float32)
        self.test_x, self.test_labels = jnp.asarray(test_x, jnp.float32), jnp.asarray(test_labels)
        self.labels, self.probe = jnp.asarray(labels), jnp.asarray(test_x)
        first, second, self.key = jax.random.split(key, 3)
        W = width ** -0.5 * jax.random.normal(first, (self.count, width, x.shape[2]), jnp.float32)
        A = width ** -0.5 * jax.random.normal(second, (self.count, width, CLASSES), jnp.float32)
        self.state = (W, A, *(jnp.zeros_like(p) for p in (W, A, W, A)), jnp.zeros((), jnp.int32))
        self.run_epoch = jax.jit(self._epoch, donate_argnums=0)
        self.run_evaluate, self.run_layer = jax.jit(self._evaluate), jax.jit(self._layer)

    def _step(self, state, images):
        """One step of Adam on a mini-batch of each network"""
        W, A, mW, mA, vW, vA, steps = state
        x, t = self.x[self.scaling[:, None], images], self.t[images]
        h = jnp.maximum(jnp.einsum("rbd,rnd->rbn", x, W), 0)
        r = (2 / images.shape[1]) * (jnp.einsum("rbn,rnc->rbc", h, A) - t)
        d = jnp.where(h > 0, jnp.einsum("rbc,rnc->rbn", r, A), 0)
        gradients = jnp.einsum("rbn,rbd->rnd", d, x), jnp.einsum("rbn,rbc->rnc", h, r)
        steps = steps + 1
        power = steps.astype(jnp.float64)
        root = jnp.sqrt(1 - BETA2 ** power)
        rate = (0.1 / self.width * root / (1 - BETA1 ** power)).astype(jnp.float32)
        epsilon = (EPSILON * root).astype(jnp.float32)
        after = []
        for p, m, v, g in zip((W, A), (mW, mA), (vW, vA), gradients):
            m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
            after.append((p - rate * m / (jnp.sqrt(v) + epsilon), m, v))
        (W, mW, vW), (A, mA, vA) = after
        return (W, A, mW, mA, vW, vA, steps), None

    def _epoch(self, state, key):
        """Once through the images, in an order of its own for each network"""
        n = self.x.shape[1]
        order = jax.vmap(lambda k: jax.random.permutation(k, n))(jax.random.split(key, self.count))
        full = n // BATCH
        batches = order[:, :full * BATCH].reshape(self.count, full, BATCH).transpose(1, 0, 2)
        state, _ = jax.lax.scan(self._step, state, batches)
        return state if n % BATCH == 0 else self._step(state, order[:, full * BATCH:])[0]

    def _evaluate(self, W, A):
        """(loss, accuracy, accuracy on test images) of each network"""
        def one(network):
            W, A, s = network
            y = jnp.maximum(self.x[s] @ W.T, 0) @ A
            z = jnp.maximum(self.test_x[s] @ W.T, 0) @ A
            return (((y - self.t) ** 2).sum(axis=1).mean(), (y.argmax(axis=1) == self.labels).mean(),
                    (z.argmax(axis=1) == self.test_labels).mean())
        return jax.lax.map(one, (W, A, self.scaling))

    def _layer(self, W, r):
        """The hidden layer of one network on the test images, in double precision"""
        return jnp.maximum(self.probe[self.scaling[r]] @ W[r].astype(jnp.float64).T, 0)

    def train(self):
        self.key, key = jax.random.split(self.key)
        self.state = jax.block_until_ready(self.run_epoch(self.state, key))


def moments(phi, device, errors):
    options = {} if device == "gpu" else {"threads": 1, "device": "cpu"}
    r = kspec.moments(phi, n=ORDERS, estimator=["naive", "exact"], normalize=True, no_stderr=not errors,
                      scale_free=errors, **options).to_dict()
    found = {}
    for e in r["estimates"]:
        kind = "unbiased" if e["estimator"] == "exact" else "naive"
        keys = {"value": kind}
        if errors:
            keys |= {"stderr": f"{kind}_stderr".removeprefix("unbiased_"),
                     "scale_free_stderr": f"{kind}_ratio_stderr".removeprefix("unbiased_"),
                     "scale_free": f"{kind}_scale_free"}
        for key, name in keys.items():
            found.setdefault(name, []).append(float(f"{e[key]:.9g}"))
    return found, r["device"]


def measure(phi, width, device, errors):
    """The estimates from all neurons, and from the first 128: before training all are alike, and remain so"""
    found, where = moments(phi, device, errors)
    if width == 1024:
        part, _ = moments(phi[:, :SUBSAMPLE], device, errors)
        found |= {f"{key}_subsample": value for key, value in part.items()}
    return found, where


def choose_device(wanted, phi):
    """Where to measure: on the GPU if that works, agrees with the processor, and is not slow"""
    if wanted == "cpu":
        return "cpu"
    try:
        there, where = measure(phi, 1024, "gpu", True)
        here, _ = measure(np.asarray(phi), 1024, "cpu", True)
        apart = max(abs(a / b - 1) for k in here for a, b in zip(there[k], here[k]) if b)
        start = time.monotonic()
        measure(phi, 1024, "gpu", False)
        took = time.monotonic() - start
        print(f"measured on {where} in {took:.3f} s: at most {apart:.1e} from the processor's, relative",
              flush=True)
        return "gpu" if where.startswith("gpu") and apart < 1e-6 and took < 0.15 else "cpu"
    except Exception as reason:
        print(f"not measured on a GPU: {reason}", flush=True)
        return "cpu"


class Measuring:
    """The estimates of all networks of a width, one epoch after another: on the GPU here, or by processes of
    one thread each, while the training goes on"""

    def __init__(self, device, pool, errors):
        self.device, self.pool, self.errors, self.records = device, pool, errors, []

    def take(self, networks, epoch):
        """Returns the loss of each network"""
        W, A = networks.state[:2]
        evaluated = [np.asarray(v).tolist() for v in networks.run_evaluate(W, A)]
        for r in range(networks.count):
            head = {"epoch": epoch} | dict(zip(("loss", "accuracy", "test_accuracy"),
                                               (v[r] for v in evaluated)))
            phi, errors = networks.run_layer(W, r), self.errors and epoch % 20 == 0
            if self.device == "cpu":
                while sum(not f.done() for _, _, f in self.records[-200:]) > 100:
                    time.sleep(0.01)
                found = self.pool.submit(measure, np.asarray(phi), networks.width, "cpu", errors)
            else:
                found = concurrent.futures.Future()
                found.set_result(measure(phi, networks.width, self.device, errors))
            self.records.append((r, head, found))
        return evaluated[0]

    def wait(self):
        concurrent.futures.wait([f for _, _, f in self.records])

    def of(self, r):
        return [{**head, **f.result()[0]} for k, head, f in self.records if k == r]


def plan(a, epoch, measuring):
    """(every, epochs): measured less often, then fewer epochs, where all would take longer than the limit;
    the widest width takes 0.4 of it"""
    for every in (a.every, 20):
        fits = int((a.limit / 2.5 - measuring) / (epoch + measuring / every))
        if fits >= a.epochs:
            return every, a.epochs
    return 20, max(20, fits // 20 * 20)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("images", "labels", "test-images", "test-labels"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--widths", default="32,64,128,256,512,1024")
    p.add_argument("--seeds", type=int, default=29, help="networks of each width and scaling")
    p.add_argument("--epochs", type=int, default=120)
    p.add_argument("--every", type=int, default=4, help="measure every so many epochs")
    p.add_argument("--train-count", type=int, default=10000)
    p.add_argument("--probe", type=int, default=1000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--processes", type=int, default=4, help="measuring on the processor")
    p.add_argument("--measure", choices=["gpu", "cpu"], default="gpu")
    p.add_argument("--at", help="measure before training and at these epochs instead, such as 4,20,120")
    p.add_argument("--no-stderr", action="store_true", help="no error bars, no corrected ratios")
    p.add_argument("--limit", type=float, help="less if all would take longer than this, s")
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()

    train, labels = (read_idx(f)[:a.train_count] for f in (a.images, a.labels))
    test, test_labels = (read_idx(f)[:a.probe] for f in (a.test_images, a.test_labels))
    x, test_x = scaled(train, train), scaled(test, train)
    widths = [int(w) for w in a.widths.split(",")]
    start, epochs, every, device = time.monotonic(), a.epochs, a.every, None
    runs, at = {scaling: [] for scaling in SCALINGS}, [int(e) for e in (a.at or "").split(",") if e]
    print(f"JAX {jax.__version__} on {jax.devices()[0]}", flush=True)

    def networks(width):
        key = jax.random.fold_in(jax.random.key(a.seed), width)
        return Networks(width, a.seeds, x, labels[:, 0], test_x, test_labels[:, 0], key)

    if os.path.exists(a.output):
        with open(a.output) as f:
            runs = json.load(f)["runs"]
        widths = [w for w in widths if w not in {r["width"] for r in runs[SCALINGS[0]]}]
    pool = concurrent.futures.ProcessPoolExecutor(a.processes, multiprocessing.get_context("spawn"))
    for width in sorted(widths, reverse=True):
        n, begin, epoch, training = networks(width), time.monotonic(), 0, 0.0
        device = device or choose_device(a.measure, n.run_layer(n.state[0], 0))
        m = Measuring(device, pool, not a.no_stderr)
        m.take(n, 0)
        m.wait()
        measuring = 0.0
        if a.limit and width == max(widths):  # how long that takes when all is compiled
            trial, before = Measuring(device, pool, False), time.monotonic()
            trial.take(n, 1)
            trial.wait()
            measuring = time.monotonic() - before
        while epoch < epochs:
            before, epoch = time.monotonic(), epoch + 1
            n.train()
            took = time.monotonic() - before
            training += took if epoch > 1 else 0  # the first compiles
            if epoch == 3 and a.limit and width == max(widths):
                # the narrower widths take once and a half as long
                every, epochs = plan(a, took, measuring)
                print(f"width {width}: {took:.3f} s an epoch, {measuring:.2f} s to measure: {epochs} epochs, "
                      f"measured every {every}", flush=True)
            if epoch in at if at else epoch % every == 0 or epoch == epochs:
                loss = m.take(n, epoch)
        for r in range(n.count):
            runs[SCALINGS[r // a.seeds]].append({"width": width, "seed": r % a.seeds, "epochs": m.of(r)})
        print(f"width {width}: {epochs} epochs, training {training:.1f} s, in all "
              f"{time.monotonic() - begin:.1f} s; loss {np.mean(loss[:a.seeds]):.4f}, "
              f"{np.mean(loss[a.seeds:]):.4f}", flush=True)
        content = {"train_count": len(train), "batch": BATCH, "probe": len(test), "seeds": a.seeds,
                   "epochs": epochs, "every": every, "measured_on": device,
                   "trained_by": f"JAX {jax.__version__} on {jax.devices()[0].device_kind}",
                   "seconds": round(time.monotonic() - start, 1), "runs": runs}
        with open(a.output, "w") as f:  # after each width: what is done is not lost
            json.dump(content, f)
    return 0


if __name__ == "__main__":
    sys.exit(main())
