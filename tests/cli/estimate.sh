# kspec estimate: known values, axes, trials, sums of products, the plan, and mistakes marked in the text.
. "$(dirname "$0")/lib.sh"

py 'r = np.random.default_rng(5)
f = r.normal(size=(12, 3)); np.save("x.npy", f @ r.normal(size=(3, 9)) + 0.5)
np.save("y.npy", f @ r.normal(size=(3, 7)))
np.save("t.npy", r.normal(size=(3, 12, 9))); np.save("short.npy", r.normal(size=(11, 9)))
np.save("two.npy", r.normal(size=(2, 12, 9))); g = np.arange(16.0).reshape(4, 4); np.save("g.npy", g)
import json
x, y, two = np.load("x.npy"), np.load("y.npy"), np.load("two.npy"); K, L = x @ x.T / 9, y @ y.T / 7
json.dump({"shared": ((K * L).sum() - (K * L).trace()) / 132, "variance": x.var(0, ddof=1).mean() / 2,
           "square": (g * g.T)[np.triu_indices(4, 1)].mean(), "trials": (two[0] * two[1]).mean(),
           "mean": (x ** 2).mean()}, open("plain", "w"))'

m2='X[i,a] X[j,a] X[j,b] X[i,b]'
# m(2), as moments has it
expect_status 0 kspec moments x.npy -n 2 --estimator exact --json
cp "$out" m.json
expect_status 0 kspec estimate "$m2" X=x.npy --json
expect_json 'close(j["value"], json.load(open("m.json"))["estimates"][1]["value"], 1e-12)'
expect_json 'close(j["stderr"], json.load(open("m.json"))["estimates"][1]["stderr"], 1e-10)'
expect_json 'j["products"] == 1 and j["graphs"] == 4 and [a["size"] for a in j["axes"]] == [12, 9]'
expect_json 'j["ci_low"] < j["value"] < j["ci_high"] and j["axes"][0]["sides"] == "X:rows"'
expect_status 0 kspec moments x.npy -n 2 --estimator exact --center --json
cp "$out" m.json
expect_status 0 kspec estimate "$m2" X=x.npy --json --center
expect_json 'close(j["value"], json.load(open("m.json"))["estimates"][1]["value"], 1e-9)'
expect_status 0 kspec moments x.npy -n 2 --estimator exact --sampled rows --json
cp "$out" m.json
expect_status 0 kspec estimate "$m2" X=x.npy --json --complete cols
expect_json 'close(j["value"], json.load(open("m.json"))["estimates"][1]["value"], 1e-12)'
expect_json 'close(j["stderr"], json.load(open("m.json"))["estimates"][1]["stderr"], 1e-10)'
expect_status 0 kspec moments x.npy -n 2 --estimator exact --population-rows 40 --json
cp "$out" m.json
expect_status 0 kspec estimate "$m2" X=x.npy --json --population i=40
expect_json 'close(j["stderr"], json.load(open("m.json"))["estimates"][1]["stderr"], 1e-10)'

# two matrices that share rows, by hand
expect_status 0 kspec estimate "X[i,a] Y[i,b] X[j,a] Y[j,b]" X=x.npy Y=y.npy --json --leave-one-out
expect_json 'close(j["value"], json.load(open("plain"))["shared"], 1e-12) and len(j["axes"]) == 3'
expect_json '[len(a["without"]) for a in j["axes"]] == [12, 9, 7]'
expect_status 0 kspec estimate "X[i,a] Y[i,b] X[j,a] Y[j,b]" X=x.npy Y=y.npy --center=i
expect_stdout '^12 rows of X, Y \(i, j\), centred: std\. error '

# sums of products, numbers before them, and the plan in words
expect_status 0 kspec estimate "1/2 X[i,a] X[i,a] - 0.5 X[i,a] * X[j,a]" X=x.npy --json
expect_json 'close(j["value"], json.load(open("plain"))["variance"], 1e-12)'
expect_status 0 kspec estimate "$m2" X=x.npy --explain --no-stderr
expect_stdout '^G[0-9]+\[i,i.\] = sum_a X\[i,a\] X\[i.,a\] +\(a matrix product\)$'
expect_stdout '^value = [+-]'
# a square matrix whose rows and columns are one axis
expect_status 0 kspec estimate "G[i,j] G[j,i]" G=g.npy --json
expect_json 'close(j["value"], json.load(open("plain"))["square"], 1e-12)'

# trials: halves of several, and separate files
expect_status 0 kspec estimate "X1[i,a] X2[i,a]" X=two.npy --json
expect_json 'close(j["value"], json.load(open("plain"))["trials"], 1e-12)'
expect_status 0 kspec estimate "X1[i,a] X2[i,a]" X=t.npy --json --splits 3
expect_json 'j["splits"] == 3'
expect_status 0 kspec estimate "X1[i,a] X2[i,a]" --label X x.npy x.npy --json --no-stderr
expect_json 'close(j["value"], json.load(open("plain"))["mean"], 1e-12) and j["stderr"] is None'

# rows in groups: as dimension and compare have it, a group left out at a time; labels as a file or a column
py 'r = np.random.default_rng(8); g = np.repeat(np.arange(8), [1, 2, 3, 4, 2, 3, 5, 4])
f = r.normal(size=(8, 3))[g] + 0.3 * r.normal(size=(24, 3)); x = f @ r.normal(size=(3, 9)) + 0.5
np.save("gx.npy", x); np.save("gy.npy", f @ r.normal(size=(3, 7)))
np.savetxt("g.txt", g, "bin%d"); np.savetxt("few.txt", g[:20], "%d")
np.savetxt("t.csv", np.c_[g, x], "%.17g", ",", header="g," + ",".join("abcdefhij"), comments="")'
expect_status 0 kspec dimension gx.npy --groups g.txt --json
cp "$out" m.json
expect_status 0 kspec estimate "$m2" X=gx.npy --groups g.txt --center --json --leave-one-out
cp "$out" g.json
expect_json 'close(j["value"], json.load(open("m.json"))["second_moment"], 1e-10)'
expect_json 'j["axes"][0]["groups"] == 8 and [len(a["without"]) for a in j["axes"]] == [8, 9]'
expect_status 0 kspec estimate "$m2" X=t.csv --groups-column g --center --json
expect_json 'all(close(j[k], json.load(open("g.json"))[k], 1e-10) for k in ("value", "stderr", "ci_low"))'
expect_status 0 kspec compare gx.npy gy.npy --groups g.txt --json
cp "$out" m.json
for pair in X,Y X,X Y,Y; do
    expect_status 0 kspec estimate "${pair%,*}[i,a] ${pair#*,}[i,b] ${pair%,*}[j,a] ${pair#*,}[j,b]" \
        X=gx.npy Y=gy.npy --groups g.txt --center --json
    cp "$out" "$pair.json"
done
expect_json 'close(json.load(open("X,Y.json"))["value"] ** 2, json.load(open("m.json"))["alignment"] ** 2 *
             json.load(open("X,X.json"))["value"] * j["value"], 1e-9)'
expect_status 0 kspec estimate "$m2" X=gx.npy --groups g.txt --explain
expect_stdout '^24 rows of X \(i, j\), in 8 groups: std\. error '
expect_stdout ' in\[i,group\]'

# the shared dimension of compare: 3 of 10 dimensions, by two expressions
py 'r = np.random.default_rng(2); s, p, q = (r.normal(size=(36, k)) for k in (3, 7, 7))
a, b = np.c_[s, p] @ r.normal(size=(10, 60)), np.c_[s, q] @ r.normal(size=(10, 60))
np.save("a.npy", a); np.save("b.npy", b); np.save("ta.npy", a + r.normal(size=(2, 36, 60)))'
square='X[i,a] Y[i,b] Y[j,b] X[j,a] X[k,c] Y[k,d] Y[l,d] X[l,c]'
second='X[i,a] Y[i,b] Y[j,b] X[j,c] X[k,c] Y[k,d] Y[l,d] X[l,a]'
for center in rows none; do
    expect_status 0 kspec estimate "$square" X=a.npy Y=b.npy --center=$center --json
    cp "$out" square.json
    expect_status 0 kspec estimate "$second" X=a.npy Y=b.npy --center=$center --json
    cp "$out" second.json
    expect_status 0 kspec compare a.npy b.npy --center=$center --json
    expect_json 'close(j["shared_dimension"], json.load(open("square.json"))["value"] /
                 json.load(open("second.json"))["value"], 1e-9)'
done
expect_status 0 kspec compare a.npy b.npy --json
expect_json 'j["shared_dimension_ci_low"] < 3 < j["shared_dimension_ci_high"]'
expect_status 0 kspec compare a.npy b.npy
expect_stdout '^shared dimension [0-9.]+ \(95% interval .*\)$'
expect_status 0 kspec compare --label A ta.npy --label B b.npy --json
expect_json 'j["shared_dimension_ci_low"] < 3 < j["shared_dimension_ci_high"]'
expect_status 0 kspec compare a.npy b.npy --block 4 --json
expect_json 'j["shared_dimension"] is None'

# what needs more than matrix products: slices, one row after the other
py 'import itertools, json
x = np.load("x.npy"); q = x.shape[1]
t = [x[list(rows)].prod(0) for rows in itertools.permutations(range(12), 3)]
s = np.mean([y.sum() ** 3 - 3 * y.sum() * (y ** 2).sum() + 2 * (y ** 3).sum() for y in t])
json.dump(dict(mean=s / (q * (q - 1) * (q - 2))), open("cube", "w"))
np.save("square.npy", np.random.default_rng(3).normal(size=(9, 9)))'
cube="X[i,a] X[i,b] X[i,c] X[j,a] X[j,b] X[j,c] X[k,a] X[k,b] X[k,c]"
expect_status 0 kspec estimate "$cube" X=x.npy --json --explain
expect_json 'close(j["value"], json.load(open("cube"))["mean"], 1e-10) and "of slices" in str(j["plan"])'

# an odd product changes its sign with its matrix, and so does its interval
expect_status 0 kspec estimate "X[i,a] X[j,a] X[j,b]" X=x.npy --json
cp "$out" odd.json
expect_status 0 kspec estimate --json -- "- X[i,a] X[j,a] X[j,b]" X=x.npy
expect_json 'close(j["ci_low"], -json.load(open("odd.json"))["ci_high"], 1e-12)'
expect_json 'close(j["ci_high"], -json.load(open("odd.json"))["ci_low"], 1e-12)'

# missing values: matrices that share rows would omit different ones; columns of their own may differ
py 'x, y = np.load("x.npy"), np.load("y.npy"); x[2, 3] = y[5, 1] = np.nan
np.save("nx.npy", x); np.save("ny.npy", y)'
t12="X[i,a] Y[i,b] X[j,a] Y[j,b]"
expect_error 3 'X: 1 row with missing values would be left out of it alone, and the others no longer pair' \
    kspec estimate "$t12" X=nx.npy Y=ny.npy --nan omit-rows
expect_status 0 kspec estimate "$t12" X=nx.npy Y=ny.npy --nan omit-cols --json
expect_json '[a["size"] for a in j["axes"]] == [12, 8, 6]'
expect_status 0 kspec estimate "$m2" X=nx.npy --nan omit-rows --json
expect_json '[a["size"] for a in j["axes"]] == [11, 9]'

# no error bar, and why; a value below the range of doubles
expect_status 0 kspec estimate "$m2" X=x.npy --select-rows 0,1
expect_stdout '^no error bar: too few indices would be left without one of them$'
expect_status 0 kspec estimate "X[i,a]" X=x.npy --complete both
expect_stdout '^no error bar: all axes are complete$'
py 'np.save("tiny.npy", 1e-200 * np.load("x.npy"))'
expect_error 1 'below the range of numbers; multiply the matrices by a constant' \
    kspec estimate "$m2" X=tiny.npy

# mistakes
expect_error 2 "X\[i,a\]  ?>>> Z\[i,b\]: unknown matrix Z; give Z=INPUT, or use X" \
    kspec estimate "X[i,a] Z[i,b]" X=x.npy
expect_error 2 '>>> i,b\]: i runs over the 12 rows of X and over the 11 rows of Y; use two names' \
    kspec estimate "X[i,a] Y[i,b]" X=x.npy Y=short.npy
expect_error 2 ">>> X\[j,b\] X\[j,b\]: this product equals 'X\[i,a\] X\[i,a\]', and the sum is 0" \
    kspec estimate "X[i,a] X[i,a] - X[j,b] X[j,b]" X=x.npy
expect_error 2 '>>> ,b\]: a matrix has two indices' kspec estimate "X[i,a,b]" X=x.npy
expect_error 2 '>>> \]: a matrix has two indices' kspec estimate "X[i]" X=x.npy
expect_error 2 "'\[' is missing; write X\[i,a\]" kspec estimate "X" X=x.npy
expect_error 2 'the name of an index is missing' kspec estimate "X[i,2]" X=x.npy
expect_error 2 'expected an entry' kspec estimate "X[i,a] )" X=x.npy
expect_error 2 'an entry is missing' kspec estimate "3" X=x.npy
expect_error 2 '>>> \^2: powers are not supported; write the entry again' kspec estimate "X[i,a]^2" X=x.npy
expect_error 2 '\* >>> \*2: powers are not supported; write the entry' kspec estimate "X[i,a]**2" X=x.npy
expect_error 2 '>>> / 2: write a number before its product, as in 1/2' kspec estimate "X[i,a] / 2" X=x.npy
expect_error 2 '>>> \(X\[i,a\].*: parentheses are not supported' \
    kspec estimate "(X[i,a] + X[j,a]) X[j,b]" X=x.npy
expect_error 2 '1 >>> e3 X\[i,a\]: write a number without a power of ten' kspec estimate "1e3 X[i,a]" X=x.npy
expect_error 2 "'-X\[i,a\]' begins with '-'; write -- and a space before it" kspec estimate "-X[i,a]" X=x.npy
expect_error 2 '>>> T3\[i,a\]: unknown matrix T3; give T3=INPUT, or use T1, T2' \
    kspec estimate "T1[i,a] T3[i,a]" T=t.npy
expect_error 2 'the expression is empty' kspec estimate " " X=x.npy
expect_error 2 'the factor of this product is 0' kspec estimate "0 X[i,a]" X=x.npy
expect_error 2 'this product is always 0 if centred, since i is used only once' \
    kspec estimate "X[i,a] X[j,a] X[j,b]" X=x.npy --center
expect_error 2 '4 distinct indices of the rows of G \(i, j\) are needed where they are centred; there are 3' \
    kspec estimate "G[i,a] G[i,a] G[j,b] G[j,b]" G=g.npy --center --select-rows 0-2
expect_error 2 'm is the sixth distinct index of the' \
    kspec estimate "X[i,a] X[j,a] X[k,a] X[k,b] X[l,b] X[h,b] X[m,b]" X=x.npy
expect_error 2 'a product has 10 entries at most' kspec estimate "$(printf 'X[i,a] %.0s' {1..11})" X=x.npy
expect_error 2 'treewidth above three\): 5 of the rows and columns of G \(i, j, k, l, m\) are each joined' \
    kspec estimate "G[i,j] G[i,k] G[i,l] G[i,m] G[j,k] G[j,l] G[j,m] G[k,l] G[k,m] G[l,m]" G=square.npy
expect_error 2 'X has 3 trials: write X1 and X2' kspec estimate "X[i,a]" X=t.npy
expect_error 2 'X has one trial' kspec estimate "X1[i,a]" X=x.npy
expect_error 2 "'q' is not an index of the expression" kspec estimate "X[i,a]" X=x.npy --complete q
expect_error 2 'i=5: there are 12 ' kspec estimate "X[i,a]" X=x.npy --population i=5
expect_error 2 "is not an index and a size" kspec estimate "X[i,a]" X=x.npy --population i
expect_error 2 "'Q' is not one of the matrices" kspec estimate "X[i,a]" X=x.npy --same-cols X,Q
expect_error 2 'X has 9 columns and Y has 7' kspec estimate "X[i,a] Y[i,b]" X=x.npy Y=y.npy --same-cols X,Y
expect_error 2 'is not NAME=INPUT' kspec estimate "X[i,a]" x.npy
expect_error 2 'takes an expression and matrices' kspec estimate "X[i,a]"
expect_error 2 '>>> i,a\].* entries and its distinct rows of X .* are 12 together; 10 is' \
    kspec estimate "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[i,d]" X=gx.npy --groups g.txt
expect_error 2 '>>> j,b\]: groups apply to one kind of rows, the rows of X \(i\); this entry has the rows' \
    kspec estimate "X[i,a] Y[j,b]" X=gx.npy Y=gy.npy --groups g.txt
expect_error 3 'few.txt has 20 labels, the matrix has 24 rows' kspec estimate "$m2" X=gx.npy --groups few.txt
expect_error 2 'come in groups, and cannot be complete' \
    kspec estimate "$m2" X=gx.npy --groups g.txt --complete i
expect_error 2 ': 4 groups of the rows of X \(i, j\) are needed where they are centred; there are 3' \
    kspec estimate "$m2" X=gx.npy --groups g.txt --select-rows 0-5 --center
expect_error 2 '-groups-column is for one matrix, not 2' \
    kspec estimate "X[i,a] Y[i,b]" X=t.csv Y=t.csv --groups-column g

# A moment is the same number here and in `kspec moments`: estimate, standard error and both ends of the
# interval agree to the last printed digit.
kspec generate linear --rows 40 --cols 50 --dim 6 --seed 3 -o one.npy
kspec generate linear --rows 40 --cols 50 --dim 6 --noise 0.5 --trials 2 --seed 3 -o two.npy
for i in $(seq 0 39); do echo "g$((i / 4))"; done >ten.txt
one_answer() { # order, expression, data, options of moments, options of estimate
    kspec moments "$3" -n "$1" --quiet $4 |
        awk -v n="$1" '$1 == n && $2 == "exact" { print $3, $4, $5, $6 }' >moments.txt
    kspec estimate "$2" X="$3" --quiet $5 |
        awk '/^estimate/ { v = $2 } /^std/ { s = $3 } /^95%/ { print v, s, $3, $5 }' >estimate.txt
    [ -s moments.txt ] && cmp -s moments.txt estimate.txt
}
m3='X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[i,c]'
m4='X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[i,d]'
two='X1[i,a] X2[j,a] X1[j,b] X2[i,b]'
expect "m(1) is one number" one_answer 1 'X[i,a] X[i,a]' one.npy
expect "m(2) is one number" one_answer 2 "$m2" one.npy
expect "m(3) is one number" one_answer 3 "$m3" one.npy
expect "m(4) is one number" one_answer 4 "$m4" one.npy
expect "m(2) of two trials is one number" one_answer 2 "$two" two.npy
expect "m(1) of two trials is one number" one_answer 1 'X1[i,a] X2[i,a]' two.npy
expect "m(2) without the mean row is one number" one_answer 2 "$m2" one.npy --center --center
expect "m(3) without the mean column is one number" one_answer 3 "$m3" one.npy --center=cols --center=cols
expect "m(2) of all columns is one number" one_answer 2 "$m2" one.npy '--sampled rows' '--complete cols'
expect "m(2) of groups is one number" one_answer 2 "$m2" one.npy '--groups ten.txt' '--groups ten.txt'
expect "m(2) of a population is one number" \
    one_answer 2 "$m2" one.npy '--population-rows 200' '--population rows=200'
# the comparison does notice another number
expect "m(3) is not m(2)" eval '! one_answer 2 "$m3" one.npy'
done_testing
