# Moments of matrices, the answers to which are known.
. "$(dirname "$0")/lib.sh"
every="naive kv-row kv-col path exact" # the estimators that --estimator all must have

# a constant matrix: m(n) = c^(2n) by every estimator, whatever the shape
for shape in 1,1 1,4 4,1 3,5 6,6; do
    py "np.save('c.npy', np.full(($shape), -1.5))"
    expect_status 0 kspec moments --estimator all c.npy --json
    expect_json "all(close(e['value'], 1.5 ** (2 * e['n']), 1e-13) and close(e['root'], 2.25, 1e-13)
                     for e in j['estimates'])"
    expect_json "(j['rows'], j['cols']) == ($shape)"
    expect_json "max(e['n'] for e in j['estimates']) == min(6, $shape)"
    expect_json "set('$every'.split()) <= estimators"
done
expect_json 'close(j["participation_ratio"], 1, 1e-12) and close(j["mean_share"], 1, 1e-12)'
# zeros give 0
for shape in 1,1 3,5; do
    py "np.save('z.npy', np.zeros(($shape)))"
    expect_status 0 kspec moments --estimator all z.npy --json
    expect_json 'all(e["value"] == 0 and e["root"] == 0 for e in j["estimates"])'
    expect_json 'j["participation_ratio"] is None'
done

# a matrix small enough to do by hand: A = ((1,2),(3,4)), A A^T = ((5,11),(11,25))
printf '1,2\n3,4\n' >h.csv
expect_status 0 kspec moments --estimator all h.csv --json
expect_json 'm("naive", 1) == 7.5'
expect_json 'close(m("naive", 2), 55.75, 1e-14)'  # tr((A A^T)^2)/16
expect_json 'close(m("kv-row", 2), 30.25, 1e-14)' # (11/2)^2
expect_json 'close(m("kv-col", 2), 49, 1e-14)'    # (14/2)^2
expect_json 'entry("kv-row", 2)["stderr"] is None and entry("kv-row", 2)["ci_low"] is None' # n = P
expect_json 'entry("naive", 1)["stderr"] > 0'
expect_json 'j["command"] == "moments" and j["side"] == "given" and j["trials"] == 1 and j["seconds"] >= 0'
expect_status 0 kspec moments --estimator all h.csv
expect_stdout '^h\.csv: 2 rows × 2 columns$'
expect_stdout '^ +2  naive +56 '
number='[0-9.]+' not='dimensions \(not centred\)'
expect_stdout "^participation ratio m\(1\)²/m\(2\): $number $not; of the matrix itself: $number\$"

# which estimators, in which order; a name twice counts once
expect_status 0 kspec moments h.csv --estimator kv-col,naive --json
expect_json 'estimators == {"naive", "kv-col"}'
expect_status 0 kspec moments h.csv --estimator naive,naive --json
expect_json 'len(j["estimates"]) == 2'
expect_status 0 kspec moments h.csv --estimator all,naive --json
expect_json "set('$every'.split()) <= estimators"
for e in $every; do
    expect_status 0 kspec moments h.csv --estimator $e -n 1 --json
    expect_json "estimators == {'$e'} and m('$e', 1) == 7.5 and j['participation_ratio'] is None"
done
expect_error 2 "--estimator: 'nave' must be one of" kspec moments h.csv --estimator nave
expect_error 2 '--estimator' kspec moments h.csv --estimator ''
expect_error 2 '--estimator' kspec moments h.csv --estimator ,naive
expect_error 2 '--estimator' kspec moments h.csv --estimator naive,
expect_error 2 '--estimator' kspec moments h.csv --estimator naive,,kv-row
expect_error 2 '--estimator needs a value' kspec moments h.csv --estimator

# the default: exact as far as it goes, path above, and each estimate says which
kspec generate rff --rows 30 --cols 20 --dim 2 --seed 3 -o d.npy
expect_status 0 kspec moments d.npy -n 7 --json
expect_json '[e["estimator"] for e in j["estimates"]] == ["exact"] * 5 + ["path"] * 2'
expect_json 'j["permutations"] == 8'
cp "$out" auto
expect_status 0 kspec moments d.npy -n 5 --estimator exact --json
expect_json 'all(a["value"] == b["value"] and a["stderr"] == b["stderr"] for a, b in
             zip(j["estimates"], json.load(open("auto"))["estimates"]))'
expect_error 2 'exact: order 6 exceeds 5' kspec moments d.npy -n 6 --estimator exact
expect_error 2 'path: order 21 exceeds min\(P,Q\)=20' kspec moments d.npy -n 21 --estimator path
expect_error 2 'auto: order 21 exceeds min\(P,Q\)=20' kspec moments d.npy -n 21
expect_error 2 'kv-col: order 21 exceeds the number of columns, Q=20' \
    kspec moments d.npy -n 21 --estimator kv-col
expect_status 0 kspec moments d.npy -n 21 --estimator kv-row,naive --json

# path: the side, and orders of rows and columns
py "np.save('t.npy', np.load('d.npy').T)"
expect_status 0 kspec moments d.npy -n 5 --estimator path --side transposed --json
expect_json 'j["side"] == "transposed" and j["permutations"] == 1'
cp "$out" turned
expect_status 0 kspec moments t.npy -n 5 --estimator path --side given --json
expect_json 'j["side"] == "given"'
expect_json 'all(close(a["value"], b["value"], 1e-12) and close(a["stderr"], b["stderr"], 1e-9)
    for a, b in zip(j["estimates"], json.load(open("turned"))["estimates"]))'
# more rows than columns: the transpose is cheaper
expect_status 0 kspec moments d.npy -n 5 --estimator path --json
expect_json 'j["side"] == "transposed"'
expect_status 0 kspec moments d.npy -n 5 --estimator path --permutations 300 --no-stderr --side given --json
cp "$out" many
expect_json 'j["permutations"] == 300'
expect_json 'abs(m("path", 3) / json.load(open("auto"))["estimates"][2]["value"] - 1) < 0.2'
expect_status 0 kspec moments d.npy -n 5 --estimator path --permutations 300 --no-stderr --side given \
    --threads 1 --json
expect 'the same at any number of threads' cmp -s <(grep -v seconds many) <(grep -v seconds "$out")
expect_error 2 '--permutations: 0 is below 1' kspec moments d.npy --permutations 0
expect_error 2 "--side: 'up' must be one of" kspec moments d.npy --side up

# one side complete: exact has the value that all columns of a complete population have
expect_status 0 kspec moments d.npy -n 6 --sampled cols --json
expect_json '[e["estimator"] for e in j["estimates"]] == ["exact"] * 5 + ["kv-col"]'
expect_status 0 kspec moments d.npy -n 3 --sampled rows --estimator path,kv-row --json
expect_json 'all(m("path", n) == m("kv-row", n) for n in (1, 2, 3))'
expect_status 0 kspec moments d.npy -n 6 --sampled rows
expect_stdout '^   6  kv-row '
expect_stdout '^kv-row: given matrix, averaged over 8 random orders'
expect_error 2 "--sampled: 'none' must be one of" kspec moments d.npy --sampled none

# scale-free moments do not change with the scale, and are near the plain ratio
py 'x = np.load("d.npy"); np.save("scaled.npy", 7e5 * x)'
expect_status 0 kspec moments scaled.npy -n 3 --scale-free --json
cp "$out" scaled.json
expect_status 0 kspec moments d.npy -n 3 --scale-free --json
expect_json 'all(close(a[k], b[k], 1e-9)
    for a, b in zip(j["estimates"], json.load(open("scaled.json"))["estimates"])
    for k in ("scale_free", "scale_free_stderr", "scale_free_ci_low", "scale_free_ci_high"))'
expect_json 'all(e["scale_free_ci_low"] <= e["scale_free"] <= e["scale_free_ci_high"]
    for e in j["estimates"])'
expect_json 'all(abs(e["scale_free"] - e["value"] / j["estimates"][0]["value"] ** e["n"])
    <= e["scale_free_stderr"] for e in j["estimates"])'
expect_status 0 kspec moments d.npy -n 3 --scale-free
expect_stdout 'm\(n\)/m\(1\)\^n'
expect_error 2 'scale_free needs an order above 1' kspec moments d.npy --scale-free -n 1
expect_error 2 'scale_free needs error bars' kspec moments d.npy --scale-free --no-stderr

# the bound holds more than the interval, and only for unbiased estimators
expect_status 0 kspec moments d.npy -n 3 --estimator all --bound --json
expect_json 'all(entry(e, n)["chebyshev_low"] < m(e, n) < entry(e, n)["chebyshev_high"]
    and entry(e, n)["variance_bound"] > 0 for e in ("path", "exact") for n in (2, 3))'
expect_json 'entry("naive", 2)["variance_bound"] is None'
expect_status 0 kspec moments d.npy -n 3 --bound
expect_stdout 'Chebyshev'

# signs: a negative estimate has a negative root
printf '1,1,1\n1,-1,1\n-1,1,1\n' >s.csv
expect_status 0 kspec moments --estimator all s.csv --json
expect_json 'any(e["value"] < 0 for e in j["estimates"])'
expect_json 'all(close(math.copysign(abs(e["root"]) ** e["n"], e["root"]), e["value"], 1e-12)
    for e in j["estimates"])'

# options of the data
kspec generate rff --rows 40 --cols 30 --dim 2 --seed 2 -o x.npy
expect_status 0 kspec moments --estimator all x.npy --json
cp "$out" plain
expect_json 'all(e["ci_low"] < e["value"] < e["ci_high"] and e["stderr"] > 0 for e in j["estimates"])'
expect_status 0 kspec moments --estimator all x.npy --no-stderr --json
expect_json 'all(e["stderr"] is None and e["ci_low"] is None and e["ci_high"] is None
    for e in j["estimates"])'
expect_json 'all(close(a["value"], b["value"], 1e-12) for a, b in
             zip(j["estimates"], json.load(open("plain"))["estimates"], strict=True))'
expect_status 0 kspec moments --estimator all x.npy --normalize --json
expect_json 'close(m("naive", 1), 1, 1e-12)'
py "x = np.load('x.npy'); np.save('shifted.npy', x + 7); np.save('centred.npy', x - x.mean(0))"
expect_status 0 kspec moments --estimator naive centred.npy --json
cp "$out" plain
expect_status 0 kspec moments --estimator naive shifted.npy --center --json
expect_json 'all(close(a["value"], b["value"], 1e-9) for a, b in
             zip(j["estimates"], json.load(open("plain"))["estimates"], strict=True))'
expect_json 'j["center"] == "rows" and j["warnings"] == []'
# centred without bias, as high as the rows allow; a value follows = only
expect_status 0 kspec moments shifted.npy --center --json
expect_json '[(e["estimator"], e["n"]) for e in j["estimates"]] == [("exact", n) for n in range(1, 5)]'
expect_json 'all(e["stderr"] > 0 for e in j["estimates"]) and j["population_rows"] is None'
cp "$out" plain
expect_status 0 kspec moments x.npy --center=rows --json
expect_json 'all(close(a["value"], b["value"], 1e-9) for a, b in
             zip(j["estimates"], json.load(open("plain"))["estimates"], strict=True))'
expect_status 0 kspec moments x.npy --center=both --population-cols 1000 --json
expect_json 'j["center"] == "both" and j["population_cols"] == 1000 and len(j["estimates"]) == 3'
# all: those that go with the other options
for how in --center "--population-rows 1000"; do
    expect_status 0 kspec moments x.npy $how --estimator all -n 2 --json
    expect_json '[(e["estimator"], e["n"]) for e in j["estimates"]] == \
                 [("naive", 1), ("naive", 2), ("exact", 1), ("exact", 2)]'
done
py 'np.savetxt("halves.txt", np.arange(len(np.load("x.npy"))) // 2, fmt="%d")'
expect_status 0 kspec moments x.npy --groups halves.txt --estimator all -n 2 --json
expect_json '[e["estimator"] for e in j["estimates"]] == ["path"] * 2 + ["exact"] * 2'
# the participation ratio: of centred columns as dimension has it, of a population, of both sides not
expect_status 0 kspec dimension x.npy --center=cols --json
cp "$out" turned
expect_status 0 kspec moments x.npy --center=cols --json
expect_json "(lambda d: close(j['participation_ratio'], d['dimension'], 1e-9) and
             close(j['participation_ratio_stderr'], d['stderr'], 1e-9))(json.load(open('turned')))"
expect_status 0 kspec moments x.npy --population-rows 1000 --population-cols 1000 --json
expect_json 'j["participation_ratio_ci_low"] < j["participation_ratio"] < j["participation_ratio_ci_high"]'
expect_status 0 kspec moments x.npy --center=both
expect_stdout 'no unbiased estimate exists with both sides centred'
expect_status 0 kspec dimension x.npy --population-rows 1000 --sampled rows --json
cp "$out" finite
expect_status 0 kspec moments x.npy --center --population-rows 1000 --sampled rows --json
expect_json "(lambda d: j['participation_ratio'] == d['dimension'] and j['sampled'] == d['sampled'] and
             j['participation_ratio_ci_high'] == d['ci_high'])(json.load(open('finite')))"
expect_error 2 "--center: 'all' must be one of none, rows, cols, both" kspec moments x.npy --center=all
expect_error 2 'order 5 exceeds 4, the highest with center' kspec moments x.npy --center -n 5
expect_error 2 'path cannot be combined with center; use exact, naive or auto' \
    kspec moments x.npy --center --estimator path
expect_error 2 'bound cannot be combined with center' kspec moments x.npy --center --bound
expect_error 2 'order 2 needs 4 rows where they are centred; there are 2' kspec moments h.csv --center -n 2
expect_error 2 'a population of 1 row is smaller than the sample of 2' \
    kspec moments h.csv --population-rows 1
expect_error 2 'population-rows' kspec moments h.csv --population-rows 0
expect_error 2 'order 5 exceeds 4, the highest with a finite population' \
    kspec moments x.npy --population-rows 1000 -n 5
# a population as large as the sample is a complete side
expect_status 0 kspec moments x.npy --sampled rows --json
cp "$out" plain
expect_status 0 kspec moments x.npy --population-cols "$(py "print(np.load('x.npy').shape[1])")" --json
expect_json 'j["estimates"] == json.load(open("plain"))["estimates"]'
expect_status 0 kspec moments --estimator all shifted.npy --json
expect_json '"dominate" in j["warnings"][0]'
expect_stderr '^kspec: warning: the column means make up 9[0-9]%'
expect_status 0 kspec moments --estimator all shifted.npy --json --quiet
expect "--quiet is quiet" [ ! -s "$err" ]
expect_json '"dominate" in j["warnings"][0]'

# trials: two, more, and ragged ones
kspec generate rff --rows 20 --cols 15 --dim 2 --noise 1 --trials 2 -o t2.npy
py "t = np.load('t2.npy'); np.save('a.npy', t[0]); np.save('b.npy', t[1])"
expect_status 0 kspec moments --estimator all t2.npy --json
expect_json 'j["trials"] == 2'
cp "$out" two
expect_status 0 kspec moments --estimator all a.npy b.npy --json
expect_json 'j["trials"] == 2'
expect_json 'j["estimates"] == json.load(open("two"))["estimates"]'
expect "m(1) is the mean product" "$python" -c '
import json, numpy as np
t = np.load("t2.npy")
e = json.load(open("two"))["estimates"][0]
assert e["n"] == 1 and abs(e["value"] - (t[0] * t[1]).mean()) < 1e-12'
kspec generate rff --rows 20 --cols 15 --dim 2 --noise 1 --trials 5 -o t5.npy
expect_status 0 kspec moments --estimator all t5.npy --seed 1 --splits 3 --json
cp "$out" five
expect_status 0 kspec moments --estimator all t5.npy --seed 1 --splits 3 --threads 1 --json
expect_json 'j["estimates"] == json.load(open("five"))["estimates"]'
expect_status 0 kspec moments --estimator all t5.npy --seed 2 --splits 3 --json
expect_json 'j["estimates"] != json.load(open("five"))["estimates"]'
expect_status 0 kspec moments t5.npy --estimator path --trial-scheme assignment -n 3 --json
expect_json 'all(e["stderr"] is None for e in j["estimates"])'
expect_error 2 'the assignment scheme is for path' \
    kspec moments t5.npy --estimator naive --trial-scheme assignment
expect_error 2 'the assignment scheme needs at least 2 trials' kspec moments a.npy --trial-scheme assignment
expect_error 2 '--splits: 0 is below 1' kspec moments t5.npy --splits 0
py "t = np.load('t5.npy'); t[2:, 3] = np.nan; t[4, 7] = np.nan; np.save('ragged.npy', t)"
expect_error 3 'ragged-trials' kspec moments ragged.npy
expect_status 0 kspec moments --estimator all ragged.npy --nan ragged-trials
expect_stdout '2 to 5 trials × 20 rows × 15 columns'
expect_error 3 'is 20 x 15, trial 1 \(h.csv\) is 2 x 2|trial 2 \(a.npy\) is 20 x 15' kspec moments h.csv a.npy

# the same bits at any number of threads
kspec generate rff --rows 150 --cols 130 --dim 2 -o w.npy
for threads in 1 2 7; do
    kspec moments w.npy --threads $threads --json | grep -v seconds >w$threads
done
expect "2 threads" cmp -s w1 w2
expect "7 threads" cmp -s w1 w7

# the truth beside
expect_status 0 kspec moments --estimator all h.csv --truth 1,2e-3
expect_stdout 'truth'
expect_status 0 kspec moments --estimator all h.csv --truth 1,2e-3 --json
expect_json 'j["truth"] == [1, 0.002]'
kspec theory rbf --eta 4 -n 3 --json -o truth.json
expect_status 0 kspec moments --estimator all h.csv --truth truth.json --json
expect_json 'j["truth"] == json.load(open("truth.json"))["moments"]'
echo '{"a": 1}' >other.json
expect_error 3 'missing "moments" in other.json' kspec moments h.csv --truth other.json
expect_error 2 'neither a list of numbers nor a readable JSON file' kspec moments h.csv --truth nothing.json
expect_error 2 'neither a list of numbers' kspec moments h.csv --truth 1,x

# a computation that fails: the moments exceed the largest double
py "np.save('huge.npy', np.full((4, 4), 1e200))"
expect_error 1 'exceeds the largest double; scale the data \(--normalize\)$' kspec moments huge.npy -n 4
expect_status 0 kspec moments --estimator all huge.npy -n 4 --normalize --json --quiet
expect_json 'all(close(e["value"], 1, 1e-12) for e in j["estimates"])'
expect_status 0 kspec moments huge.npy -n 1 --estimator naive --select-rows 0 --select-cols 0-1 --normalize
py "np.save('small.npy', np.random.default_rng(0).normal(size=(40, 30)) * 1e-41)"
expect_status 0 kspec moments small.npy --json
expect_stderr 'm\(4\) is below the smallest double, 2.2e-308: .* scale the data \(--normalize\)'
expect_json 'all((e["n"] < 4) == (e["stderr"] is not None) and e["root"] for e in j["estimates"])'
expect_json 'any("smallest double" in w for w in j["warnings"])'
expect_status 0 kspec moments small.npy --normalize --json
expect_json 'all(e["stderr"] for e in j["estimates"])'
expect_json '[d["code"] for d in j["doubts"]] == ["dimension-unknown", "moments-unknown"]' # it is all noise
rm small.npy
py "np.save('tiny.npy', np.full((4, 4), 1e-200))"
expect_error 1 'm\(1\) is below the smallest double' kspec moments --estimator all tiny.npy -n 4 --json
# the participation ratio with its error bars: what kspec dimension says
kspec generate linear --rows 60 --cols 40 --dim 5 --noise 1 --trials 3 -o pr.npy --quiet
for how in "" --center; do
    expect_status 0 kspec moments pr.npy -n 2 $how --quiet --json
    cp "$out" ratio
    expect_status 0 kspec dimension pr.npy $([ "$how" ] || echo --no-center) --json
    keys='("", "dimension"), ("_stderr", "stderr"), ("_ci_low", "ci_low"), ("_ci_high", "ci_high")'
    expect_json "(lambda r: all(close(r['participation_ratio' + k], j[l], 1e-9)
                 for k, l in ($keys, ('_naive', 'naive'))))(json.load(open('ratio')))"
done
expect_status 0 kspec moments pr.npy -n 2
number='[0-9.]+'
ratio="$number ± $number \(95% interval $number … $number\) dimensions \(not centred\)"
expect_stdout "^participation ratio m\(1\)²/m\(2\): $ratio; of the matrix itself: $number\$"
expect_status 0 kspec moments pr.npy -n 2 --no-stderr
expect_stdout "m\(2\): $number dimensions \(not centred\); of"
# centred next to it, where that is another number
kspec generate rff --rows 60 --cols 40 --dim 2 -o apart.npy --quiet
"$python" -c 'import numpy as np; x = np.load("apart.npy"); np.save("apart.npy", x + 3)'
expect_status 0 kspec dimension apart.npy --json
cp "$out" centred
expect_status 0 kspec moments apart.npy -n 2 --json
expect_json 'j["dimension_centered"] == json.load(open("centred"))["dimension"] and j["center"] == "none"'
expect_status 0 kspec moments apart.npy -n 2
interval='\(95% interval [0-9.]+ … [0-9.]+\)'
expect_stdout "^dimension \(rows centred\) [0-9.]+ $interval, the same as of kspec dimension\$"
expect_status 0 kspec moments apart.npy -n 2 --center --json
expect_json 'j["dimension_centered"] is None'
# --effort: what auto may spend
kspec generate rff --rows 400 --cols 60 --dim 2 -o effort.npy --quiet
expect_status 0 kspec moments effort.npy --no-stderr --json
expect_json '[e["estimator"] for e in j["estimates"]] == ["exact"] * 5 + ["path"]'
expect_status 0 kspec moments effort.npy --no-stderr --effort 0.001 --json
expect_json '[e["estimator"] for e in j["estimates"]].count("path") > 1'
expect_error 2 "--effort: '0' is not above 0" kspec moments effort.npy --effort 0
# a neural recording as it lies on disk: (neurons, images, repeats), NaN where a repeat was not made
if find_data v4/responses_210325.npy; then
    v4="$data/v4/responses_210325.npy --axes cols,rows,trials --nan ragged-trials -n 2 --no-stderr"
    expect_status 0 kspec moments $v4 --json
    expect_json '(j["rows"], j["cols"], j["trials"]) == (640, 50, 10)'
    expect_json 'abs(j["participation_ratio"] - 1.26) < 0.01'
    expect_stderr 'the column means make up 8[0-9]% of m\(1\)'
    expect_status 0 kspec moments $v4 --center --json
    expect_json 'abs(j["participation_ratio"] - 23.4) < 0.1 and j["participation_ratio_stderr"] is None'
fi
done_testing
