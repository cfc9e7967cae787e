"""second_order.py LISTS VALUES [SEED]: second order in exact arithmetic. Every list that dimension and
compare are made of (m(1), m(1)^2, m(2) and <T_1, T_2>: of all, without each row, without each column), the
dimension, the alignment and the differences lie within the rounding that is told, on matrices of 22 kinds."""
import subprocess
import sys
from fractions import Fraction
from itertools import permutations

import numpy as np

EPSILON = 2.0**-52
OF_ITSELF = 32 * EPSILON  # KS_LOST_OF_ITSELF


def adversarial(kind, P, Q, g):
    x = g.normal(size=(P, Q))
    signs = np.where(g.random((P, Q)) < 0.5, 0.0, -0.0)
    row, col = np.arange(P)[:, None], np.arange(Q)[None]
    one, two = x.copy(), x.copy()
    one[g.integers(P), g.integers(Q)] *= 1e10
    two[0, 0] *= 1e9
    two[1, 1] *= 1e9
    large = x.copy()
    large[:, g.integers(Q)] *= 10.0 ** g.integers(3, 15)
    small = x.copy()
    small[:, g.integers(Q)] *= 10.0 ** g.integers(-15, -3)
    wild = x.copy()
    wild[g.integers(P)] *= 10.0 ** g.integers(3, 12)
    return {
        "normal": x,
        "integers": g.integers(-3, 4, size=(P, Q)).astype(float),
        "offset": 1e8 + x,
        "offset of columns": x + 1e12 * (col + 1),
        "columns over 12 decades": x * 10.0 ** np.linspace(-6, 6, Q),
        "rows over 12 decades": x * 10.0 ** np.linspace(-6, 6, P)[:, None],
        "tiny": x * 1e-150,
        "huge": x * 1e150,
        "denormal": x * 5e-310,
        "copies": x[np.zeros(P, int)] if g.random() < 0.5 else x[:, np.zeros(Q, int)],
        "rank 1": np.outer(x[:, 0], x[0]),
        "unit": np.eye(P, Q),
        "hilbert": 1.0 / (row + col + 1),
        "equal": np.full((P, Q), 0.1),
        "zeros": np.where(g.random((P, Q)) < 0.6, signs, x),
        "integers beyond 2^53": 2.0**53 + 2 * g.integers(0, 5, size=(P, Q)),
        "one entry": one,
        "two entries": two,
        "nearly constant": 1e8 * (1 + 1e-9 * x),
        "large column": large,
        "small column": small,
        "wild row": wild,
    }[kind]


KINDS = [
    "normal", "integers", "offset", "offset of columns", "columns over 12 decades", "rows over 12 decades",
    "tiny", "huge", "denormal", "copies", "rank 1", "unit", "hilbert", "equal", "zeros",
    "integers beyond 2^53", "one entry", "two entries", "nearly constant", "large column", "small column",
    "wild row",
]


def integers(matrices):
    """Lists of columns of integers, and the exponent of their unit"""
    fractions = [[[Fraction(float(v)) for v in col] for col in x.T] for x in matrices]
    e = max(v.denominator.bit_length() - 1 for x in fractions for col in x for v in col)
    return [[[int(v * 2**e) for v in col] for col in x] for x in fractions], e


def dot(*columns):
    total = 0
    for values in zip(*columns):
        p = 1
        for v in values:
            p *= v
        total += p
    return total


def average(x, y, z, w, centred):
    """The unbiased mean of cov(x,y) cov(z,w), times n^4 where centred: a fraction"""
    n = len(x)
    if not centred:
        return Fraction(dot(x, y) * dot(z, w) - dot(x, y, z, w), n * (n - 1))
    x, y, z, w = ([n * v - sum(c) for v in c] for c in (x, y, z, w))
    s = (n * n - 3 * n + 1) * dot(x, y) * dot(z, w) + dot(x, z) * dot(y, w) + dot(x, w) * dot(y, z)
    return Fraction(s - n * (n - 1) * dot(x, y, z, w), n * (n - 1) * (n - 2) * (n - 3) * n**4)


def brute(x, y, z, w, centred):
    """The same by its definition: over distinct rows"""
    def mean(f, r):
        rows = list(permutations(range(len(x)), r))
        return Fraction(sum(f(*i) for i in rows), len(rows))

    if not centred:
        return mean(lambda i, j: x[i] * y[i] * z[j] * w[j], 2)
    return (mean(lambda i, j: x[i] * y[i] * z[j] * w[j], 2)
            - mean(lambda i, j, k: x[i] * y[j] * z[k] * w[k], 3)
            - mean(lambda i, j, k: z[i] * w[j] * x[k] * y[k], 3)
            + mean(lambda i, j, k, l: x[i] * y[j] * z[k] * w[l], 4))


def own(A, B, centred, how=average):
    """m(1), m(1)^2 and m(2) of one matrix, A and B its trials"""
    Q, n = len(A), len(A[0])
    pairs = [(a, c) for a in range(Q) for c in range(Q) if a < c]
    # both are the same in either order of the pair
    moment = sum(how(A[a], B[c], B[a], A[c], centred) for a, c in pairs) / Fraction(len(pairs))
    square = sum(how(A[a], B[a], B[c], A[c], centred) for a, c in pairs) / Fraction(len(pairs))
    trace = Fraction(0)
    for a in range(Q):
        s = Fraction(dot(A[a], B[a]))
        trace += (s - Fraction(sum(A[a]) * sum(B[a]), n)) / (n - 1) if centred else s / n
    return trace / Q, square, moment


def cross(A, B, C, D, centred):
    return sum(average(x, y, z, w, centred) for x, z in zip(A, B) for w, y in zip(C, D)) / (len(A) * len(C))


def without_row(M, i):
    return [col[:i] + col[i + 1:] for col in M]


def without_col(M, k):
    return M[:k] + M[k + 1:]


def ask(program, cases):
    """What the library says of each case: a dictionary of lists of numbers"""
    text = []
    for centred, first, second in cases:
        P, Q = first[0].shape
        text.append(f"{int(centred)} {len(first)} {P} {Q} {second[0].shape[1]}")
        text += [" ".join(float(v).hex() for v in x.ravel()) for x in first + second]
    done = subprocess.run([program], input="\n".join(text), capture_output=True, text=True, check=True)
    answers, now = [], {}
    for line in done.stdout.splitlines():
        name, *rest = line.split(" ")
        if name == "end":
            answers.append(now)
            now = {}
        elif name in ("refused", "failed"):
            now[name] = line
        else:
            now[name] = [int(v) if v.lstrip("-").isdigit() else float.fromhex(v) for v in rest]
    return answers


class Count:
    def __init__(self):
        self.values = self.wrong = self.refused = self.undefined = 0
        self.closest = 0.0

    def check(self, what, value, truth, allowed, unit=0):
        """value 2^unit, which lies within `allowed` 2^unit of the truth"""
        self.values += 1
        scale = Fraction(2) ** unit
        off, room = abs(Fraction(value) * scale - truth), Fraction(allowed) * scale
        if off > room:
            self.wrong += 1
            print(f"{what}: {value} 2^{unit}, not {float(truth / scale)}: off by {float(off / scale)}, "
                  f"told {allowed}")
        elif room:
            self.closest = max(self.closest, float(off / room))


def check_lists(count, what, answer, first, second, e, centred):
    A, B, C, D = first[0], first[-1], second[0], second[-1]
    P, Q, R = len(A[0]), len(A), len(C)
    truth = {name: [] for name in ("trace", "square", "moment", "trace2", "square2", "moment2")}
    for M, N, tail in (A, B, ""), (C, D, "2"):
        all_of = [(M, N)] + [(without_row(M, i), without_row(N, i)) for i in range(P)]
        all_of += [(without_col(M, k), without_col(N, k)) for k in range(len(M))]
        for values in (own(x, y, centred) for x, y in all_of):
            for name, v in zip(("trace", "square", "moment"), values):
                truth[name + tail].append(v)
    truth["cross"] = [cross(A, B, C, D, centred)]
    truth["cross"] += [cross(*(without_row(M, i) for M in (A, B, C, D)), centred) for i in range(P)]
    truth["cross"] += [cross(without_col(A, k), without_col(B, k), C, D, centred) for k in range(Q)]
    truth["cross"] += [cross(A, B, without_col(C, k), without_col(D, k), centred) for k in range(R)]
    for name, values in truth.items():
        order = 1 if name.startswith("trace") else 2
        lost, exponent, got = answer[name][:3], answer[name][3], answer[name][4:]
        assert len(got) == len(values), (what, name, len(got), len(values))
        for k, (v, t) in enumerate(zip(got, values)):
            told = lost[0] if k == 0 else lost[1] if k <= P else lost[2]
            count.check(f"{what}: {name}[{k}]", v, t / Fraction(2) ** (2 * order * e),
                        told + OF_ITSELF * abs(v), exponent)
    return {name: values[0] / Fraction(2) ** ((2 if name.startswith("trace") else 4) * e)
            for name, values in truth.items()}


def check_results(count, what, answer, truth):
    if "refused" in answer:
        count.refused += 1
        return
    dimension, rounding = answer["dimension"][:2]
    m, square = truth["moment"], truth["square"]
    if np.isfinite(dimension):
        count.check(f"{what}: dimension", dimension, square / m if m else Fraction(10) ** 400, rounding)
    else:
        count.undefined += 1
        if m > 0 and 0 < square < 1e6 * m:
            count.wrong += 1
            print(f"{what}: no dimension, though it is {float(square / m)}")
    alignment, rounding = answer["alignment"][:2]
    if np.isfinite(alignment) and m > 0 and truth["moment2"] > 0:
        # squares, of which the smaller end may have another sign
        count.values += 1
        T = truth["cross"] ** 2 / m / truth["moment2"] * (1 if truth["cross"] >= 0 else -1)
        ends = [(Fraction(alignment) + s * Fraction(rounding)) for s in (-1, 1)]
        low, high = (v * abs(v) for v in ends)
        if not low <= T <= high:
            count.wrong += 1
            print(f"{what}: alignment {alignment} ± {rounding}, its square is {float(T)}")
    for n, name in (1, "trace"), (2, "moment"):
        value, rounding = answer[f"difference{n}"]
        if np.isfinite(value) and value != 0 and abs(value) > 1e-300:
            count.check(f"{what}: difference of m({n})", value, truth[name] - truth[name + "2"],
                        rounding + OF_ITSELF * float(abs(truth[name]) + abs(truth[name + "2"])) + 1e-300)


def definition():
    """The sums above are the definition, where that is quick"""
    g = np.random.default_rng(0)
    for centred in False, True:
        for trials in 1, 2:
            M, _ = integers([g.integers(-9, 9, size=(5, 3)).astype(float) for _ in range(trials)])
            assert own(M[0], M[-1], centred)[1:] == own(M[0], M[-1], centred, brute)[1:]


def main():
    program, wanted = sys.argv[1], int(sys.argv[2])
    g = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    count = Count()
    definition()
    turn = 0
    while count.values < wanted:
        cases, names = [], []
        for _ in range(22):
            kind, turn = KINDS[turn % len(KINDS)], turn + 1
            centred = bool(g.integers(2))
            P, Q, R = int(g.integers(5 if centred else 3, 8)), int(g.integers(3, 7)), int(g.integers(3, 7))
            trials = int(g.integers(1, 3))
            first, second = [adversarial(kind, P, Q, g)], [adversarial(kind, P, R, g)]
            if trials == 2:
                noise = [0, 0.1, 1][g.integers(3)]
                for x in first, second:
                    with np.errstate(over="ignore"):
                        x.append(x[0] + noise * np.abs(x[0]).max() * g.normal(size=x[0].shape))
            cases.append((centred, first, second))
            names.append(f"{kind}, {P} x {Q} and {R}, {trials} trials{', centred' if centred else ''}")
        for (centred, first, second), what, answer in zip(cases, names, ask(program, cases)):
            if "failed" in answer:
                count.refused += 1
                continue
            M, e = integers(first + second)
            truth = check_lists(count, what, answer, M[: len(first)], M[len(first):], e, centred)
            check_results(count, what, answer, truth)
    print(f"{count.values} values of {turn} pairs of matrices, {count.wrong} beyond their rounding (at most "
          f"{count.closest:.2g} of it); {count.refused} refused, {count.undefined} dimensions undefined")
    return count.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
