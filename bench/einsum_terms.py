"""One estimate by `kspec.unbiased`, and by opt_einsum as the sum over all partitions of its indices.

usage: OPENBLAS_NUM_THREADS=1 PYTHONPATH=build/python python bench/einsum_terms.py [SIZE]
"""

import math
import sys
import time

import kspec
import numpy as np
import opt_einsum

EXPRESSIONS = {
    "m(3)": "ia,ja,jb,kb,kc,ic",
    "m(4)": "ia,ja,jb,kb,kc,lc,ld,id",
    "m(1) m(1)": "ia,ia,jb,jb",
}


def partitions(items):
    if not items:
        yield []
        return
    first, *rest = items
    for p in partitions(rest):
        yield [[first], *p]
        for k in range(len(p)):
            yield [*p[:k], [first, *p[k]], *p[k + 1 :]]


def weight(p):
    return math.prod((-1) ** (len(b) - 1) * math.factorial(len(b) - 1) for b in p)


def by_terms(expression, x):
    words = expression.split(",")
    rows, cols = sorted({w[0] for w in words}), sorted({w[1] for w in words})
    total, count = 0.0, 0
    for p in partitions(rows):
        for q in partitions(cols):
            name = {i: min(b) for b in [*p, *q] for i in b}
            text = ",".join(name[w[0]] + name[w[1]] for w in words)
            total += weight(p) * weight(q) * float(opt_einsum.contract(text + "->", *[x] * len(words)))
            count += 1
    return total / math.perm(len(x), len(rows)) / math.perm(x.shape[1], len(cols)), count


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    x = np.random.default_rng(1).normal(size=(size, size))
    kspec.unbiased("ia,ia", x, x, stderr=False, threads=1)  # both have started before they are timed
    opt_einsum.contract("ia,ia->", x, x)
    for name, expression in EXPRESSIONS.items():
        operands = [x] * len(expression.split(","))
        start = time.process_time()
        u = kspec.unbiased(expression, *operands, stderr=False, threads=1)
        middle = time.process_time()
        value, count = by_terms(expression, x)
        end = time.process_time()
        ratio = (end - middle) / (middle - start)
        print(f"{name:12}{u.value:14.6g}{value:14.6g}")
        print(f"{'':12}kspec {middle - start:.3f} s, opt_einsum {end - middle:.3f} s")
        print(f"{'':12}{count} terms, {u.graphs} graphs, {u.products} products: {ratio:.0f} times")


main()
