# kspec compare: reference values, matrices with one kernel and with nothing in common, pairings, bad input.
. "$(dirname "$0")/lib.sh"

golden_values() { "$python" "$KSPEC_SOURCE/tests/cli/dimension_golden.py" compare "$KSPEC" "$1"; }
expect "the reference values" golden_values "$golden/centred.json"
sed 's/"cka_centred": 1\.1612/"cka_centred": 1.1613/' "$golden/centred.json" >spoilt.json
expect "a spoilt value is noticed" eval '! golden_values spoilt.json >/dev/null'

# two samples of features of one kernel: alignment 1, no difference
kspec generate rff --rows 60 --cols 240 --dim 3 --seed 1 -o x.npy
py 'x = np.load("x.npy"); np.save("a.npy", x[:, :100]); np.save("b.npy", x[:, 100:])
np.save("short.npy", x[:40, :100])'
expect_status 0 kspec compare a.npy b.npy --json
expect_json 'j["alignment_ci_low"] < 1 < j["alignment_ci_high"] and j["alignment_biased"] < 0.95'
expect_json 'j["warnings"] == []'
expect_json 'j["alignment_ci_low"] <= j["alignment"] <= j["alignment_ci_high"]'
expect_json 'j["alignment_ci_high"] - j["alignment_ci_low"] > 2 * 1.9599 * j["alignment_stderr"]'
expect_json '[(d["what"], d["n"]) for d in j["differences"]] == \
             [("dimension", None)] + [("moment", n) for n in (1, 2)]'
expect_status 0 kspec compare a.npy b.npy -n 4 --json
expect_json '[(d["what"], d["n"]) for d in j["differences"]] == \
             [("dimension", None)] + [("moment", n) for n in (1, 2, 3, 4)]'
expect_json 'all(list(d) == ["what", "n", "value", "stderr", "p", "rounding"] and d["p"] > 0.01
             for d in j["differences"])'
# p is that of logarithms, by Student's distribution: not far from that of the plain difference, whose
# variance is all true (p is larger) or half (p is smaller)
expect_json 'all(math.erfc(abs(d["value"]) / d["stderr"]) - 0.05 < d["p"] <
             math.erfc(abs(d["value"]) / d["stderr"] / math.sqrt(2)) + 0.05 for d in j["differences"])'
expect_json 'close(j["differences"][0]["value"], j["dimension"] - j["other_dimension"], 1e-9)'
expect_json '(j["rows"], j["cols"], j["other_rows"], j["other_cols"]) == (60, 100, 60, 140)'
expect_json '(j["trials"], j["other_trials"], j["centered"], j["paired"]) == (1, 1, True, "rows")'
cp "$out" plain
expect_status 0 kspec compare a.npy b.npy --plot two.gp
expect "named by its rows" grep -q "'60 rows' 0" two.gp
# tiles: nothing where an alignment is undefined, and no minus before 0.00
if command -v gnuplot >/dev/null; then
    kspec compare --label a a.npy --label b b.npy --label c a.npy --json --quiet >square.json 2>/dev/null
    py 'import json
j = json.load(open("square.json"))
j["alignments"][0][1] = j["alignments"][1][0] = -0.001
j["alignments"][0][2] = None
json.dump(j, open("square.json", "w"))'
    expect_status 0 kspec plot square.json -o square.svg
    expect "two tiles of 0.00" [ "$(grep -c '>0\.00<' square.svg)" -eq 2 ]
    expect "no NaN" eval '! grep -q "NaN\|-0\.00" square.svg'
fi
expect_status 0 kspec compare a.npy b.npy
answer='^alignment [0-9.]+ \(95% interval [0-9.]+ … [0-9.]+\); '
answer+='of the matrices themselves, biased by their size: 0\.[0-9]+$'
expect "the answer is the first line" grep -qE "$answer" <(head -n 1 "$out")
expect_stdout '^a\.npy: 60 rows × 100 columns$'
expect_stdout '^b\.npy: 60 rows × 140 columns$'
expect_stdout '^m\(2\) +-?[0-9.e-]+ +[0-9.e-]+ +[01]\.[0-9]+$'

# of the dimension, what kspec dimension says; the usual alignment by its definition
expect_status 0 kspec dimension a.npy --json
expect_json 'close(j["dimension"], json.load(open("plain"))["dimension"], 1e-10)'
expect "the usual alignment" "$python" -c '
import json, numpy as np
a, b = (np.load(f) for f in ("a.npy", "b.npy"))
K, L = (x @ x.T for x in (a - a.mean(0), b - b.mean(0)))
want = (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())
assert abs(json.load(open("plain"))["alignment_biased"] - want) < 1e-10'

# nothing in common: the usual alignment is far from 0
kspec generate linear --rows 50 --cols 200 --dim 20 --seed 1 -o u.npy
kspec generate linear --rows 50 --cols 200 --dim 10 --seed 2 -o v.npy
expect_status 0 kspec compare u.npy v.npy --json
expect_json 'abs(j["alignment"]) < 0.15 and j["alignment_ci_low"] < 0 < j["alignment_ci_high"]'
expect_json 'j["alignment_biased"] > 0.15'
expect_json 'j["differences"][0]["p"] < 0.01 and j["differences"][0]["value"] > 0' # 20 and 10 dimensions
# a matrix with itself shares its columns, too
expect_status 0 kspec compare u.npy u.npy --json
expect_stderr 'is above 1, the most that two kernels have: do the matrices share columns'
expect_json 'j["alignment"] > 1 and all(d["value"] == 0 and d["p"] == 1 for d in j["differences"])'

# pairings
expect_status 0 kspec compare a.npy short.npy --paired cols --json
expect_json 'j["alignment"] is None and j["alignment_biased"] is None and j["paired"] == "cols"'
expect_json 'j["warnings"] == []'
cp "$out" cols
expect_status 0 kspec compare a.npy short.npy --paired none --json
expect_json 'all(x["value"] == y["value"] and x["stderr"] > y["stderr"] for x, y in
             zip(j["differences"], json.load(open("cols"))["differences"]))'
expect_status 0 kspec compare a.npy short.npy --paired none
expect_stdout '^no alignment'
expect_error 3 'a\.npy has 60 rows and short\.npy has 40' kspec compare a.npy short.npy
expect_error 3 'a\.npy has 100 columns and b\.npy has 140' kspec compare a.npy b.npy --paired cols
expect_error 2 "--paired: 'both' must be one of rows, cols, none" kspec compare a.npy b.npy --paired both

# trials of either, or of both
kspec generate rff --rows 60 --cols 80 --dim 2 --noise 1 --trials 3 -o t.npy
expect_status 0 kspec compare t.npy a.npy --json
expect_json '(j["trials"], j["other_trials"]) == (3, 1)'
expect_status 0 kspec compare a.npy t.npy --splits 3 --json
expect_json '(j["trials"], j["other_trials"]) == (1, 3)'
expect_status 0 kspec compare t.npy t.npy --threads 1 --json
cp "$out" one
expect_status 0 kspec compare t.npy t.npy --threads 3 --json
expect_json 'j["differences"] == json.load(open("one"))["differences"]'
expect_json 'j["alignment"] == json.load(open("one"))["alignment"]'
py 't = np.load("t.npy"); t[2, 4:9] = np.nan; np.save("ragged.npy", t)'
expect_status 0 kspec compare ragged.npy t.npy --nan ragged-trials --json
expect_json 'j["trials"] == 3 and j["alignment"] is not None'
expect_status 0 kspec compare ragged.npy ragged.npy --nan ragged-trials
expect_stdout '2 to 3 trials × 60 rows'
py 't = np.load("t.npy"); np.save("t0.npy", t[0]); np.save("t1.npy", t[1]); np.save("t01.npy", t[:2])'
expect_status 0 kspec compare t01.npy a.npy --json
cp "$out" one
expect_status 0 kspec compare --label t t0.npy t1.npy --label a a.npy --json # trials as files of their own
expect_json 'j["trials"] == 2 and j["alignment"] == json.load(open("one"))["alignment"]'

# orders: to 2, or as asked for; what kspec moments says of each
expect_status 0 kspec compare a.npy b.npy --no-center -n 4 --json
expect_json '[d["n"] for d in j["differences"]] == [None, 1, 2, 3, 4]'
cp "$out" orders
for x in a b; do kspec moments $x.npy -n 4 --no-stderr --json --quiet >$x.json; done
expect "moments of exact" "$python" -c '
import json
a, b = ([e["value"] for e in json.load(open(f"{x}.json"))["estimates"]] for x in "ab")
for d, x, y in zip(json.load(open("orders"))["differences"][1:], a, b):
    assert abs(d["value"] - (x - y)) < 1e-9 * x, d'
expect_status 0 kspec compare a.npy b.npy --no-center -n 3 --json
expect_json '[d["n"] for d in j["differences"]] == [None, 1, 2, 3]'
expect_status 0 kspec compare a.npy b.npy --no-center -n 4
expect_stdout '^m\(4\) +-?[0-9.e-]+ +[0-9.e-]+ +[01]\.[0-9]+$'
expect_error 2 '-n: 5 exceeds 4' kspec compare a.npy b.npy -n 5

# several matrices: all alignments
expect_status 0 kspec compare a.npy b.npy --label w x.npy --json
expect_json 'j["labels"] == ["a.npy", "b.npy", "w"] and len(j["results"]) == 3'
expect_json 'all(j["alignments"][i][k] == (1 if i == k else j["alignments"][k][i])
             for i in range(3) for k in range(3))'
expect_json '[(r["first"], r["second"]) for r in j["results"]] == \
             [("a.npy", "b.npy"), ("a.npy", "w"), ("b.npy", "w")]'
expect_json '[r["alignment"] for r in j["results"]] == \
             [j["alignments"][i][k] for i, k in ((0, 1), (0, 2), (1, 2))]'
expect_json 'j["results"][0]["alignment"] == json.load(open("plain"))["alignment"]'
expect_json 'j["dimensions"][0] == json.load(open("plain"))["dimension"] and len(j["dimensions"]) == 3'
expect_json '[(i["label"], i["path"], i["centered"]) for i in j["input"]["matrices"]] == \
             [("a.npy", "a.npy", True), ("b.npy", "b.npy", True), ("w", "x.npy", True)]'
expect_json 'len(j["results"][1]["differences"]) == 3'
expect_status 0 kspec compare a.npy b.npy --label w x.npy
expect_stdout '^a\.npy +[0-9.]+ +1 +±0\.[0-9]+ +±0\.[0-9]+$'
expect_stdout '^w +[0-9.]+ +1\.[0-9]+ +1\.[0-9]+ +1$' # it holds the columns of both
expect_stderr 'a\.npy and w: alignment 1\.[0-9]+ is above 1'
printf 'one\ta.npy\n\n# two of them\ntwo\tt0.npy\tt1.npy\r\n' >list.txt
expect_status 0 kspec compare @list.txt b.npy --json
expect_json 'j["labels"] == ["one", "two", "b.npy"] and j["results"][0]["other_trials"] == 2'
expect_error 2 'two recordings are named a\.npy; --label tells them apart' kspec compare a.npy b.npy a.npy
expect_error 2 '--paired none takes two' kspec compare a.npy b.npy x.npy --paired none
expect_error 3 'a\.npy has 60 rows and short\.npy has 40' kspec compare a.npy b.npy short.npy

# a constant for each column changes nothing
py 'np.save("shifted.npy", np.load("a.npy") * 3 + 5 * np.arange(100))'
expect_status 0 kspec compare shifted.npy b.npy --json
expect_json 'close(j["alignment"], json.load(open("plain"))["alignment"], 1e-8)'
expect_status 0 kspec compare shifted.npy b.npy --no-center --json
expect_json 'j["centered"] is False'
expect_json 'not close(j["alignment"], json.load(open("plain"))["alignment"], 1e-3)'

# undefined
py 'np.save("zero.npy", np.zeros((60, 5))); np.save("constant.npy", 0.1 + np.tile(np.arange(5.0), (60, 1)))'
for x in zero constant; do
    expect_status 0 kspec compare a.npy $x.npy --json
    expect_stderr "the alignment is undefined: the estimate of m\(2\) of $x\.npy is not positive"
    expect_json 'all(j["alignment" + k] is None for k in ("", "_stderr", "_ci_low", "_ci_high", "_biased"))'
    expect_json 'j["differences"][0]["value"] is None and j["other_dimension"] is None and j["dimension"] > 1'
done
expect_status 0 kspec compare zero.npy a.npy
expect_stdout '^alignment undefined$'
expect_status 0 kspec compare zero.npy constant.npy --quiet --json
expect_json 'any("of one matrix, or of both" in w for w in j["warnings"])'

# bad input
py 'np.save("few.npy", np.ones((4, 5)))'
py 'x = np.random.default_rng(0).normal(size=(60, 8)); y = x.copy(); x[0, 0] = np.nan; y[59, 1] = np.nan
np.save("hole_a.npy", x); np.save("hole_b.npy", y)'
expect_error 3 'hole_a.npy: 1 row with missing values would be left out of it alone' \
    kspec compare hole_a.npy hole_b.npy --nan omit-rows
expect_error 3 'hole_a.npy: 1 column with missing values would be left out of it alone' \
    kspec compare hole_a.npy hole_b.npy --nan omit-cols --paired cols
expect_status 0 kspec compare hole_a.npy hole_b.npy --nan omit-cols
expect_status 0 kspec compare --label one a.npy --label two b.npy --json --plot two.gp
expect_json '(j["first"], j["second"]) == ("one", "two")'
expect "the names in the picture" grep -q 'one (60 × ' two.gp
expect_error 3 'the first matrix: 4 rows and 5 columns are too few: 5 and 3 are needed' \
    kspec compare few.npy few.npy
expect_error 2 'compare takes two INPUTs or more, not 1' kspec compare a.npy
expect_error 2 'compare takes two INPUTs or more, not 1' kspec compare --label a a.npy b.npy
expect_error 2 '--label b: no INPUT follows it' kspec compare --label a a.npy --label b
expect_error 3 'cannot open none\.txt' kspec compare @none.txt a.npy
expect_error 2 'INPUT' kspec compare
expect_error 2 'only one of the INPUTs can be standard input' kspec compare - -
expect_error 3 'nothing\.npy' kspec compare a.npy nothing.npy

# a neural recording: halves of its neurons respond to the same images
if find_data v4/responses_210325.npy; then
    "$python" -c 'import numpy as np, sys
x = np.load(sys.argv[1])[:, :, :6]  # every image was shown six times
x = x[:, ~np.isnan(x).any((0, 2))]
np.save("odd.npy", x[::2]), np.save("even.npy", x[1::2])' "$data/v4/responses_210325.npy"
    expect_status 0 kspec compare odd.npy even.npy --axes cols,rows,trials --json
    expect_json 'j["trials"] == 6 and j["alignment_ci_low"] < 1 < j["alignment_ci_high"]'
    expect_json 'j["differences"][0]["p"] > 0.01'
fi
done_testing
