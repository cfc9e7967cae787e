"""What Figures 4, A3 and A4 share: networks that learn Fashion-MNIST, and the moments of their hidden layers.

Quick: four widths, 2000 training images, 8 epochs, 500 test images, 6 networks of each width. Full: the paper's six widths,
10,000 images, 120 epochs and 1000 test images, and 5 networks (the paper has 29), kept in checkpoints below the results, so
that an interrupted run goes on. The paper does not say how it scales pixels: every claim is checked with images centred to
a mean length of 1 (`unit`) and with pixels/255.
Means of two widths count as different beyond LIMIT of the standard errors of their difference, over networks."""

from harness import mean, quantile, standard_error
from paper000 import LIMIT, line

ORDERS, SUBSAMPLE = (2, 3, 4), 128
PIXELS = {"unit": "images centred, mean |x|² = 1", "255": "pixels/255"}


def files(figure):
    return [
        "--images",
        figure.data("fashion/train15k-images-idx3-ubyte.gz"),
        "--labels",
        figure.data("fashion/train15k-labels-idx1-ubyte.gz"),
        "--test-images",
        figure.data("fashion/t10k-images-idx3-ubyte.gz"),
    ]


class Training:
    def __init__(self, figure, pixels):
        self.widths = figure.pick((32, 128, 512, 1024), (32, 64, 128, 256, 512, 1024))
        size = ["--epochs", 8, "--every", 4, "--train-count", 2000, "--probe", 500, "--seeds", 6, "--no-stderr"]
        if figure.full:
            kept = (figure.out / f"learn-{pixels}").resolve()
            kept.mkdir(exist_ok=True)
            size = ["--epochs", 120, "--every", 4, "--seeds", 5, "--checkpoint", kept]
        result = figure.kspec(
            "learn",
            *files(figure),
            "--width",
            ",".join(map(str, self.widths)),
            "--subsample",
            SUBSAMPLE,
            "--pixels",
            pixels,
            *size,
        )
        self.runs = {w: [r["epochs"] for r in result["runs"] if r["width"] == w] for w in self.widths}
        self.epochs = [e["epoch"] for e in self.runs[1024][0]]
        self.last = len(self.epochs) - 1
        self.steps = self.epochs[-1] * -(-result["train_count"] // result["batch"])

    def values(self, width, key, n, at):
        """One a network; at: which of the measured epochs; key: naive, unbiased, naive_subsample, unbiased_subsample"""
        return [run[at][key][n - 1] for run in self.runs[width]]

    def away(self, width, key, n, at):
        """A width's mean beside the widest's: (difference in standard errors, relative difference, width)"""
        a, b = self.values(width, key, n, at), self.values(self.widths[-1], key, n, at)
        d = mean(a) - mean(b)
        return d / (standard_error(a) ** 2 + standard_error(b) ** 2) ** 0.5, d / mean(b), width

    def furthest(self, key, n, at, narrowest=0):
        return max((self.away(w, key, n, at) for w in self.widths[:-1] if w >= narrowest), key=lambda c: abs(c[0]))

    def agree(self, key, epochs, narrowest=0):
        """(whether, in words) the widths from the narrowest on agree with the widest at these epochs, all orders"""
        z, d, w, n, at = max(
            ((*self.furthest(key, n, at, narrowest), n, at) for at in epochs for n in ORDERS), key=lambda c: abs(c[0])
        )
        return abs(z) < LIMIT, f"furthest width {w}, n = {n}, epoch {self.epochs[at]}: {d:+.1%} ({z:+.1f} SE)"

    def line(self, width, key, n, label, **look):
        """A panel's curve: means over networks, with their quartiles as a band (the paper's shades) unless a style is given"""
        v = [self.values(width, key, n, at) for at in range(len(self.epochs))]
        if "style" not in look:
            look.update(style="band", low=[quantile(x, 0.25) for x in v], high=[quantile(x, 0.75) for x in v])
        return line(label, self.epochs, [mean(x) for x in v], **look)

    def range(self):
        return [-0.03 * self.epochs[-1], 1.03 * self.epochs[-1]]
