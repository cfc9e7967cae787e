"""Data sets that break an assumption, and clean ones: what kspec says about each.

usage: assumptions.py KSPEC TABLES [NAME [SEED]]

A corrupted data set is answered correctly (the truth is in the interval), refused, or carries the doubt that
names the cause. Clean data sets carry none, but for what is true of them (`but`). With a NAME: those that
have it in theirs, and all that is said about them; "" is every one.
"""

import contextlib
import gzip
import io
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

KSPEC, TABLES = sys.argv[1], pathlib.Path(sys.argv[2])
ONLY = sys.argv[3] if len(sys.argv) > 3 else ""
rng = np.random.default_rng(int(sys.argv[4]) if len(sys.argv) > 4 else 20)

# ---- how data are made ----


def latent(rows, dims=8, power=0.5):
    return rng.normal(size=(rows, dims)) * np.arange(1, dims + 1) ** -power


def data(rows=200, cols=60, dims=8, noise=0.3, z=None):
    """Rows are mixtures of latent variables, with noise"""
    z = latent(rows, dims) if z is None else z
    return z @ rng.normal(size=(z.shape[1], cols)) + noise * rng.normal(size=(len(z), cols))


def dimension(dims, noise=0.0, standardized=False):
    """Of data() of infinitely many rows and columns"""
    values = 1 / np.arange(1, dims + 1)
    if not standardized:
        return (values.sum() + noise**2) ** 2 / (values**2).sum()
    a, b = np.random.default_rng(0).normal(size=(2, 10000, dims))
    squares = ((a**2) @ values + noise**2) * ((b**2) @ values + noise**2)
    return 1 / np.mean(((a * b) @ values) ** 2 / squares)


def ar(rows, rho, dims=8):
    z = latent(rows, dims)
    for i in range(1, rows):
        z[i] = rho * z[i - 1] + np.sqrt(1 - rho**2) * z[i]
    return z


def put(x, places, value):
    x = np.array(x)
    for i, j in places:
        x[i, j] = value
    return x


def distances(x):
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))


def trials(count=2, rows=80, cols=40, noise=1.0):
    signal = data(rows, cols, noise=0)
    return np.stack([signal + noise * rng.normal(size=signal.shape) for _ in range(count)])


def text(x, separator=",", form="%.6g", header=None):
    lines = [separator.join(form % v for v in row) for row in x]
    return "\n".join(([separator.join(map(str, header))] if header else []) + lines) + "\n"


def table(name):
    path = TABLES / name
    raw = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    return np.loadtxt(io.StringIO(raw.decode()), delimiter=",", skiprows=int(not name.endswith(".gz")))


# ---- what kspec says ----


def write(name, x):
    """An array, a text or bytes in a file of a fitting name"""
    if isinstance(x, np.ndarray):
        np.save(name + ".npy", x)
        return name + ".npy"
    pathlib.Path(name).write_bytes(x if isinstance(x, bytes) else x.encode())
    return name


def ask(command, inputs, options=()):
    names = [write(f"x{k}", x) for k, x in enumerate(inputs)]
    line = [KSPEC, *command.split(), *names, *options, "--json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr.strip(), done.returncode


# ---- corrupted: (name, command, INPUTs, options, what is expected) ----
# expected: ("doubt", code, pattern of its text), ("refused", pattern), ("right", the true dimension)

corrupted = []


def bad(name, expected, *inputs, command="dimension", options=()):
    corrupted.append((name, command, inputs, options, expected))


def doubt(code, pattern="."):
    return ("doubt", code, pattern)


def refused(pattern):
    return ("refused", pattern)


x = data(dims=6)
for value in (1e6, -1e6, 3e3):
    bad(f"one entry {value:g}", doubt("wild-entry", r"row 17, column 22 .*--fill"), put(x, [(17, 22)], value))
for command in ("dimension", "moments -n 3", "spectrum"):
    blamed = r"row 17, column 22 \(from 0\) is 1e\+150 .*--fill 1e\+150"
    bad(f"one entry 1e150, {command}", refused(blamed), put(x, [(17, 22)], 1e150), command=command)
bad(
    "one entry 1e150, compare",
    refused("the second matrix.* row 17, column 22"),
    x + 1,
    put(x, [(17, 22)], 1e150),
    command="compare",
)
bad(
    "one row of 1e150",
    refused(r"row 31 \(from 0\) carries"),
    x * np.where(np.arange(200) == 31, 1e150, 1)[:, None],
)
for count in (2, 5, 20):
    places = [(int(i), int(j)) for i, j in zip(rng.permutation(200)[:count], rng.permutation(60)[:count])]
    signs = 1e6 * rng.choice([-1, 1], count)
    glitches = sum((put(0 * x, [p], v) for p, v in zip(places, signs)), x)
    bad(f"{count} entries of 1e6", doubt("wild-entr(y|ies)", "--fill"), glitches)
bad(
    "one entry 1e6 of two trials",
    doubt("wild-entry", "row 3, column 5"),
    np.stack([put(x, [(3, 5)], 1e6), x + 1]),
)
bad(
    "one entry 1e6, moments",
    doubt("wild-entry", "row 1, column 2"),
    put(x, [(1, 2)], 1e6),
    command="moments -n 3",
)
bad(
    "one entry 1e6, spectrum",
    doubt("wild-entry", "row 1, column 2"),
    put(x, [(1, 2)], 1e6),
    command="spectrum",
)
bad(
    "one entry 1e6, compare",
    doubt("wild-entry", "row 1, column 2"),
    put(x, [(1, 2)], 1e6),
    data(),
    command="compare",
)
bad(
    "one entry 1e6, as missing",
    ("right", dimension(6, 0.3)),
    put(x, [(17, 22)], 1e6),
    options=["--fill", "1000000", "--nan", "pairwise"],
)
for value in (-999, 9999, -9999, -32768, 9.969209968386869e36, 1e20):
    places = [(3, 4), (50, 4), (120, 40)]
    bad(f"missing marked by {value:g}", doubt("fill-value", r"3 values are .*--fill"), put(x, places, value))
bad("NetCDF's mark as text has it", doubt("fill-value", "9.96921e"), put(x, [(9, 9), (40, 3)], 9.96921e36))
bad("missing marked by 999", doubt("fill-value", "row 3, column 4"), put(x, [(3, 4)], 999))
bad("NetCDF's mark as float32", doubt("fill-value", "9.96921e"), put(x, [(9, 9)], 9.96921e36).astype("f4"))
bad("two marks", doubt("fill-value", "-999"), put(put(x, [(3, 4)], -999), [(7, 8)], 1e20))
bad("marks of a tenth", doubt("fill-value", "-9999"), np.where(rng.random(x.shape) < 0.1, -9999, x))
bad(
    "one row of 300 times the rest",
    doubt("wild-row", "row 31"),
    x * np.where(np.arange(200) == 31, 300, 1)[:, None],
)
bad("a row of sums", doubt("wild-row", "row 200"), np.vstack([x + 3, (x + 3).sum(axis=0)]))
bad(
    "one column of 10^8",
    doubt("wild-column", "column 7.*--standardize"),
    x * np.where(np.arange(60) == 7, 1e8, 1),
)
bad(
    "one column of 10^8, standardized",
    ("right", dimension(6, 0.3, standardized=True)),
    x * np.where(np.arange(60) == 7, 1e8, 1),
    options=["--standardize"],
)

for rho in (0.5, 0.8, 0.9, 0.95, 0.98):
    bad(
        f"AR(1), {rho}", doubt("neighbours-alike", "time series.*--block auto"), data(300, 60, z=ar(300, rho))
    )
bad(
    "AR(1), 0.9, two trials",
    doubt("neighbours-alike"),
    (z := data(z=ar(200, 0.9))) + rng.normal(size=(2, 200, 60)),
)
bad("random walks", doubt("neighbours-alike"), np.cumsum(rng.normal(size=(200, 40)), axis=0))
bad(
    "a slow drift",
    doubt("neighbours-alike"),
    data(300) + 2 * np.linspace(-1, 1, 300)[:, None] * rng.normal(size=60),
)
bad(
    "a moving average of 4",
    doubt("neighbours-alike"),
    np.array(
        [
            g.mean(axis=0)
            for g in np.lib.stride_tricks.sliding_window_view(data(203), 4, axis=0).transpose(0, 2, 1)
        ]
    ),
)
bad(
    "every row 16 later again",
    doubt("neighbours-alike", "16 apart"),
    data(z=latent(16)[np.arange(200) % 16], noise=1.0),
)
bad(
    "AR(1), compare",
    doubt("neighbours-alike"),
    (z := ar(300, 0.9)) @ rng.normal(size=(8, 40)),
    z @ rng.normal(size=(8, 30)),
    command="compare",
)
bad("AR(1), spectrum", doubt("neighbours-alike"), data(300, z=ar(300, 0.9)), command="spectrum")
bad(
    "AR(1), 0.9, in blocks",
    ("right", dimension(6, 0.1)),
    data(300, z=ar(300, 0.9, 6), noise=0.1),
    options=["--block", "auto"],
)
bad(
    "a series too short for blocks",
    refused("fewer than 5 blocks"),
    np.cumsum(rng.normal(size=(60, 30)), axis=0),
    options=["--block", "auto"],
)

shuffled = rng.permutation(200)
bad(
    "stimuli repeated as rows",
    doubt("near-copies", "--groups"),
    (latent(50)[np.arange(200) % 50] @ rng.normal(size=(8, 60)) + 0.05 * rng.normal(size=(200, 60)))[
        shuffled
    ],
)
bad("a file read twice", doubt("repeated-rows", "100 of 200 rows"), np.vstack([y := data(100), y]))
bad(
    "a tenth of the rows twice",
    doubt("repeated-rows", "20 of 220"),
    np.vstack([x, x[rng.permutation(200)[:20]]]),
)
bad("columns twice", doubt("repeated-cols", "12 of 72"), np.hstack([x, x[:, 5:17]]))
bad(
    "repeats, by groups",
    ("right", dimension(6)),
    np.repeat(data(150, dims=6, noise=0), 2, axis=0),
    options=["--groups", write("pairs.txt", text(np.arange(150).repeat(2)[:, None], form="%d"))],
)

s = data(40, 60)
bad("correlations", doubt("symmetric", "correlation"), np.corrcoef(x, rowvar=False))
bad(
    "correlations as text", doubt("symmetric", "correlation"), text(np.corrcoef(x, rowvar=False), form="%.4f")
)
bad("covariances", doubt("symmetric", "Gram or covariance"), np.cov(x, rowvar=False))
bad("products of rows", doubt("symmetric", "Gram or covariance"), s @ s.T)
bad("distances", doubt("symmetric", "distances"), distances(s))
bad("squared distances as float32", doubt("symmetric", "distances"), (distances(s) ** 2).astype("f4"))
bad("similarities", doubt("symmetric"), np.exp(-(distances(s) ** 2) / 100))
bad("1 less correlation", doubt("symmetric", "distances"), 1 - np.corrcoef(x, rowvar=False))
bad("a trial twice", doubt("copied-trials", "trials 0 and 1"), np.stack([x, x]))
bad("a trial and its float32", doubt("copied-trials"), x, x.astype("f4").astype(float))
bad("trial 2 is trial 0", doubt("copied-trials", "0 and 2"), np.concatenate([t := trials(2), t[:1]]))
bad("two files of one content", doubt("copied-trials"), x, x)
bad("trials of other things", doubt("unrelated-trials"), data(), data())
bad(
    "shared columns",
    doubt("shared-cols", "20 of 60"),
    x,
    np.hstack([x[:, 40:], data(200, 20)]),
    command="compare",
)
bad(
    "shared columns, in float32",
    doubt("shared-cols", "60 of 60"),
    x,
    x[:, ::-1].astype("f4").astype(float),
    command="compare",
)
bad("a header of years", doubt("header-row", "1990"), text(data(50, 12), header=range(1990, 2002)))
bad("a header of numbers", ("shape", 50, 12), text(data(50, 12), header=range(12)))
bad("a header of years, in blanks", doubt("header-row"), text(data(50, 12), " ", header=range(1951, 1963)))
bad("decimal commas", refused("decimal comma"), text(data(300, 12), ";").replace(".", ","))
bad(
    "decimal commas between commas",
    doubt("decimal-comma"),
    text(np.abs(data(60, 5)) + 1, form="%.3f").replace(".", ","),
)
bad(
    "bytes after the end of gzip",
    refused("7 bytes that are not compressed follow"),
    gzip.compress(text(x).encode()) + b"garbage",
)
bad("a row cut short", refused("row|line"), text(x)[:-9] + "\n1,2\n")
bad("an index column", doubt("index-column", "--select-cols"), text(np.hstack([np.arange(200)[:, None], x])))
bad(
    "a column of time",
    doubt("time-column|neighbours-alike|index-column"),
    np.hstack([0.01 * np.arange(200)[:, None], x]),
)
bad(
    "a column of trials",
    doubt("trial-column"),
    text(np.hstack([np.repeat(np.arange(20), 10)[:, None], x]), header=["trial", *("abc" * 20)]),
)
bad("an infinite entry", refused("row 4, column 4"), put(x, [(4, 4)], np.inf))
bad("an empty column", refused("missing"), put(x, [(i, 9) for i in range(200)], np.nan))
bad("constant data", doubt("no-variation"), np.full((50, 20), 3.0))

# ---- clean: (name, command, INPUTs, options, codes that are no false doubt) ----

clean = []
NOISE = ["all-noise"]  # of entries that are all independent it is true


def good(name, *inputs, command="dimension", options=(), but=()):
    clean.append((name, command, inputs, options, but))


for name in ("iris.csv", "wine.csv", "digits.csv.gz"):
    rows = table(name)
    # these are sorted by class; and one column of wine (proline, in mg/l) has 99.8% of the variance
    wide = ["wild-column", "dominated"] * (name == "wine.csv")
    good(name, rows, but=["neighbours-alike", *wide])
    good(name + ", the file", (TABLES / name).read_bytes(), but=["neighbours-alike", *wide])
    for k in range(3):
        good(f"{name}, shuffled {k}", rows[rng.permutation(len(rows))], but=wide)
    good(name + ", a half", rows[rng.permutation(len(rows))[: len(rows) // 2]], but=wide)
    good(name + ", standardized", rows[rng.permutation(len(rows))], options=["--standardize"])
good(
    "wine, moments",
    table("wine.csv")[rng.permutation(178)],
    command="moments -n 3 --center",
    options=["--standardize"],
)
for rows, cols in ((30, 20), (60, 300), (300, 60), (1000, 10), (150, 150)):
    good(f"normal, {rows} x {cols}", data(rows, cols))
    good(f"noise, {rows} x {cols}", rng.normal(size=(rows, cols)), but=NOISE)
good("two trials", trials(2))
good("five trials", trials(5))
good("Student's t, 3", rng.standard_t(3, size=(200, 60)), but=NOISE)
good("Student's t, 5, of latent variables", data(200, z=rng.standard_t(5, size=(200, 8))))
good("log-normal entries", rng.lognormal(size=(200, 60)), but=NOISE)
good("log-normal gains of columns", data(200) * rng.lognormal(sigma=0.4, size=60))
good("Laplace", rng.laplace(size=(200, 40)), but=NOISE)
good("spike counts", rng.poisson(np.exp(0.5 * data(200, noise=0) / 2)).astype(float))
good(
    "counts of words",
    rng.poisson(0.2 * rng.lognormal(size=(1, 80)) * rng.lognormal(size=(200, 80))).astype(float),
    but=NOISE,
)
good("zeros and ones", (data() > 0).astype(float))
good(
    "a table of ages and prices",
    np.column_stack(
        [
            rng.integers(18, 90, 300),
            rng.gamma(2, 100, 300).round(2),
            rng.integers(0, 2, 300),
            rng.integers(1, 6, 300),
        ]
    ),
    options=["--standardize"],
    but=NOISE,
)
good("rounded to tenths", data().round(1))
good("float32", data().astype("f4"))
good("an offset of 1000", data() + 1000)
good("two trials about 10^6", 1e6 + trials(2))
good("events among zeros", np.where(rng.random((200, 60)) < 0.01, 100 + 10 * data(), 0.0), but=NOISE)
good("one of 60 kinds", (np.arange(60) == rng.integers(0, 60, (300, 1))).astype(float), but=NOISE)
good("tiny", data() * 1e-30)
good("ReLU", np.maximum(data(), 0))
good("rows of 9999 and more", 9990 + 5 * data())
good("values up to 999", rng.integers(0, 1000, (200, 20)).astype(float), but=NOISE)
good("years as a column", np.hstack([rng.integers(1950, 2020, (200, 1)), 20 * data(200, 20)]))
good(
    "clusters in any order",
    latent(5, 8)[rng.integers(0, 5, 200)] @ rng.normal(size=(8, 60)) + rng.normal(size=(200, 60)),
)
good("images", np.array([np.convolve(v, np.ones(9) / 9, "same") for v in rng.normal(size=(200, 64))]))
good("gaps, in pairs", np.where(rng.random((200, 60)) < 0.05, np.nan, data()), options=["--nan", "pairwise"])
good("a series, in blocks", data(300, z=ar(300, 0.8)), options=["--block", "auto"])
good(
    "repeats, by groups",
    np.repeat(data(100), 2, axis=0) + 0.01 * rng.normal(size=(200, 60)),
    options=["--groups", write("pairs2.txt", text(np.arange(100).repeat(2)[:, None], form="%d"))],
)
good("a square of data", data(60, 60))
good("spectrum", data(), command="spectrum")
good(
    "two views",
    (z := latent(200)) @ rng.normal(size=(8, 40)) + 0.3 * rng.normal(size=(200, 40)),
    data(z=z),
    command="compare",
)
good("a header of names", text(data(80, 6), header="abcdef"))

# ---- the run ----


def judge_bad(expected, result, message, status):
    """None, or what is wrong"""
    said = [(d["code"], d["text"]) for d in result["doubts"]] if result else []
    told = "; ".join(f"{c}: {t}" for c, t in said) or message
    if expected[0] == "refused":
        fine = status in (1, 2, 3) and re.search(expected[1], message)
        return None if fine else f"is not refused: {told}"
    if not result:
        return f"fails: {message}"
    if expected[0] == "right":
        right = result["ci_low"] <= expected[1] <= result["ci_high"]
        interval = f"{result['dimension']:.3g} ({result['ci_low']:.3g} … {result['ci_high']:.3g})"
        return None if right else f"says {interval} for {expected[1]}: {told}"
    if expected[0] == "shape":
        return (
            None if expected[1:] == (result["rows"], result["cols"]) else f"is {result['rows']} rows: {told}"
        )
    _, code, pattern = expected
    fine = any(re.fullmatch(code, c) and re.search(pattern, t) for c, t in said)
    return None if fine else f"lacks {code} '{pattern}': {told}"


# what is said of the size of a sample, true of these too, and not of an assumption
SILENT = {"one-trial", "dimension-rough", "dimension-unknown", "dimension-undefined"}


def main():
    failed, false = 0, []
    for name, command, inputs, options, expected in corrupted:
        if ONLY not in name:
            continue
        result, message, status = ask(command, inputs, options)
        wrong = judge_bad(expected, result, message, status)
        if wrong:
            print(f"{name}: {wrong}")
            failed += 1
        elif ONLY:
            print(name, [d["text"] for d in result["doubts"]] if result else message)
    for name, command, inputs, options, but in clean:
        if ONLY not in name:
            continue
        result, message, status = ask(command, inputs, options)
        if not result:
            print(f"{name}: fails: {message}")
            failed += 1
            continue
        for d in result["doubts"]:
            if d["severity"] != "note" and d["code"] not in SILENT and d["code"] not in but:
                false.append(f"{name}: {d['code']}: {d['text']}")
    for line in false:
        print(line)
    print(
        f"{len(corrupted)} corrupted, {failed} not as expected; {len(clean)} clean, {len(false)} false doubts"
    )
    enough = ONLY or (len(corrupted) >= 40 and len(clean) >= 40)
    sys.exit(failed > 0 or len(false) > 2 or not enough)


main()
