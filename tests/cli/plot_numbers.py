"""The pictures hold what the results hold: NAME.json, and NAME.gp with its data blocks; NAME.svg and
NAME.html are well formed.

usage: plot_numbers.py NAME... (in the folder with the files)
"""
import json
import math
import re
import statistics
import sys
import xml.dom.minidom


def blocks(name):
    """(panel, series) -> list of (x, y, low, high), and the legend's titles by series"""
    data, titles = {}, {}
    for p, s, text in re.findall(r"^\$p(\d+)s(\d+) << END\n(.*?)^END$", open(name).read(), re.S | re.M):
        data[int(p), int(s)] = [tuple(map(float, line.split())) for line in text.splitlines()]
    for p, s, title in re.findall(r"\$p(\d+)s(\d+) using [^\n]* title '([^']*)'", open(name).read()):
        titles[int(p), int(s)] = title
    return data, titles


def num(x):
    return math.nan if x is None else float(x)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def same_rows(got, want):
    return len(got) == len(want) and all(same(a, b) for u, v in zip(got, want) for a, b in zip(u, v))


def check(what, got, want):
    if not same_rows(got, want):
        sys.exit("%s: %s\nis not %s" % (what, got, want))


def series(data, titles, panel, title):
    return next(data[k] for k in data if k[0] == panel and titles.get(k) == title)


def moments(j, data, titles):
    for name in {e["estimator"] for e in j["estimates"]}:
        mine = [e for e in j["estimates"] if e["estimator"] == name]
        check(name, series(data, titles, 0, name),
              [(e["n"], num(e["value"]), num(e["ci_low"]), num(e["ci_high"])) for e in mine])
        for got, e in zip(series(data, titles, 1, name), [e for e in mine if e["n"] > 1]):
            assert abs(got[1] - e["root"]) <= 1e-15 * abs(e["root"]), (got, e)


def dimension(j, data, titles):
    for title, key in ("unbiased, 95% interval", "dimension"), ("of the matrix itself", "naive"):
        bars = (num(j["ci_low"]), num(j["ci_high"])) if key == "dimension" else (math.nan, math.nan)
        check(key, series(data, titles, 0, title),
              [(p["rows"], num(p[key]), math.nan, math.nan) for p in j["curve"][:-1]] +
              [(j["rows"] if j["curve"] else 0, num(j[key]), *bars)])


def several(j, data, titles):
    for title, key in ("unbiased, 95% interval", "dimension"), ("of the matrix itself", "naive"):
        bars = [(num(r["ci_low"]), num(r["ci_high"])) if key == "dimension" else (math.nan, math.nan)
                for r in j["results"]]
        check(key, series(data, titles, 0, title),
              [(k, num(r[key]), *b) for k, (r, b) in enumerate(zip(j["results"], bars))])


def curves(j, data, titles):
    for r in j["results"]:
        own = {t: r["label"] + ": " + t for t in ("unbiased, 95% interval", "of the matrix itself")}
        mine = {k: next((t for t in own if own[t] == titles[k]), None) for k in titles}
        dimension(r, data, mine)


def square(j, data, titles):
    n = len(j["labels"])
    check("tiles", data[0, 0], [(k, n - 1 - i, num(j["alignments"][i][k]), num(j["alignments"][i][k]))
                                for i in range(n) for k in range(n)])


def compare(j, data, titles):
    aligned = j["alignment_biased"] is not None
    if aligned:
        check("alignment", series(data, titles, 0, "unbiased, 95% interval"),
              [(0, num(j["alignment"]), num(j["alignment_ci_low"]), num(j["alignment_ci_high"]))])
        check("biased", series(data, titles, 0, "of the matrices themselves"),
              [(0, j["alignment_biased"], math.nan, math.nan)])
    z = statistics.NormalDist().inv_cdf
    want = [(round(math.copysign(z(d["p"] / 2), d["value"]), 10), len(j["differences"]) - 1 - k)
            for k, d in enumerate(j["differences"]) if d["value"] is not None]
    check("differences", [(round(q[0], 10), q[1]) for q in data[int(aligned), 0]], want)


def spectrum(j, data, titles):
    want = [(k + 1, num(v), num(a), num(b))
            for k, (v, a, b) in enumerate(zip(j["eigenvalues"], j["ci_low"], j["ci_high"]))]
    for panel in 0, 1:
        check("recovered", series(data, titles, panel, "recovered"), want)
        check("sample", series(data, titles, panel, "of the sample matrix"),
              [(k + 1, v, math.nan, math.nan) for k, v in enumerate(j["singular_values"])])


def norm(j, data, titles):
    for e in j["results"]:
        (x, y, low, high), = series(data, titles, 0, e["method"])
        assert (x, y) == (e["seconds"], e["value"])
        if e["ci_low"] is not None:
            assert (low, high) == (e["ci_low"], e["ci_high"])


def ridge(j, data, titles):
    n = j["rows"]
    assert titles[0, 0] == "N = 3" and len([k for k in data if k[0] == 0]) >= 7
    for panel, which in (0, "train"), (1, "test"):
        for N in {p["features"] for p in j["points"]}:
            mine = sorted((p for p in j["points"] if p["features"] == N), key=lambda p: p["lambda"])
            curves = [v for k, v in sorted(data.items()) if k[0] == panel]
            last = N == max(p["features"] for p in j["points"])
            for key in [which + "_mse"] + ["kernel_%s_mse" % which] * last: # one line of the kernel
                want = [(p["lambda"], num(p[key]), math.nan, math.nan) for p in mine]
                assert any(same_rows(c, want) for c in curves), (key, want)
            measured, sd = "empirical_%s_mse" % which, "empirical_%s_sd" % which
            want = [(p["lambda"], p[measured], p[measured] - p[sd], p[measured] + p[sd]) for p in mine]
            assert want in curves, want
    for lam in {p["lambda"] for p in j["points"]}:
        want = [(p["features"] / n, p["test_mse"]) for p in j["points"] if p["lambda"] == lam]
        assert any([c[:2] for c in v] == want for k, v in data.items() if k[0] == 3), want


def advice(j, data, titles):
    for panel, along in enumerate(("features", "lambda", "sigma")):
        for title, key in ("test", "test_mse"), ("training", "train_mse"):
            want = [(p[along], p[key], math.nan, math.nan) for p in j["curves"][along]]
            check(title, series(data, titles, panel, title), want)
    want = [(p["features"], p["empirical_test_mse"], p["empirical_test_mse"] - p["empirical_test_sd"],
             p["empirical_test_mse"] + p["empirical_test_sd"]) for p in j["points"]]
    check("measured", series(data, titles, 0, "measured, ± SD"), want)


def wls(j, data, titles):
    check("error", series(data, titles, 0, "error"),
          [(p["p"], p["error_noise_free"] + p["error_noise"], math.nan, math.nan) for p in j["points"]])
    measured = [(p["p"], p["empirical"], p["empirical_stderr"]) for p in j["points"]]
    check("measured", series(data, titles, 0, "measured, ± std. error"),
          [(p, e, e - sd, e + sd) for p, e, sd in measured])


def fit(j, data, titles):
    check("coefficients", [q[:2] for q in data[0, 0]],
          [(k, math.hypot(*t)) for k, t in enumerate(j["points"][0]["theta"])])


def bound(j, data, titles):
    check("bound", [q[:2] for q in series(data, titles, 0, "bound")],
          [(p["p"], p["bound"]) for p in j["points"]])


def decay(j, data, titles):
    check("decay", [q[:2] for q in data[0, 0]], [(k + 1, s) for k, s in enumerate(j["singular_values"])])


def theory(j, data, titles):
    first = 0 if j.get("space") == "sphere" else 1
    check("eigenvalues", [q[:2] for q in data[0, 0]],
          [(k + first, v) for k, v in enumerate(j["eigenvalues"])])
    last = max(p for p, _ in data)
    check("moments", [q[:2] for q in data[last, 0]], [(k + 1, v) for k, v in enumerate(j["moments"])])


def learn(j, data, titles):
    # the mean of two seeds, and the quartiles between them
    got = series(data, titles, 0, "width 8")
    want = [(0, 0.6, 0.55, 0.65), (2, 0.75, 0.675, 0.825)]
    for u, v in zip(got, want):
        assert all(abs(a - b) < 1e-15 for a, b in zip(u, v)), (u, v)
    assert len(got) == 2 and abs(series(data, titles, 1, "width 8")[0][1] - 0.2) < 1e-15
    narrow = series(data, titles, 1, "width 4")
    assert narrow == [(0, 0.25)] or narrow[0][:2] == (0, 0.25)
    assert abs(series(data, titles, 0, "width 8, subsample")[1][1] - 1.0) < 1e-15


def network(j, data, titles):
    for width in 4, 9:
        runs = [r for r in j["runs"] if r["width"] == width]
        for panel, kind in (0, "naive"), (3, "unbiased"):
            got = series(data, titles, panel, f"width {width}")
            assert [q[0] for q in got] == [0, 2, 4]
            for q, *epochs in zip(got, *(r["epochs"] for r in runs)):
                assert abs(q[1] - sum(e[kind][1] for e in epochs) / 2) < 1e-15


def figure(j, data, titles):
    for p, panel in enumerate(j["panels"]):
        for s, want in enumerate(panel["series"]):
            n = len(want["y"])
            none = [None] * n
            x, low, high = want.get("x", range(1, n + 1)), want.get("low", none), want.get("high", none)
            check("figure", data[p, s], [tuple(map(num, row)) for row in zip(x, want["y"], low, high)])


def generate(j, data, titles):
    check("moments", [q[:2] for q in data[0, 0]], [(k + 1, v) for k, v in enumerate(j["moments"])])


def features(j, data, titles):
    check("singular values", [q[:2] for q in data[0, 0]],
          [(k + 1, s) for k, s in enumerate(j["points"][-1]["singular_values"])])


def curve_of(j, data, titles):
    rows = [(p["x"], p["value"], p["ci_low"], p["ci_high"]) for p in j["fitted"]]
    check("the band", series(data, titles, 0, "curve, 95% band"), rows)
    check("the data", [q[:2] for q in series(data, titles, 0, "data")],
          [(p["x"], p["y"]) for p in j["fitted"]])
    check("errors", [q[:2] for q in series(data, titles, 1, "least squares")],
          [(p["p"], math.sqrt(p["error"])) for p in j["curve"]])


for name in sys.argv[1:]:
    j = json.load(open(name + ".json"))
    data, titles = blocks(name + ".gp")
    other = {"rbf": theory, "sphere": theory, "linear": theory, "curve": dimension, "unpaired": compare,
             "smooth": curve_of}
    other.get(name, globals().get(name))(j, data, titles)
    xml.dom.minidom.parse(name + ".svg")
    page = open(name + ".html").read()
    assert page.startswith("<!DOCTYPE html>") and "<table>" in page
    assert page.count("<svg") == page.count("</svg>") == 1
    line = j.get("command_line")
    assert not line or line.replace("&", "&amp;") in page, line
