"""kspec.unbiased against plain sums, and kspec.jackknife against what the library has for the same."""

import numpy as np
import pytest

import kspec


@pytest.fixture
def pair():
    r = np.random.default_rng(1)
    f = r.normal(size=(20, 3))
    return f @ r.normal(size=(3, 12)), f @ r.normal(size=(3, 9))


def test_moments_are_expressions(pair):
    x, y = pair
    u = kspec.unbiased("ia,ja,jb,ib", x, x, x, x)
    m = kspec.moments(x, n=2, estimator="exact")
    assert u.value == pytest.approx(m.estimates["value"][1], rel=1e-12)
    assert u.stderr == pytest.approx(m.estimates["stderr"][1], rel=1e-9)
    assert float(u) == u.value and u.ci_low < u.value < u.ci_high


def test_two_matrices_by_hand(pair):
    x, y = pair
    k, m = x @ x.T / 12, y @ y.T / 9
    u = kspec.unbiased("ia,ib,ja,jb", x, y, x, y, explain=True)
    assert u.value == pytest.approx((np.sum(k * m) - np.trace(k * m)) / 380, rel=1e-12)
    assert "matrix product" in u.plan
    x1, y1 = x[1:], y[1:]
    rows = next(a for a in u.axes if "rows" in a["name"])
    assert rows["without"][0] == pytest.approx(kspec.unbiased("ia,ib,ja,jb", x1, y1, x1, y1).value, rel=1e-10)


def test_alignment_is_a_function_of_three(pair):
    x, y = pair
    words = {"center": "rows"}
    xy = kspec.unbiased("ia,ib,ja,jb", x, y, x, y, **words)
    xx = kspec.unbiased("ia,ib,ja,jb", x, x, x, x, **words)
    yy = kspec.unbiased("ia,ib,ja,jb", y, y, y, y, **words)
    a = kspec.jackknife(lambda xy, xx, yy: xy / (xx * yy) ** 0.5, xy, xx, yy)
    c = kspec.compare(x, y)
    assert a.value == pytest.approx(c.alignment, rel=1e-9)
    assert a.stderr == pytest.approx(c.alignment_stderr, rel=1e-6)
    assert a.ci_low < a.value < a.ci_high


def test_named_matrices_trials_and_populations(pair):
    x, y = pair
    u = kspec.unbiased("X1[i,a] X2[i,a]", {"X": [x, x + 1]})
    assert u.value == pytest.approx(np.mean(x * (x + 1)), rel=1e-12)
    n = kspec.unbiased("ia,ib", x, y, population={"i": 20}, complete="a")
    assert [a["population"] for a in n.axes][:2] == [20, 12]


def test_sums_in_einsum_notation(pair):
    x, _ = pair
    u = kspec.unbiased("ia,ia - ia,ja", x, x, x, x)
    assert u.value == pytest.approx(x.var(axis=0, ddof=1).mean(), rel=1e-12)
    v = kspec.unbiased("1/2 ia,ia - 0.5 ia,ja", x, x, x, x)
    assert v.value == pytest.approx(u.value / 2, rel=1e-12)
    named = kspec.unbiased("X[i,a] X[i,a] - X[i,a] X[j,a]", {"X": x})
    assert (named.value, named.stderr) == (u.value, u.stderr)
    assert kspec.unbiased("-ia", x).value == pytest.approx(-x.mean())


def test_groups(pair):
    x, y = pair
    labels = np.arange(20) // 2
    u = kspec.unbiased("ia,ib,ja,jb", x, y, x, y, center="rows", groups=labels)
    assert u.axes[0]["groups"] == 10 and len(u.axes[0]["without"]) == 10
    xx = kspec.unbiased("ia,ib,ja,jb", x, x, x, x, center="rows", groups=labels)
    yy = kspec.unbiased("ia,ib,ja,jb", y, y, y, y, center="rows", groups=[f"g{k}" for k in labels])
    a = kspec.jackknife(lambda xy, xx, yy: xy / (xx * yy) ** 0.5, u, xx, yy)
    c = kspec.compare(x, y, groups=labels)
    assert a.value == pytest.approx(c.alignment, rel=1e-9)
    assert a.stderr == pytest.approx(c.alignment_stderr, rel=1e-6)
    with pytest.raises(kspec.ArgumentError, match="are 12 together; 10 is the most"):
        kspec.unbiased("ia,ja,jb,kb,kc,lc,ld,id", *[x] * 8, groups=labels)
    alone = kspec.unbiased("ia,ib,ja,jb", x, x, x, x, center="rows")
    with pytest.raises(ValueError, match="do not share the rows of .*groups is 10 and None"):
        kspec.jackknife(lambda xy, xx: xy / xx, u, alone)


def test_jackknife_links_axes(pair):
    x, y = pair
    xy, xx, yy = (kspec.unbiased("ia,ib,ja,jb", p, q, p, q) for p, q in ((x, y), (x, x), (y, y)))

    def alignment(xy, xx, yy):
        return xy / (xx * yy) ** 0.5

    first = kspec.jackknife(alignment, xy, xx, yy)
    last = kspec.jackknife(lambda xx, yy, xy: alignment(xy, xx, yy), xx, yy, xy)
    assert last.stderr == pytest.approx(first.stderr, rel=1e-12)
    # a view of the same entries is the same array; a copy is another, which nothing links to x
    view = kspec.unbiased("ia,ib,ja,jb", *[x[:]] * 4)
    copy = kspec.unbiased("ia,ib,ja,jb", *[x.copy()] * 4)
    assert kspec.jackknife(lambda a, b: a - b, xx, view).stderr == pytest.approx(0, abs=1e-12)
    assert kspec.jackknife(lambda a, b: a - b, xx, copy).stderr > xx.stderr
    some = kspec.unbiased("ia,ja", x, x, population={"i": 40})
    with pytest.raises(ValueError, match="population is"):
        kspec.jackknife(lambda a, b: a / b, xx, some)
    with pytest.raises(TypeError, match="argument 3 of jackknife is not a result of kspec.unbiased"):
        kspec.jackknife(lambda a, b: a / b, xx, first)
    bare = kspec.unbiased("ia,ja", x, x, stderr=False)
    assert np.isnan(kspec.jackknife(lambda a, b: a / b, xx, bare).stderr)


def test_bad_input(pair):
    x, y = pair
    with pytest.raises(ValueError, match="2 entries, and there is 1 array"):
        kspec.unbiased("ia,ib", x)
    with pytest.raises(ValueError, match="not two letters"):
        kspec.unbiased("iab", x)
    with pytest.raises(kspec.ArgumentError, match="runs over"):
        kspec.unbiased("ia,ib", x, y[1:])
    with pytest.raises(kspec.ArgumentError, match=r">>> A\[j,b\] A\[j,b\]: this product equals 'A\[i,a\]"):
        kspec.unbiased("ia,ia - jb,jb", x, x, x, x)
    with pytest.raises(TypeError, match="one estimate or more"):
        kspec.jackknife(lambda: 1)
    with pytest.raises(ValueError, match="names its matrices; give one dict"):
        kspec.unbiased("X[i,a]", x)
    with pytest.raises(ValueError, match="nothing follows '->': leave 'ij' out"):
        kspec.unbiased("ia,ja->ij", x, x)
    assert kspec.unbiased("ia,ja->", x, x).value == kspec.unbiased("ia,ja", x, x).value
    with pytest.raises(ValueError, match="without a power of ten"):
        kspec.unbiased("1e-3 ia,ja", x, x)
    hole, other = x.copy(), y.copy()
    hole[2, 3] = other[5, 1] = np.nan
    assert kspec.unbiased("ia", hole, nan="omit-rows").axes[0]["size"] == 19
    with pytest.raises(kspec.DataError, match="1 missing value, .*nan='omit-rows'"):
        kspec.unbiased("ia", hole)
    with pytest.raises(kspec.DataError, match="would be left out of it alone"):
        kspec.unbiased("ia,ib", hole, other, nan="omit-rows")
    u = kspec.unbiased("ia", x, stderr=False)
    assert np.isnan(kspec.jackknife(lambda v: v, u).stderr)
