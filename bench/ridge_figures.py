#!/usr/bin/python3
"""The measurements of docs/ridge.md, as tables: bench/ridge_figures.py KSPEC DATA [NAME...]

DATA holds mnist/, fashion/ and kannada/ with their idx files. About ten minutes on two cores; a NAME runs one table.
"""
import json
import math
import subprocess
import sys

KSPEC, DATA = sys.argv[1:3]
NAMES = sys.argv[3:]
DRAWS = 30
shown = []  # commands of the table at hand; the first is printed


def ridge(train, test, classes, *options):
    """The points of kspec ridge for two classes of a pair of idx files"""
    images, labels = (f"{DATA}/{train}-{what}-ubyte.gz" for what in ("images-idx3", "labels-idx1"))
    command = [KSPEC, "ridge", images, "--target", labels, "--classes", classes, "--center", "--scale", "--json",
               "--quiet", *options]
    if test:
        command += ["--test", f"{DATA}/{test}-images-idx3-ubyte.gz", "--test-target", f"{DATA}/{test}-labels-idx1-ubyte.gz"]
    if not shown:
        print("   ", " ".join(command).replace(DATA, "$DATA").replace(KSPEC, "kspec"), "\n")
    shown.append(command)
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


MNIST = "mnist/train15k", "mnist/t10k"


def table(head, lines):
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |")
    print(flush=True)


def measured(p, what):
    """mean ± standard error of the mean, and how many of those the prediction is away"""
    mean, error = p[f"empirical_{what}_mse"], p[f"empirical_{what}_sd"] / math.sqrt(DRAWS)
    return f"{mean:.4g} ± {error:.2g}", f"{(p[f'{what}_mse'] - mean) / error:+.1f}"


def double_descent():
    """MNIST 8 v 9, n = 500, lambda 1e-7"""
    features = [50, 100, 150, 200, 225, 240, 250, 260, 275, 300, 400, 500, 750, 1000, 1500, 2000]
    j = ridge(*MNIST, "8,9", "--per-class", "250", "--features", ",".join(map(str, features)), "--lambda", "1e-7",
              "--empirical", str(DRAWS))
    lines = []
    for p in j["points"]:
        test, z = measured(p, "test")
        train, _ = measured(p, "train")
        lines.append([f"{p['features'] / j['rows']:g}", f"{p['test_mse']:.4g}", test, z, f"{p['train_mse']:.3g}", train,
                      f"{100 * (p['train_mse'] / p['empirical_train_mse'] - 1):+.0f}%", str(p["iterations"])])
    table(["N/n", "test, predicted", "measured", "in SE", "training, predicted", "measured", "off", "steps"], lines)


def beyond_the_kernel():
    """MNIST 1 v 7, n = 1024"""
    lambdas = "1e-4,1e-3,0.01,0.1,1,10,100"
    j = ridge(MNIST[0], None, "1,7", "--per-class", "512", "--features", "512,2048", "--lambda", lambdas, "--empirical",
              str(DRAWS))
    lines = []
    for p in j["points"]:
        train, z = measured(p, "train")
        lines.append([str(p["features"]), f"{p['lambda']:g}", f"{p['train_mse']:.4g}", train, z,
                      f"{p['kernel_train_mse']:.4g}"])
    table(["N", "λ", "training, predicted", "measured", "in SE", "kernel"], lines)


def against_lambda(title, train, test, features, *options):
    lambdas = "1e-4,1e-3,0.01,0.1,1,10,100"
    j = ridge(train, test, "5,6", *options, "--features", str(features), "--lambda", lambdas, "--empirical", str(DRAWS))
    lines = []
    for p in j["points"]:
        (a, az), (b, bz) = measured(p, "train"), measured(p, "test")
        lines.append([f"{p['lambda']:g}", f"{p['train_mse']:.4g}", a, az, f"{p['test_mse']:.4g}", b, bz])
    print(f"\n{title}: n = {j['rows']}, {j['test_rows']} test rows, N = {features}, {j['seconds']:.0f} s")
    table(["λ", "training, predicted", "measured", "in SE", "test, predicted", "measured", "in SE"], lines)


def fashion():
    """Fashion-MNIST 5 v 6, n = 2048"""
    against_lambda("Fashion-MNIST", "fashion/train15k", "fashion/t10k", 512, "--per-class", "1024", "--test-per-class", "1000")


def kannada():
    """Kannada-MNIST 5 v 6: the test set, half for training"""
    against_lambda("Kannada-MNIST", "kannada/test", None, 250, "--per-class", "500", "--test-per-class", "500")


def noise():
    """MNIST 3 v 7, 2N = n = 512, lambda 1e-7: test rows are training rows and noise"""
    lines = []
    for power in range(-10, 1):
        j = ridge(MNIST[0], None, "3,7", "--per-class", "256", "--features", "256", "--lambda", "1e-7", "--test-noise",
                  repr(math.sqrt(10.0**power)), "--empirical", str(DRAWS))
        p = j["points"][0]
        lines.append([f"1e{power}", f"{p['train_mse']:.3g}", measured(p, "train")[0], f"{p['test_mse']:.3g}",
                      *measured(p, "test")])
    table(["noise variance", "training, predicted", "measured", "test, predicted", "measured", "in SE"], lines)


def optimal():
    """MNIST 3 v 7, n = 500: the best lambda, and the test error there"""
    features = "50,125,250,500,1000,2000"
    common = ["--per-class", "250", "--features", features, "--empirical", str(DRAWS)]
    best = ridge(*MNIST, "3,7", *common, "--optimize", "lambda")["points"]
    tiny = ridge(*MNIST, "3,7", *common, "--lambda", "1e-7")["points"]
    lines = []
    for p, q in zip(best, tiny):
        lines.append([f"{p['features'] / 500:g}", f"{p['lambda']:.3g}", f"{p['test_mse']:.4g}", *measured(p, "test"),
                      f"{q['test_mse']:.4g}", measured(q, "test")[0]])
    table(["N/n", "best λ", "test there, predicted", "measured", "in SE", "test at 1e-7, predicted", "measured"], lines)
    fixed = ridge(*MNIST, "3,7", "--per-class", "250", "--optimize", "features", "--features", "2000", "--lambda",
                  "1e-7,0.01,1")["points"]
    for p in fixed:
        print(f"    lambda {p['lambda']:g}: the best N up to 2000 is {p['features']}, test error {p['test_mse']:.4g}")


for figure in double_descent, beyond_the_kernel, fashion, kannada, noise, optimal:
    if not NAMES or figure.__name__ in NAMES:
        print(f"\n### {figure.__doc__}\n")
        shown.clear()
        figure()
