# kspec dimension: reference values, matrices whose dimension is known, trials, the curve, bad input.
. "$(dirname "$0")/lib.sh"

golden_values() { "$python" "$KSPEC_SOURCE/tests/cli/dimension_golden.py" dimension "$KSPEC" "$1"; }
expect "the reference values" golden_values "$golden/centred.json"
sed 's/"dimension_centred": 2\.0688/"dimension_centred": 2.0689/' "$golden/centred.json" >spoilt.json
expect "a spoilt value is noticed" eval '! golden_values spoilt.json >/dev/null'

# ten equal eigenvalues: within the interval, where the matrix's own are too few
kspec generate linear --rows 100 --cols 300 --dim 10 -o x.npy
expect_status 0 kspec dimension x.npy --json
expect_json 'j["ci_low"] < 10 < j["ci_high"] and j["ci_low"] < j["dimension"] < j["ci_high"]'
expect_json 'j["naive"] < 9'
expect_json '(j["rows"], j["cols"], j["trials"], j["centered"], j["curve"]) == (100, 300, 1, True, [])'
expect_json 'close(j["dimension"], j["trace_squared"] / j["second_moment"], 1e-12) and j["stderr"] > 0'
cp "$out" plain
# text: the answer first
expect_status 0 kspec dimension x.npy
answer='^dimension \(rows centred\) [0-9.]+ \(95% interval [0-9.]+ … [0-9.]+\); '
answer+='of the matrix itself, biased by its size: [0-9.]+$'
expect "the answer is the first line" grep -qE "$answer" <(head -n 1 "$out")
expect_stdout '^with one trial, independent noise .* counts as dimensions'
expect_stdout '^x\.npy: 100 rows × 300 columns$'
# a constant added to every column changes nothing, a factor neither; without centring it does
py 'x = np.load("x.npy"); np.save("shifted.npy", 7 * x + 100 * np.arange(300))'
expect_status 0 kspec dimension shifted.npy --json
expect_json 'all(close(j[k], json.load(open("plain"))[k], 1e-8)
             for k in ("dimension", "stderr", "ci_low", "ci_high", "naive"))'
expect_status 0 kspec dimension shifted.npy --no-center --json
expect_json 'j["centered"] is False and abs(j["dimension"] - 1) < 0.01'
expect_status 0 kspec dimension shifted.npy --no-center
expect_stdout '^not centred'
# over the columns: the same as the transpose's over the rows, and a constant added to a row changes nothing
py 'x = np.load("x.npy"); np.save("turned.npy", np.ascontiguousarray((x + np.arange(100)[:, None]).T))'
expect_status 0 kspec dimension x.npy --center=cols --curve --json
expect_json 'j["center"] == "cols" and (j["rows"], j["cols"]) == (100, 300)'
expect_json '(j["curve"][-1]["rows"], j["curve"][-1]["cols"]) == (100, 300)'
cp "$out" cols
expect_status 0 kspec dimension turned.npy --json
expect_json 'j["center"] == "rows" and (j["rows"], j["cols"]) == (300, 100)'
expect_json 'all(close(j[k], json.load(open("cols"))[k], 1e-8)
             for k in ("dimension", "stderr", "ci_low", "ci_high", "naive"))'
expect_status 0 kspec dimension x.npy --center=cols
expect_stdout '^columns centred: the mean of each row takes no part'
expect_status 0 kspec dimension x.npy --center --json
expect_json 'close(j["dimension"], json.load(open("plain"))["dimension"], 1e-14) and j["center"] == "rows"'
expect_error 2 'not known without bias' kspec dimension x.npy --center=both
for none in --no-center --center=none '--center=cols --no-center'; do # the last one holds
    expect_status 0 kspec dimension x.npy $none --json
    expect_json '(j["center"], j["centered"]) == ("none", False)'
done

# the curve: from few to all; the naive one climbs
expect_status 0 kspec dimension x.npy --curve --seed 3 --json
expect_json 'len(j["curve"]) == 12'
expect_json 'all(list(p) == ["rows", "cols", "dimension", "naive"] for p in j["curve"])'
expect_json '[(p["rows"], p["cols"]) for p in (j["curve"][0], j["curve"][-1])] == [(20, 30), (100, 300)]'
expect_json 'close(j["curve"][-1]["dimension"], j["dimension"], 1e-10)'
expect_json 'close(j["curve"][-1]["naive"], j["naive"], 1e-10)'
expect_json 'j["curve"][0]["naive"] < j["curve"][4]["naive"] < j["curve"][8]["naive"] < j["naive"]'
expect_json 'all(abs(p["dimension"] - 10) < 2 for p in j["curve"])'
cp "$out" curve
expect_status 0 kspec dimension x.npy --curve --seed 3 --threads 1 --json
expect_json 'j["curve"] == json.load(open("curve"))["curve"]'
expect_status 0 kspec dimension x.npy --curve --seed 4 --json
expect_json 'j["curve"] != json.load(open("curve"))["curve"]'
expect_json 'j["dimension"] == json.load(open("curve"))["dimension"]'
expect_status 0 kspec dimension x.npy --curve
expect "a line for each point" [ "$(grep -cE '^ +[0-9]+ +[0-9]+ ' "$out")" -eq 12 ]

# trials: noise counts with one and not with more
kspec generate linear --rows 100 --cols 80 --dim 5 --noise 2 --trials 3 -o t.npy
py 't = np.load("t.npy"); np.save("t0.npy", t[0]); np.save("t1.npy", t[1])
t[2, 4:9] = np.nan; np.save("ragged.npy", t)'
expect_status 0 kspec dimension t0.npy --json
expect_json 'j["dimension"] > 8'
for files in "t0.npy t1.npy" t.npy "ragged.npy --nan ragged-trials"; do
    expect_status 0 kspec dimension $files --json
    expect_json 'j["trials"] > 1 and j["ci_low"] < 5 < j["ci_high"]'
done
expect_status 0 kspec dimension ragged.npy --nan ragged-trials --curve
expect_stdout '2 to 3 trials × 100 rows'
expect "nothing of one trial" eval '! grep -q "one trial" "$out"'
expect_status 0 kspec dimension t.npy --splits 1 --json
cp "$out" one
expect_status 0 kspec dimension t.npy --splits 2 --json
expect_json 'j["dimension"] != json.load(open("one"))["dimension"]'

# several matrices: one table, a list of results
expect_status 0 kspec dimension x.npy --json
cp "$out" plain
expect_status 0 kspec dimension --label x x.npy --label 'two trials' t0.npy t1.npy --json
expect_json '[r["label"] for r in j["results"]] == ["x", "two trials"]'
expect_json '[r["trials"] for r in j["results"]] == [1, 2]'
expect_json '[(i["label"], i["shape"], i["centered"]) for i in j["input"]["matrices"]] == \
             [("x", [100, 300], True), ("two trials", [2, 100, 80], True)]'
expect_json 'all(j["results"][0][k] == json.load(open("plain"))[k] for k in
             ("rows", "cols", "centered", "dimension", "stderr", "ci_low", "ci_high", "naive", "curve"))'
expect_status 0 kspec dimension --label x x.npy --label 'two trials' t0.npy t1.npy
row='[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+$'
expect_stdout "^two trials +100 +80 +2 +$row"
expect_stdout "^x +100 +300 +1 +$row"
expect_stdout '^with one trial, independent noise'
printf '# recordings\nx.npy\ntwo\tt0.npy\tt1.npy\n' >list.txt
expect_status 0 kspec dimension @list.txt t.npy --curve --json
expect_json '[r["label"] for r in j["results"]] == ["x.npy", "two", "t.npy"]'
expect_json 'all(len(r["curve"]) == 12 for r in j["results"])'
expect_status 0 kspec dimension @list.txt --curve
expect "two curves" [ "$(grep -cE '^ +[0-9]+ +[0-9]+ ' "$out")" -eq 24 ]
expect_status 0 kspec dimension --label x x.npy --json # a single one is as without its label
expect_json 'j["dimension"] == json.load(open("plain"))["dimension"] and "results" not in j'
expect_error 2 '--label y: no INPUT follows it' kspec dimension x.npy --label y
expect_error 2 '--groups is for one matrix, not 2' \
    kspec dimension --groups list.txt --label y x.npy --label z t0.npy
expect_error 2 'two recordings are named y' kspec dimension --label y x.npy --label y t0.npy
expect_error 2 '--label y: @list.txt is a list' kspec dimension --label y @list.txt
expect_error 2 '--label: the name is empty' kspec dimension --label '' x.npy
expect_error 3 'cannot open none\.txt' kspec dimension @none.txt
: >empty.txt
printf 'a\t\tx.npy\n' >gap.txt
expect_error 3 'empty\.txt lists no recording' kspec dimension @empty.txt
expect_error 3 'gap\.txt: line 1 has an empty word' kspec dimension @gap.txt
expect_error 3 'cannot read \.' kspec dimension @.

# few columns: the square of m(1) is not that of its estimate
py 'r = np.random.default_rng(3); g = r.normal(size=(150, 1))
np.save("few.npy", g * [0.8, 0.1, 1.7, 0.7] + 0.3 * r.normal(size=(150, 4)) + 5)'
expect_status 0 kspec dimension few.npy --json
expect_json 'j["dimension"] < 0.9 * j["trace"] ** 2 / j["second_moment"]'
expect_json '(j["rows"], j["cols"]) == (150, 4)'

# undefined, or below 1
py 'np.save("zero.npy", np.zeros((8, 5))); np.save("constant.npy", 0.1 + np.tile(np.arange(5.0), (8, 1)))
np.save("noise.npy", np.random.default_rng(1).normal(size=(8, 5)))'
for x in zero constant; do
    expect_status 0 kspec dimension $x.npy --curve --json
    expect_stderr 'the dimension is undefined: every column is constant'
    expect_json 'all(j[k] is None for k in ("dimension", "stderr", "ci_low", "ci_high", "naive"))'
    expect_json 'j["trace"] == 0'
    expect_json 'len(j["warnings"]) == 1 and all(p["dimension"] is None for p in j["curve"])'
done
expect_status 0 kspec dimension zero.npy --no-center
expect_stderr 'every entry is 0'
expect_stdout '^dimension \(not centred\) undefined$'
expect_status 0 kspec dimension constant.npy --no-center --json
expect_json 'close(j["dimension"], 1, 1e-10) and j["warnings"] == []'
expect_status 0 kspec dimension noise.npy --json
expect_stderr 'the estimate of m\(2\), -0\.0398, is not positive'
expect_json 'j["dimension"] is None and j["naive"] > 1 and j["second_moment"] < 0'
expect_status 0 kspec dimension noise.npy
expect_stdout '^dimension \(rows centred\) undefined; of the matrix itself, biased by its size: 3'
expect_status 0 kspec dimension few.npy --select-cols 1-3 --select-rows 0-20 --json
expect_json '(j["dimension"] < 1) == any("is below 1" in w for w in j["warnings"])'

# m(2) of small entries is below the smallest double, but the dimension is not
py 'np.save("tiny.npy", np.load("x.npy") * 2.0**-530)'
expect_status 0 kspec dimension x.npy --json
cp "$out" plain
expect_status 0 kspec dimension tiny.npy --json
expect_json 'close(j["dimension"], json.load(open("plain"))["dimension"], 1e-12)'
expect_json 'not any("undefined" in w for w in j["warnings"])'

# bad input
py 'np.save("short.npy", np.ones((4, 5))); np.save("narrow.npy", np.ones((9, 2)))
a = np.ones((6, 6)); a[2, 1] = np.nan
np.save("nan.npy", a); np.save("rows.npy", np.ones((3, 4)))'
expect_error 3 '4 rows and 5 columns are too few: 5 and 3 are needed' kspec dimension short.npy
expect_error 3 '9 rows and 2 columns are too few: 5 and 3 are needed' kspec dimension narrow.npy
expect_error 3 'b: the matrix: 9 rows and 2 columns' kspec dimension --label a x.npy --label b narrow.npy
expect_status 0 kspec dimension --label a x.npy --label b noise.npy
expect_stderr 'b: the dimension is undefined: the estimate of m\(2\)'
expect_stdout '^b +8 +5 +1 +3\.[0-9]+$'
expect_error 3 '2 rows and 4 columns are too few: 3 and 3 are needed' \
    kspec dimension rows.npy --no-center --select-rows 0-1
expect_error 3 'less than the 3 x 5' kspec dimension rows.npy --center=cols --select-cols 0-3
expect_status 0 kspec dimension rows.npy --no-center
expect_error 3 'row 2, column 1' kspec dimension nan.npy
expect_error 3 'nothing\.npy' kspec dimension nothing.npy
expect_error 2 'INPUT' kspec dimension
expect_error 2 '--splits: 0 is below 1' kspec dimension x.npy --splits 0
expect_error 2 '--centre' kspec dimension x.npy --centre

# a neural recording as it lies on disk
if find_data v4/responses_210325.npy; then
    v4="--axes cols,rows,trials --nan ragged-trials"
    expect_status 0 kspec dimension "$data/v4/responses_210325.npy" $v4 --json
    expect_json '(j["rows"], j["cols"], j["trials"]) == (640, 50, 10) and abs(j["dimension"] - 23.4) < 0.1'
    expect_json 'j["ci_low"] < 23.4 < j["ci_high"] and j["naive"] < 16'
fi
# which side the uncertainty comes from, and the interval at another size
expect_status 0 kspec dimension x.npy --plan 600x100 --json
expect_json 'close((j["row_variance"] + j["col_variance"]) ** 0.5, j["stderr"] / j["dimension"], 1e-9)'
expect_json 'close((j["plan"]["stderr"] / j["stderr"]) ** 2 * (j["row_variance"] + j["col_variance"]),
                   j["row_variance"] * j["rows"] / 600 + j["col_variance"] * j["cols"] / 100, 1e-9)'
expect_status 0 kspec dimension x.npy --plan 600x100
expect_stdout '^uncertainty: [0-9]*% from rows, [0-9]*% from columns; .* would halve it$'
expect_stdout '^expected from 600 x 100: .* times as wide$'
for bad in 600 x100 600x 600x100x2 0x5 -3x4 600x1e3 2x2; do
    expect_error 2 "--plan: '$bad' must be rows x columns, such as 2000x500" \
        kspec dimension x.npy --plan="$bad"
done
expect_error 2 '--plan and --population-rows cannot be combined' \
    kspec dimension x.npy --plan 600x100 --population-rows 1000
# what is doubtful: a code, how grave it is, and a sentence; all but notes are warnings
expect_status 0 kspec dimension x.npy --json
expect_json 'all({"code", "severity", "text"} <= set(d) for d in j["doubts"])'
expect_json '("one-trial", "note") in {(d["code"], d["severity"]) for d in j["doubts"]}'
expect_json 'j["warnings"] == [d["text"] for d in j["doubts"] if d["severity"] != "note"]'
done_testing
