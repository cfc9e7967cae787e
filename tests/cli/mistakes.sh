# Mistakes that gave a number without a word: each is refused, or warned of.
. "$(dirname "$0")/lib.sh"

# Warnings of the last command: all that match, none that do
expect_warning() { expect_stderr "^kspec: warning: .*$1"; }
expect_no_warning() {
    checks=$((checks + 1))
    ! grep -qE -- "$1" "$err" || fail "'$1' in: $(head -c 400 "$err")"
}

"$python" - <<'END' || exit 1
import numpy as np
rng = np.random.default_rng(1)
signal = rng.normal(size=(40, 30))
neurons = signal.T[:, :, None] + rng.normal(size=(30, 40, 5))     # neurons x images x repeats
np.save("neurons.npy", neurons)
np.save("middle.npy", neurons.transpose(0, 2, 1))
np.save("first.npy", neurons.transpose(2, 1, 0))
neurons[:, 3, 4] = np.nan
np.save("ragged.npy", neurons)
neurons[2, 3, 1] = np.nan
np.save("holes.npy", neurons)
np.save("square.npy", np.where(np.arange(125).reshape(5, 5, 5) == 7, np.nan, rng.normal(size=(5, 5, 5))))
for k in 1, 2, 3:
    np.save(f"trial{k}.npy", signal + rng.normal(size=(40, 30)))
np.save("other.npy", rng.normal(size=(40, 30)))
np.save("rate.npy", 5 + rng.normal(size=(40, 30)))               # alike in their means alone
np.save("rate2.npy", 5 + rng.normal(size=(40, 30)))
np.save("far.npy", 1000 * signal)
np.save("tiny.npy", 1e-200 * signal)
np.save("y.npy", signal[:, 0])
with open("pandas.csv", "w") as f:
    f.write(",a,b,c\n")
    for i, row in enumerate(signal):
        f.write("%d,%g,%g,%g\n" % (i + 7, *row[:3]))
with open("counted.csv", "w") as f:
    for i, row in enumerate(signal):
        f.write("%d,%g,%g,%g\n" % (i, *row[:3]))
with open("named.csv", "w") as f:
    f.write("a,b,Trial id,c\n")
    for i, row in enumerate(signal):
        f.write("%g,%g,%d,%g\n" % (row[0], row[1], rng.integers(9), row[2]))
with open("runs.csv", "w") as f:
    for i, row in enumerate(signal):
        f.write("%g,%g,%d\n" % (row[0], row[1], i // 4))
with open("clock.csv", "w") as f:
    for i, row in enumerate(signal):
        f.write("%g,%g,%g\n" % (row[0], row[1], 3.5 + 0.25 * i))
END

# the axes of a 3-D array
expect_error 3 'neurons.npy is 30 x 40 x 5, which would mean 30 trials of 40 x 5; .*--axes cols,rows,trials' \
    kspec dimension neurons.npy
expect_error 3 'is 30 x 5 x 40, .*: cols,trials,rows if axis 1.* \(--axes cols,trials,rows\)$' \
    kspec moments middle.npy
expect_status 0 kspec dimension first.npy --json
result "$out" >want
for input in 'neurons.npy --axes cols,rows,trials' 'middle.npy --axes cols,trials,rows'; do
    expect_status 0 kspec dimension $input --json
    expect "$input is what is meant" cmp -s <(result "$out") want
done
expect_status 0 kspec generate linear --rows 40 --cols 3 --dim 2 --trials 4 --noise 1 -o long.npy
expect_warning 'long.npy is 4 x 40 x 3, .*--axes trials,rows,cols'
expect_error 3 'long.npy is 4 x 40 x 3' kspec moments long.npy
expect_status 0 kspec moments long.npy --axes trials,rows,cols -n 2
expect_status 0 kspec generate linear --rows 40 --cols 4 --dim 2 --trials 4 --noise 1 -o wide.npy
expect_no_warning axes

# missing values of one
expect_error 3 'ragged.npy is 30 x 40 x 5' kspec moments ragged.npy
expect_error 3 'taken as 5 trials x 40 rows x 30 columns \(axes\), 30 missing.* \(--nan ragged-trials\)$' \
    kspec moments ragged.npy --axes cols,rows,trials
expect_error 3 'taken as 5 trials x 40 rows x 30 columns .*omit-cols 0 of 30' \
    kspec moments holes.npy --axes cols,rows,trials
expect_error 3 'taken as 5 trials x 5 rows x 5 columns .*omit-rows leaves 4 of 5 rows \(--nan omit-rows\)$' \
    kspec moments square.npy
expect_error 3 'taken as 30 trials x 40 rows x 5 .*omit-rows leaves 39 of 40 rows \(--nan omit-rows\)$' \
    kspec moments ragged.npy --axes trials,rows,cols

# an index is not a feature
expect_status 0 kspec dimension pandas.csv
expect_warning 'pandas.csv: column 0 has no name.*--select-cols 1-'
expect_status 0 kspec dimension counted.csv
expect_warning 'counted.csv: column 0 counts the rows.*--select-cols 1-'
for input in pandas.csv counted.csv; do
    expect_status 0 kspec dimension $input --select-cols 1-
    expect_no_warning 'column 0'
    expect_stdout '40 rows × 3 columns'
    expect_status 0 kspec dimension $input --select-cols 1- --select-rows 0,5-
    expect_stdout '36 rows × 3 columns'
done
expect_error 2 "column '-' is not a number" kspec dimension counted.csv --select-cols -
expect_error 2 'column 9 is out of range' kspec dimension counted.csv --select-cols 9-
expect_error 2 'column 2 is selected twice' kspec dimension counted.csv --select-cols 1-,2

# rows in order of time or trial are not independent
expect_status 0 kspec moments named.csv -n 2
expect_warning "named.csv: column 2 \('Trial id'\) looks like a trial index.*--groups-column"
expect_status 0 kspec dimension runs.csv
expect_warning 'runs.csv: column 2 looks like a trial index.*--groups'
expect_status 0 kspec dimension clock.csv
expect_warning 'clock.csv: column 2 looks like a time index.*--groups'
expect_status 0 kspec dimension named.csv --groups-column 'Trial id'
expect_no_warning 'looks like'
expect_status 0 kspec dimension other.npy
expect_no_warning 'looks like|: column'

# two data sets are not two trials
expect_status 0 kspec dimension trial1.npy trial2.npy trial3.npy
expect_no_warning 'compare'
expect_status 0 kspec dimension trial1.npy trial2.npy other.npy
expect_warning 'trial1.npy and other.npy agree no more than chance.*kspec compare'
expect_status 0 kspec moments rate.npy rate2.npy --json
expect_json 'any("repeats of the same rows and columns" in w for w in j["warnings"])'
expect_status 0 kspec compare trial1.npy other.npy
expect_no_warning 'chance'

# numbers that no kernel has
expect_error 1 'm\(1\) is below the smallest double; scale the data \(--normalize\)' kspec moments tiny.npy
expect_status 0 kspec dimension tiny.npy
expect_warning 'so small that their moments underflow'
py 'np.save("few.npy", np.random.default_rng(5).normal(size=(6, 5)))'
expect_status 0 kspec moments few.npy -n 5 --json
expect_json 'min(e["value"] for e in j["estimates"]) < 0 and any(
    "the least that a kernel has" in w for w in j["warnings"])'
py 'r = np.random.default_rng(3); a = np.outer(r.normal(size=12), r.normal(size=9))
np.save("one.npy", a); np.save("noisy.npy", a + r.normal(size=(2, 12, 9)) / 2)'
expect_status 0 kspec moments noisy.npy -n 2 --json
expect_json 'j["participation_ratio"] < 1 and any("dimension 0." in w for w in j["warnings"])'
expect_status 0 kspec moments one.npy -n 2 --json # one dimension is 1 but for rounding
expect_json 'abs(j["participation_ratio"] - 1) < 1e-9 and j["warnings"] == []'
kspec generate linear --rows 40 --cols 30 --eigenvalue 3,2,1 --seed 1 -o three.npy
expect_status 0 kspec moments three.npy -n 4
expect_no_warning 'least that a kernel'

# an interval that says nothing
py 'np.save("few.npy", np.random.default_rng(4).normal(size=(40, 6)))'
expect_status 0 kspec dimension few.npy --json
expect_json 'j["ci_low"] == 1 and j["stderr"] > 1.2 * j["dimension"] and any(
    "the data hardly tell the dimension" in w for w in j["warnings"])'
expect_status 0 kspec dimension three.npy
expect_no_warning 'hardly'

# rows and columns that were never measured
py 'a = np.load("three.npy"); a[3] = np.nan; a[7, 2] = np.nan; np.save("norow.npy", a)
a[:, [4, 9]] = np.nan; np.save("nocols.npy", a)'
expect_status 0 kspec dimension norow.npy --nan pairwise
expect_warning 'norow.npy: 1 row is without any value and left out; the first is row 3'
expect_no_warning 'column'
expect_status 0 kspec moments nocols.npy --nan pairwise -n 2
expect_warning 'nocols.npy: 2 columns are without any value and left out; the first is column 4'
expect_status 0 kspec moments norow.npy --nan omit-rows -n 2
expect_no_warning 'no value'

# bandwidths
expect_status 0 kspec ridge far.npy --target y.npy --features 10 --lambda 0.1 --json
expect_json 'j["sigma"] == 1 and any("sigma = 1 is far below the median distance of two rows, " in w
    for w in j["warnings"])'
expect_status 0 kspec ridge far.npy --target y.npy --features 10 --lambda 0.1 --scale
expect_no_warning sigma
expect_status 0 kspec ridge far.npy --target y.npy --features 10 --lambda 0.1 --sigma median
expect_no_warning sigma
expect_status 0 kspec norm far.npy --json
expect_json '[r["method"] for r in j["results"]] == ["lanczos"] and j["sigma"] > 1000'
result "$out" >want
expect_status 0 kspec norm far.npy --json --sigma median --method auto
expect "the defaults of norm" cmp -s <(result "$out") want
py 'a = np.load("other.npy"); np.save("gram.npy", a @ a.T)'
expect_status 0 kspec norm gram.npy --gram --json
expect_json '[r["method"] for r in j["results"]] == ["lanczos"]'

# weights
expect_status 0 kspec wls features --help-all
expect_stdout "square roots of scikit-learn's sample_weight"
py 'r = np.random.default_rng(3); x = r.normal(size=(12, 2)); y = x @ [1, 2] + r.normal(size=12)
s = r.uniform(1, 9, 12); np.save("X.npy", x); np.save("Y.npy", y); np.save("w.npy", np.sqrt(s))
np.save("want.npy", np.linalg.solve(x.T @ (s[:, None] * x), x.T @ (s * y)))'
expect_status 0 kspec wls features X.npy --target Y.npy --data-weights w.npy --theta t.npy
expect "a weight is the square root of sample_weight" "$python" -c 'import numpy as np
assert np.allclose(np.load("t.npy").ravel(), np.load("want.npy"))'
done_testing
