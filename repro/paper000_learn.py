"""What Figures 4, A3 and A4 share: networks that learn Fashion-MNIST, and the moments of their hidden layers.

Quick: four widths, 2000 training images, 8 epochs, 500 test images, 6 networks of each width. Full: the
paper's six widths, 10,000 images, 120 epochs and 1000 test images, and 5 networks (the paper has 29);
checkpoints stand beside the results, so that an interrupted run continues. The paper does not say how it
scales pixels: every claim is checked with images centred to a mean length of 1 (`unit`) and with pixels/255.
The means of two widths count as different beyond LIMIT standard errors of their difference, over networks."""
from harness import mean, standard_error
from paper000 import LIMIT, line, quartiles

ORDERS, SUBSAMPLE = (2, 3, 4), 128
PIXELS = {"unit": "images centred, mean |x|² = 1", "255": "pixels/255"}


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
        size = ["--epochs", 8, "--every", 4, "--train-count", 2000, "--probe", 500, "--seeds", 16,
                "--no-stderr"]
        if figure.full:
            kept = (figure.out / f"learn-{pixels}").resolve()
            kept.mkdir(exist_ok=True)
            size = ["--epochs", 120, "--every", 4, "--seeds", 5, "--checkpoint", kept]
        result = figure.kspec("learn", *files(figure), "--width", ",".join(map(str, self.widths)),
                              "--subsample", SUBSAMPLE, "--pixels", pixels, *size)
        self.runs = {w: [r["epochs"] for r in result["runs"] if r["width"] == w] for w in self.widths}
        self.epochs = [e["epoch"] for e in self.runs[1024][0]]
        self.last = len(self.epochs) - 1
        self.steps = self.epochs[-1] * -(-result["train_count"] // result["batch"])

    def values(self, width, key, n, at):
        """One per network. at: index of the measured epoch; key: naive, unbiased, naive_subsample, …"""
        return [run[at][key][n - 1] for run in self.runs[width]]

    def away(self, width, key, n, at):
        """A width's mean less the widest's: (difference in standard errors, relative difference, width)"""
        a, b = self.values(width, key, n, at), self.values(self.widths[-1], key, n, at)
        d = mean(a) - mean(b)
        return d / (standard_error(a) ** 2 + standard_error(b) ** 2) ** 0.5, d / mean(b), width

    def furthest(self, key, n, at, narrowest=0):
        return max((self.away(w, key, n, at) for w in self.widths[:-1] if w >= narrowest),
                   key=lambda c: abs(c[0]))

    def agree(self, key, epochs, narrowest=0):
        """The finding that the widths from the narrowest on agree with the widest, at all orders"""
        cases = ((*self.furthest(key, n, at, narrowest), n, at) for at in epochs for n in ORDERS)
        z, d, w, n, at = max(cases, key=lambda c: abs(c[0]))
        return f"furthest width {w}, n = {n}, epoch {self.epochs[at]}: {d:+.1%} ({z:+.1f} SE)", abs(z) < LIMIT

    def line(self, width, key, n, label, **look):
        """Means over networks, with their quartiles as a band (the paper's shades) unless a style is given"""
        v = [self.values(width, key, n, at) for at in range(len(self.epochs))]
        if "style" in look:
            return line(label, self.epochs, [mean(x) for x in v], **look)
        return quartiles(label, self.epochs, v, style="band", **look)

    def panel(self, title, n, series):
        """Against the epoch"""
        last = self.epochs[-1]
        return {"title": title, "xlabel": "epoch", "ylabel": f"m({n})", "xrange": [-0.03 * last, 1.03 * last],
                "series": series}
