# Dependent rows and columns, and missing entries: kspec moments and kspec dimension from files to JSON.
. "$(dirname "$0")/lib.sh"

py 'r = np.random.default_rng(4)
g = np.repeat(np.arange(12), [1 + k % 4 for k in range(12)])
w = r.normal(size=(3, 8))
x = r.normal(size=(12, 3))[g] @ w + 0.5 * r.normal(size=(30, 8))
o = r.permutation(30)
x, g = x[o], g[o]
np.save("x.npy", x)
np.save("g.npy", g.astype(float))
np.savetxt("g.txt", g, fmt="trial %d")
open("blank.txt", "w").write(open("g.txt").read() + "\n")
np.savetxt("c.txt", np.arange(8) // 2, fmt="%d")
np.savetxt("short.txt", g[:7], fmt="%d")
np.savetxt("one.txt", np.zeros(30), fmt="%d")
np.savetxt("alone.txt", np.arange(30), fmt="%d")
with open("t.csv", "w") as f:
    f.write("a,b,c,who,d,e,f,g,h\n")
    for row, k in zip(x, g):
        row = [repr(float(v)) for v in row]
        f.write(",".join(row[:3] + [f"w{k}"] + row[3:]) + "\n")
y = x.copy()
y[r.random(y.shape) < 0.2] = np.nan
np.save("y.npy", y)
z = np.full((4, 6), np.nan)
z[0, :3] = z[1, 3:] = 1
np.save("z.npy", z)
np.save("trials.npy", np.stack([x + 0.3 * r.normal(size=x.shape) for _ in range(4)]))
np.save("holes.npy", np.stack([np.where(r.random(x.shape) < 0.2, np.nan, x) for _ in range(3)]))'

# ---- groups ----
expect_status 0 kspec moments x.npy --groups g.txt --col-groups c.txt -n 3 --json
expect_json 'j["groups"] == 12 and j["col_groups"] == 4'
expect_json '[e["estimator"] for e in j["estimates"]] == ["exact", "exact", "path"]'
expect_json 'j["permutations"] == 8'
expect_json 'j["input"]["groups"]["path"] == "g.txt" and j["input"]["col-groups"]["path"] == "c.txt"'
cp "$out" grouped
# from the definition, by all tuples
py 'import json
x, g, c = np.load("x.npy"), np.load("g.npy"), np.arange(8) // 2
P, Q = g[:, None] != g, c[:, None] != c
want = np.einsum("ia,ja,jc,ic,ij,ac->", x, x, x, x, P, Q, optimize=True) / (P.sum() * Q.sum())
got = json.load(open("grouped"))["estimates"][1]["value"]
assert abs(got / want - 1) < 1e-12, (got, want)'
expect "the definition" [ $? -eq 0 ]
for how in "--groups g.npy" "--groups blank.txt"; do # other names of the same groups
    expect_status 0 kspec moments x.npy $how --col-groups c.txt -n 3 --json
    expect_json 'j["estimates"] == json.load(open("grouped"))["estimates"]'
done
expect_status 0 kspec moments t.csv --groups-column who --col-groups c.txt -n 3 --json
expect_json 'j["estimates"] == json.load(open("grouped"))["estimates"] and j["cols"] == 8'
expect_status 0 kspec moments t.csv --groups-column who --select-cols a,b,c,d --json
expect_json 'j["cols"] == 4 and j["groups"] == 12'
expect_status 0 kspec moments x.npy --groups g.txt
expect_stdout '^12 groups of rows$'
expect_status 0 kspec moments x.npy --groups g.txt --col-groups c.txt
expect_stdout '^12 groups of rows, 4 of columns$'
# selected rows: labels of all rows, or of the selected ones
expect_status 0 kspec moments x.npy --groups g.txt --select-rows 0-19 -n 2 --json
cp "$out" selected
head -20 g.txt >g20.txt
expect_status 0 kspec moments x.npy --groups g20.txt --select-rows 0-19 -n 2 --json
expect_json 'j["estimates"] == json.load(open("selected"))["estimates"]'
# groups of one
expect_status 0 kspec moments x.npy --json
cp "$out" plain
expect_status 0 kspec moments x.npy --groups alone.txt --json
expect_json 'j["estimates"] == json.load(open("plain"))["estimates"] and "groups" not in j'
# trials, centring
expect_status 0 kspec moments trials.npy --groups g.txt -n 3 --json
expect_json 'j["trials"] == 4 and j["groups"] == 12 and all(e["stderr"] > 0 for e in j["estimates"])'
expect_status 0 kspec moments x.npy --groups g.txt --center --json
expect_json '[e["n"] for e in j["estimates"]] == [1, 2] and j["warnings"] == []'
cp "$out" centred
# a constant added to a column: nothing changes where all groups are as large; where they are not, a warning
py 'np.save("shifted.npy", np.load("x.npy") + 10 * np.arange(8))
np.savetxt("even.txt", np.arange(30) // 3, fmt="%d")'
expect_status 0 kspec moments x.npy --groups even.txt --center --json
cp "$out" even
expect_status 0 kspec moments shifted.npy --groups even.txt --center --json
expect_json 'all(close(e["value"], f["value"], 1e-9)
             for e, f in zip(j["estimates"], json.load(open("even"))["estimates"]))'
expect_json 'j["warnings"] == [] and j["mean_share"] is None'
expect_status 0 kspec moments shifted.npy --groups g.txt --center --json
expect_json 'any("groups of rows differ in size, and the column means, " in w for w in j["warnings"])'
# dimension and compare count all tuples of rows alike: there it changes nothing, whatever the sizes
expect_status 0 kspec dimension x.npy --groups g.txt --json
expect_json 'j["groups"] == 12 and j["ci_low"] < j["dimension"] < j["ci_high"]'
cp "$out" alike
expect_status 0 kspec dimension shifted.npy --groups g.txt --json
expect_json 'j["warnings"] == [] and close(j["dimension"], json.load(open("alike"))["dimension"], 1e-9)'
expect_status 0 kspec compare x.npy shifted.npy --groups g.txt --sampled rows --json
expect_json 'close(j["alignment"], 1, 1e-12)'
expect_status 0 kspec dimension x.npy --groups even.txt --json
expect_json 'close(j["second_moment"], json.load(open("even"))["estimates"][1]["value"], 1e-12)'
expect_json 'close(j["dimension"], json.load(open("even"))["participation_ratio"], 1e-12)'
expect_status 0 kspec dimension t.csv --groups-column who
expect_stdout '^12 groups of rows$'

expect_error 3 'short.txt has 7 labels, the matrix has 30 rows' kspec moments x.npy --groups short.txt
expect_error 3 'short.txt has 7 labels, the matrix has 8 columns' kspec dimension x.npy --col-groups short.txt
expect_error 2 'all 30 rows have one label: at least 2 groups' kspec moments x.npy --groups one.txt
expect_error 3 'none.txt' kspec moments x.npy --groups none.txt
expect_error 2 "column 'whom' is not in the header of t.csv; did you mean 'who'" \
    kspec moments t.csv --groups-column whom
py 'import csv; t = list(csv.reader(open("t.csv"))); t[1][t[0].index("who")] = "other"
csv.writer(open("t2.csv", "w")).writerows(t)'
expect_error 3 "column 'who' of t2.csv and of t.csv must have the same groups" \
    kspec moments t.csv t2.csv --groups-column who
expect_error 2 'cannot be combined' kspec moments t.csv --groups-column who --groups g.txt
printf 'who,a,b\n1,2,3\n1,5,6\n2,7,9\n' >n.csv
expect_error 2 "takes 'who', which is the column of labels" \
    kspec moments n.csv --groups-column who --select-cols 0,1
expect_error 2 'kv-row does not take groups' kspec moments x.npy --groups g.txt --estimator kv-row
expect_error 2 'order 3 exceeds 2' kspec moments x.npy --groups g.txt --center -n 3
expect_error 2 'a curve and groups cannot be combined \(--curve\)$' \
    kspec dimension x.npy --groups g.txt --curve
expect_error 2 'a curve and missing entries \(pairwise\) cannot be combined \(--curve\)$' \
    kspec dimension y.npy --nan pairwise --curve
expect_error 2 'groups and missing entries \(pairwise\) cannot be combined$' \
    kspec dimension y.npy --nan pairwise --col-groups c.txt
expect_error 2 'ragged trials are centred over rows only \(--center\)$' \
    kspec dimension trials.npy --nan ragged-trials --center=cols

# rows and columns that are left out take their labels with them
py 'x, g = np.load("x.npy"), np.load("g.npy")
kept = np.ones(30, bool)
kept[[0, 4, 29]] = False
y = x.copy()
y[~kept, [1, 2, 7]] = np.nan
np.save("gaps.npy", y), np.save("whole.npy", x[kept])
np.savetxt("whole.txt", g[kept], fmt="%d")
np.save("gaps2.npy", np.where(np.arange(8) == 3, np.nan, x)), np.save("whole2.npy", np.delete(x, 3, 1))
np.savetxt("whole2.txt", np.delete(np.arange(8) // 2, 3), fmt="%d")
lines = open("t.csv").read().splitlines()
for i in (0, 4, 29):
    lines[i + 1] = "," + lines[i + 1].split(",", 1)[1]
open("gaps.csv", "w").write("\n".join(lines) + "\n")'
expect_status 0 kspec moments whole.npy --groups whole.txt --json
cp "$out" whole
for how in "gaps.npy --groups g.txt" "gaps.csv --groups-column who"; do
    expect_status 0 kspec moments $how --nan omit-rows --json
    expect_json 'j["estimates"] == json.load(open("whole"))["estimates"] and j["rows"] == 27'
done
expect_status 0 kspec dimension whole2.npy --col-groups whole2.txt --json
cp "$out" whole
expect_status 0 kspec dimension gaps2.npy --col-groups c.txt --nan omit-cols --json
expect_json 'j["dimension"] == json.load(open("whole"))["dimension"] and j["cols"] == 7'
expect_error 2 'standard input does not allow' eval 'kspec moments - --groups g.txt --nan omit-rows <gaps.npy'

# ---- missing entries ----
expect_status 0 kspec moments y.npy --nan pairwise -n 3 --json
expect_json 'j["missing"] == j["input"]["missing_count"] > 30 and j["input"]["missing"] == "pairwise"'
expect_json 'all(0 < e["cycles"] < 1 for e in j["estimates"])'
cp "$out" holes
py 'import json
y = np.load("y.npy")
w = ~np.isnan(y)
y = np.where(w, y, 0)
def cycles(x):
    k, u = x @ x.T, x * x
    return (k * k).sum() - np.trace(k * k) - ((u @ u.T).sum() - np.trace(u @ u.T))
e = json.load(open("holes"))["estimates"]
assert abs(e[0]["value"] / ((y * y).sum() / w.sum()) - 1) < 1e-12
assert abs(e[1]["value"] / (cycles(y) / cycles(w.astype(float))) - 1) < 1e-11
assert abs(e[1]["cycles"] / (cycles(w.astype(float)) / (30 * 29 * 8 * 7)) - 1) < 1e-11'
expect "the ratio" [ $? -eq 0 ]
expect_status 0 kspec moments y.npy --nan pairwise
expect_stdout '^[0-9]+ of 240 entries missing \([0-9.]+%\); cycles left: [0-9.]+% \(n = 1\), '
expect_status 0 kspec moments x.npy --nan pairwise --json # nothing is missing
expect_json 'j["estimates"] == json.load(open("plain"))["estimates"] and j["missing"] == 0'
expect_status 0 kspec moments holes.npy --nan pairwise --json
expect_json 'j["trials"] == 3 and all(e["stderr"] > 0 for e in j["estimates"][:4])'
expect_status 0 kspec moments y.npy --nan pairwise --center --json
expect_json '[e["n"] for e in j["estimates"]] == [1, 2] and all(e["stderr"] > 0 for e in j["estimates"])'
cp "$out" centred
expect_status 0 kspec dimension y.npy --nan pairwise --json
expect_json 'close(j["dimension"], json.load(open("centred"))["participation_ratio"], 1e-12)'
expect_json 'close(j["stderr"], json.load(open("centred"))["participation_ratio_stderr"], 1e-12)'
expect_json 'close(j["second_moment"], json.load(open("centred"))["estimates"][1]["value"], 1e-12)'
expect_json 'j["naive"] is None and 0 < j["cycles"] < 1 and j["missing"] > 0 and j["warnings"] == []'
expect_status 0 kspec dimension y.npy --nan pairwise --no-center
expect_stdout 'entries missing .*, which leaves [0-9.]+% of the cycles$'

expect_error 3 'leave no cycle of order 2' kspec moments z.npy --nan pairwise -n 2
expect_status 0 kspec moments z.npy --nan pairwise -n 1
expect_error 3 'leave no pair of columns' kspec dimension z.npy --nan pairwise --no-center
py 'np.save("none.npy", np.full((6, 6), np.nan))'
expect_error 3 'all 36 entries are missing' kspec moments none.npy --nan pairwise
expect_error 2 'groups and missing entries' kspec moments y.npy --nan pairwise --groups g.txt
expect_error 2 'naive does not take missing entries' kspec moments y.npy --nan pairwise --estimator naive
expect_error 2 'spectrum takes no --nan pairwise' kspec spectrum y.npy --nan pairwise
done_testing
