"""What Figures 4, A3 and A4 share: networks that learn Fashion-MNIST, and the moments of their hidden layers.

Quick: four widths, 2000 training images, 8 epochs, 500 test images, 16 networks of each width. Full: the
paper's six widths, 10,000 images, 120 epochs and 1000 test images. The paper has 29 networks of each width:
so has OUT/full/networks.json, which repro/networks.py makes on a GPU in minutes. Where that file is missing,
`kspec learn` trains 5 in an hour; checkpoints stand beside the results, so that an interrupted run continues.
The paper does not say how it scales pixels: every claim is checked with images centred to a mean length of 1
(`unit`) and with pixels/255.

z is Student's t of a difference of two widths' means over networks, as a normal deviate. With 29 networks it
sees differences that no picture shows. So widths count as different where z is beyond DIFFERENT and the means
are more than CLOSE apart."""
import json
import math

from harness import mean, standard_error
from paper000 import line, quartiles

ORDERS, SUBSAMPLE, DIFFERENT, CLOSE = (2, 3, 4), 128, 3, 0.1
PIXELS = {"unit": "images centred, mean |x|² = 1", "255": "pixels/255"}


def normal(t, freedom):
    """The normal deviate that is exceeded as seldom as Student's t (Wallace 1959; to 0.02 from 3 degrees of
    freedom on)"""
    z = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return math.copysign(z, t)


def with_error(x):
    return f"{mean(x):.3g} ± {standard_error(x):.1g}"


def paired(differences):
    """z of their mean"""
    return normal(mean(differences) / standard_error(differences), len(differences) - 1)


def apart(a, b):
    """z of the means' difference, by Welch's t"""
    va, vb = standard_error(a) ** 2, standard_error(b) ** 2
    freedom = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    return normal((mean(a) - mean(b)) / (va + vb) ** 0.5, freedom)


def files(figure):
    """The options that name the images and labels"""
    options = []
    for option, name in (("--images", "train15k-images-idx3"), ("--labels", "train15k-labels-idx1"),
                         ("--test-images", "t10k-images-idx3"), ("--test-labels", "t10k-labels-idx1")):
        options += [option, figure.data(f"fashion/{name}-ubyte.gz")]
    return options


class Training:
    def __init__(self, figure, pixels):
        self.widths = figure.pick((32, 128, 512, 1024), (32, 64, 128, 256, 512, 1024))
        stored = figure.out / "networks.json"
        if figure.full and stored.is_file():
            result = json.loads(stored.read_text())
            self._take({**result, "runs": result["runs"][pixels]})
            figure.commands.append(f"python3 repro/networks.py --seeds {result['seeds']} "
                                   f"--epochs {result['epochs']} … -o build/repro/full/networks.json")
            return
        size = ["--epochs", 8, "--every", 4, "--train-count", 2000, "--probe", 500, "--seeds", 16,
                "--no-stderr"]
        if figure.full:
            kept = (figure.out / f"learn-{pixels}").resolve()
            kept.mkdir(exist_ok=True)
            size = ["--epochs", 120, "--every", 4, "--seeds", 5, "--checkpoint", kept]
        learn = ["learn", *files(figure), "--width", ",".join(map(str, self.widths)),
                 "--subsample", SUBSAMPLE, "--pixels", pixels]
        self._take(figure.kspec(*learn, *size))
        if figure.full:  # networks before training cost little
            self.start = self._runs(figure.kspec(*learn, "--epochs", 1, "--train-count", 32, "--seeds", 32,
                                                 "--no-stderr"))

    def _take(self, result):
        self.runs = self.start = self._runs(result)
        self.count = len(self.runs[1024])
        self.epochs = [e["epoch"] for e in self.runs[1024][0]]
        self.last = len(self.epochs) - 1
        self.steps = self.epochs[-1] * -(-result["train_count"] // result["batch"])

    def _runs(self, result):
        return {w: [r["epochs"] for r in result["runs"] if r["width"] == w] for w in self.widths}

    def values(self, width, key, n, at):
        """One per network. at: index of the measured epoch; key: naive, unbiased, naive_subsample, …"""
        return [run[at][key][n - 1] for run in (self.runs if at else self.start)[width]]

    def away(self, width, key, n, at):
        """A width's mean less the widest's: (z, relative difference, width)"""
        a, b = self.values(width, key, n, at), self.values(self.widths[-1], key, n, at)
        return apart(a, b), (mean(a) - mean(b)) / mean(b), width

    def furthest(self, key, n, at, narrowest=0):
        return max((self.away(w, key, n, at) for w in self.widths[:-1] if w >= narrowest),
                   key=lambda c: abs(c[0]))

    def agree(self, key, epochs, narrowest=0):
        """The finding that the widths from the narrowest on agree with the widest at every order: within
        CLOSE of its mean, or not different beyond doubt"""
        cases = [(*self.away(w, key, n, at), n, at) for at in epochs for n in ORDERS
                 for w in self.widths[:-1] if w >= narrowest]
        apart = [c for c in cases if abs(c[0]) > DIFFERENT and abs(c[1]) > CLOSE]
        z, d, w, n, at = max(apart or cases, key=lambda c: abs(c[1] if apart else c[0]))
        of, than = (self.values(v, key, n, at) for v in (w, self.widths[-1]))
        number = (f"furthest width {w}, n = {n}, epoch {self.epochs[at]}: {with_error(of)} for "
                  f"{with_error(than)} at width {self.widths[-1]} ({d:+.1%}, z = {z:+.1f})")
        if apart:
            number += "; apart " + ", ".join(
                f"at {sum(c[3] == n for c in apart)} of {sum(c[3] == n for c in cases)} (n = {n})"
                for n in ORDERS)
        return number, not apart

    def line(self, width, key, n, label, **look):
        """Means over networks, with their quartiles as a band (the paper's shades) unless a style is given"""
        v = [[run[at][key][n - 1] for run in self.runs[width]] for at in range(len(self.epochs))]
        if "style" in look:
            return line(label, self.epochs, [mean(x) for x in v], **look)
        return quartiles(label, self.epochs, v, style="band", **look)

    def panel(self, title, n, series):
        """Against the epoch"""
        last = self.epochs[-1]
        return {"title": title, "xlabel": "epoch", "ylabel": f"m({n})", "xrange": [-0.03 * last, 1.03 * last],
                "series": series}
