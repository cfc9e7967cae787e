# kspec ridge: data, options, output, and what it refuses.
. "$(dirname "$0")/lib.sh"

py "
rng = np.random.default_rng(1)
def make(n):
    x = rng.standard_normal((n, 12))
    return x, np.sign(x[:, 0] + .3 * x[:, 1])
x, y = make(40); t, s = make(30)
np.save('x.npy', x); np.save('y.npy', y); np.save('t.npy', t); np.save('s.npy', s)
np.save('y2.npy', np.stack([y, x[:, 2]], 1)); np.save('s2.npy', np.stack([s, t[:, 2]], 1))
np.savetxt('all.csv', np.c_[x, y], delimiter=',', header=','.join('abcdefghijkly'), comments='')
np.savetxt('test.csv', np.c_[t, s], delimiter=',', header=','.join('abcdefghijkly'), comments='')
np.save('short.npy', y[:-1]); np.save('narrow.npy', t[:, :5])
twice = x.copy(); twice[7] = twice[3]; np.save('twice.npy', twice)
np.save('labels.npy', np.r_[np.full(20, 3), np.full(15, 5), np.full(5, 9)])
np.save('three.npy', np.zeros((2, 40, 12)) + x)
bad = x.copy(); bad[1, 2] = np.nan; np.save('nan.npy', bad); bad[1, 2] = np.inf; np.save('inf.npy', bad)
"
data="x.npy --target y.npy --test t.npy --test-target s.npy --scale"
one="--features 3 --lambda 1"

# the table and the object
expect_status 0 kspec ridge $data --features 10,20,60 --lambda 1,1e-3 --empirical 4
expect_stdout '^40 training rows, 30 test rows × 12 columns, 1 target, sigma 1$'
expect_stdout 'N +lambda +delta_cos +delta_sin +train MSE +measured ± SD +kernel.s +test MSE'
expect_status 0 kspec ridge $data --features 10,20,60 --lambda 1,1e-3 --empirical 4 --json
expect_json '([(p["features"], p["lambda"]) for p in j["points"]]
    == [(N, l) for N in (10, 20, 60) for l in (1, 1e-3)])'
expect_json '(j["rows"], j["test_rows"], j["cols"], j["targets"], j["draws"]) == (40, 30, 12, 1, 4)'
expect_json '[d["code"] for d in j["doubts"]] == ["draws-differ", "draws-differ"] and len(j["warnings"]) == 1'
expect_json 'j["doubts"][0]["points"] == sum(abs(p["test_mse"] / p["empirical_test_mse"] - 1) > 0.1
    for p in j["points"])'
expect_json 'all(abs(p["test_mse"] - p["empirical_test_mse"]) < 5 * p["empirical_test_sd"]
    for p in j["points"])'
expect_json 'all(p["state"] == "converged" and p["iterations"] > 1 and p["residual"] < 1e-10
    for p in j["points"])'
# 8 draws are the default, where they are cheap
expect_status 0 kspec ridge $data --features 10,20 --lambda 1,1e-3 --json --empirical 8
cp "$out" eight.json
expect_status 0 kspec ridge $data --features 10,20 --lambda 1,1e-3 --json
expect_json 'j["draws"] == 8 and j["points"] == json.load(open("eight.json"))["points"]'
expect_status 0 kspec ridge $data --features 10,100000000 --lambda 1,1e-3
expect_stderr '2 points are theory alone, which no draws have checked; for 2 of them lambda is so small'
# the theory alone says so; without a test set or draws there is null
expect_status 0 kspec ridge $data --features 20 --lambda 1e-3 --empirical 0
expect_stderr '1 point is theory alone.* \(--empirical'
expect_status 0 kspec ridge x.npy --target y.npy --features 10 --lambda 1 --empirical 0 --json
expect_json 'j["points"][0]["test_mse"] is None and j["test_rows"] == 0 and j["draws"] == 0'
expect_json '[d["severity"] for d in j["doubts"] if d["code"] == "unchecked"] == ["note"]'
expect_json 'j["points"][0]["empirical_train_mse"] is None'
expect_json 'j["points"][0]["train_mse"] > 0 and j["points"][0]["kernel_test_mse"] is None'

# the solvers agree; threads do not matter, nor does the file's format
expect_status 0 kspec ridge $data --features 20 --lambda 0.1,0.001 --json
cp "$out" newton.json
expect_status 0 kspec ridge $data --features 20 --lambda 0.1,0.001 --json --solver fixed-point
expect_json 'j["solver"] == "fixed-point"'
expect_json 'all(close(p[k], q[k], 1e-8) for k in ("delta_cos", "train_mse", "test_mse")
    for p, q in zip(j["points"], json.load(open("newton.json"))["points"]))'
for threads in 1 2 3; do
    expect_status 0 kspec ridge $data --features 20 --lambda 0.1,0.001 --json --threads $threads
    expect_json 'all(p == q for p, q in zip(j["points"], json.load(open("newton.json"))["points"]))'
done
expect_status 0 kspec ridge all.csv --select-cols a,b,c,d,e,f,g,h,i,j,k,l --target all.csv --target-cols y \
    --test test.csv --test-target test.csv --scale --features 20 --lambda 0.1,0.001 --json
expect_json 'all(p == q for p, q in zip(j["points"], json.load(open("newton.json"))["points"]))'

py "np.save('xT.npy', np.load('x.npy').T.copy()); np.save('tT.npy', np.load('t.npy').T.copy())"
expect_status 0 kspec ridge xT.npy --axes cols,rows --target y.npy --test tT.npy --test-target s.npy \
    --scale --features 20 --lambda 0.1,0.001 --json
expect_json 'all(p == q for p, q in zip(j["points"], json.load(open("newton.json"))["points"]))'

# several targets are several regressions
expect_status 0 kspec ridge x.npy --target y2.npy --test t.npy --test-target s2.npy --scale \
    --features 20 --lambda 0.1,0.001 --json
expect_json 'j["targets"] == 2'
expect_json 'all(close(p["test_mse"], sum(p["test_mse_columns"]) / 2, 1e-12) for p in j["points"])'
expect_json 'all(close(p["train_mse_columns"][0], q["train_mse"], 1e-10)
    for p, q in zip(j["points"], json.load(open("newton.json"))["points"]))'

# sigma
expect_status 0 kspec ridge $data --features 20 --lambda 0.1 --sigma median --json
expect_json 'j["sigma"] > 0.5'
expect_status 0 kspec ridge $data --features 20 --lambda 0.1 --sigma 2
expect_stdout 'sigma 2$'
for s in 0 -1 x nan 1e999 ''; do
    expect_error 2 "sigma: '$s' is neither" kspec ridge $data --features 20 --lambda 0.1 --sigma "$s"
done

# classes; --test-per-class takes what follows
labels="x.npy --target labels.npy --features 4 --lambda 1"
expect_status 0 kspec ridge $labels --classes 3,5 --json
expect_json 'j["rows"] == 35'
expect_status 0 kspec ridge $labels --classes 5,3 --per-class 10 --test-per-class 5 --json
expect_json '(j["rows"], j["test_rows"]) == (20, 10)'
py "
x, l = np.load('x.npy'), np.load('labels.npy')
for name, rows in ('i', np.r_[0:10, 20:30]), ('k', np.r_[10:15, 30:35]):
    np.save('x' + name + '.npy', x[rows]); np.save('y' + name + '.npy', np.where(l[rows] == 5, -1, 1))"
cp "$out" picked.json
expect_status 0 kspec ridge xi.npy --target yi.npy --test xk.npy --test-target yk.npy \
    --features 4 --lambda 1 --json
expect_json 'all(json.load(open("picked.json"))["points"][0][k] == v for k, v in j["points"][0].items())'
# a Matern kernel: rough ones err otherwise than smooth ones, which are Gaussian, in predictions and in draws
smooth="kspec ridge $data --features 20 --lambda 0.1 --seed 3 --json"
expect_status 0 $smooth
cp "$out" gaussian.json
expect_status 0 $smooth --kernel matern --nu 1e5
expect_json 'j["kernel"] == "matern" and j["nu"] == 1e5'
expect_json 'all(close(j["points"][0][k], json.load(open("gaussian.json"))["points"][0][k], 0.02)
    for k in ("delta_cos", "train_mse", "test_mse", "empirical_test_mse"))'
expect_status 0 $smooth --kernel matern --nu 0.5 --empirical 60
expect_json 'close(j["points"][0]["test_mse"], j["points"][0]["empirical_test_mse"], 0.1)'
expect_json 'not close(j["points"][0]["test_mse"], json.load(open("gaussian.json"))["points"][0]["test_mse"],
    0.02)'
expect_status 0 kspec ridge $data --features 20 --lambda 0.1 --kernel matern
expect_stdout 'matern kernel of nu 1.5'
expect_error 2 'nu is for --kernel matern' $smooth --nu 1
expect_error 2 "nu: '0' is not above 0" $smooth --kernel matern --nu 0
expect_error 2 'a Matern kernel is that of Fourier features' $smooth --kernel matern --activation relu
expect_error 2 'kernel matern needs --features and --lambda' kspec ridge x.npy --target y.npy --kernel matern

# bilinear forms: of unit vectors the entries of Q, of the target y'Qy, by files and next to draws
py "n = len(np.load('x.npy')); np.save('e.npy', np.eye(n)[:, :2])
np.save('f.npy', np.load('y.npy').reshape(n, 1))"
forms="kspec ridge x.npy --target y.npy --sigma median --features 40 --lambda 1 --json"
expect_status 0 $forms --bilinear e.npy --empirical 60
expect_json 'all(close(a, b, 0.1) for p in j["points"]
    for a, b in zip(p["bilinear"], p["empirical_bilinear"]))'
expect_json 'all(0 < a < 1 for a in j["points"][0]["bilinear"])'
expect_status 0 $forms --bilinear f.npy,f.npy --empirical 0
expect_json 'j["points"][0]["empirical_bilinear"] == [None]'
expect_status 0 kspec ridge x.npy --target y.npy --features 40 --lambda 1 --bilinear e.npy
expect_stdout "a'Qb"
expect_error 2 'bilinear needs --features and --lambda' kspec ridge x.npy --target y.npy --bilinear e.npy
expect_error 2 '^kspec: 2 left vectors, but 1 right vectors? \(--bilinear\)$' $forms --bilinear e.npy,f.npy
expect_error 2 'left vectors have .* entries, but there are' $forms --bilinear t.npy
expect_error 2 'bilinear forms need the training rows in their order' $forms --bilinear e.npy \
    --test-fraction 0.5

# the density of the Gram matrix's eigenvalues
expect_status 0 kspec ridge x.npy --target labels.npy --features 5,60 --lambda 1 --activation relu \
    --density --json
expect_json '[d["features"] for d in j["densities"]] == [5, 60] and j["densities"][1]["atom"] == 0'
expect_json 'close(j["densities"][0]["atom"], 1 - 5 / j["rows"], 1e-12)'
expect_json 'all(sum(e > 1e-9 * d["eigenvalues"][-1] for e in d["eigenvalues"]) <= d["features"]
    for d in j["densities"])'
cp "$out" density.json
expect_status 0 kspec plot density.json -o density.gp
# cosines and sines have 2N columns
expect_status 0 kspec ridge x.npy --target labels.npy --features 5 --lambda 1 --density --json
expect_json 'close(j["densities"][0]["atom"], 1 - 10 / j["rows"], 1e-12)'
expect_json 'len(j["densities"][0]["x"]) == 96 and max(j["densities"][0]["density"]) > 0'
cp "$out" density.json
expect_status 0 kspec plot density.json -o density.gp
expect_error 2 'slope is for --activation leaky' kspec ridge $labels --slope 0.2
expect_error 2 'slope 0 is --activation relu' kspec ridge $labels --activation leaky --slope 0
expect_error 2 "Newton's method only \\(--solver\\)" \
    kspec ridge $labels --activation relu --solver fixed-point
expect_error 2 'density needs --features' kspec ridge x.npy --target labels.npy --density
# all of them: columns of zeros and ones, and the share of wrong classes
expect_status 0 kspec ridge $labels --classes all --per-class 5 --center-target --json
expect_json 'len(j["classes"]) > 2 and j["targets"] == len(j["classes"]) and j["rows"] == 5 * j["targets"]'
expect_status 0 kspec ridge $labels --classes 3,5 --per-class 10 --test-per-class 5 --empirical 3
expect_stdout 'test MSE .* wrong, %  measured'
labelled() { kspec ridge $labels "$@" --json >"$out" 2>"$err"; }
for f in fourier relu; do
    labelled --classes 3,5 --per-class 10 --test-per-class 5 --empirical 3 --activation $f
    expect_json 'all(0 <= j["points"][0][k] <= 1 for k in ("classification_error",
        "empirical_classification_error"))'
done
py "np.save('one.npy', np.ones(40)); np.save('each.npy', np.arange(len(np.load('x.npy'))))
np.save('ones.npy', np.ones(len(np.load('x.npy'))))"
expect_error 3 'all [0-9]+ rows of x.npy have the class 1' \
    kspec ridge x.npy --target ones.npy --classes all --features 4 --lambda 1
expect_error 3 'classes exceed half of the [0-9]+ rows of x.npy; use no --classes if the target is a number' \
    kspec ridge x.npy --target each.npy --classes all --features 4 --lambda 1
expect_error 3 'x.npy has 5 rows of class 9, fewer than 6' kspec ridge $labels --classes 3,9 --per-class 6
expect_error 3 'has 0 rows of class 4' kspec ridge $labels --classes 3,4
expect_error 2 'classes: 1 given, but two' kspec ridge $labels --classes 3
expect_error 2 'the same' kspec ridge $labels --classes 3,3
expect_error 2 'per-class needs --classes' kspec ridge $labels --per-class 3
expect_error 2 'needs --per-class' kspec ridge $labels --classes 3,5 --test-per-class 3
expect_error 3 'has 2 columns, not 1' kspec ridge x.npy --target y2.npy --classes 3,5 --features 4 --lambda 1

# lambda 0: a limit, or none
expect_status 0 kspec ridge $data --features 10,20,60 --lambda 0 --json
expect_json '[p["state"] for p in j["points"]][1] == "divergent" and j["points"][1]["test_mse"] is None'
expect_json 'j["points"][0]["delta_cos"] is None and j["points"][0]["theta_cos"] > 0'
expect_json 'j["points"][2]["train_mse"] == 0'
expect_json 'len(j["warnings"]) == 1 and "2N = n = 40" in j["warnings"][0]'
expect_error 1 'row 7 \(from 0\) repeats' \
    kspec ridge twice.npy --target y.npy --features 30 --lambda 0 --scale
expect_status 0 kspec ridge twice.npy --target y.npy --features 30 --lambda 1e-3 --scale
expect_stdout '1e-03|0\.001'

# noise: hardly any is none
expect_status 0 kspec ridge x.npy --target y.npy --scale --features 20 --lambda 0.01 --test-noise 1e-8 --json
expect_json 'close(j["points"][0]["test_mse"], j["points"][0]["train_mse"], 1e-5) and j["test_rows"] == 40'
expect_error 2 "test-noise: '0' is not above 0" \
    kspec ridge x.npy --target y.npy --features 20 --lambda 1 --test-noise 0
expect_error 2 'test_noise and test rows cannot be combined.* \(--test-noise\)$' \
    kspec ridge $data --features 20 --lambda 1 --test-noise 1

# searches
expect_status 0 kspec ridge $data --features 10,20 --optimize lambda --json
expect_json '[p["features"] for p in j["points"]] == [10, 20]'
expect_json 'all(p["at_bound"] is None and 1e-8 < p["lambda"] < 100 for p in j["points"])'
expect_status 0 kspec ridge $data --features 20 --optimize lambda --lambda 1e-6,1e-5
expect_stdout 'at the high end'
expect_stderr 'lies at the high end'
expect_status 0 kspec ridge $data --features 50 --optimize features --lambda 0.01,1 --empirical 2 --json
expect_json '[p["lambda"] for p in j["points"]] == [0.01, 1]'
expect_json 'all(p["features"] <= 50 for p in j["points"])'
expect_json 'j["points"][0]["empirical_test_mse"] > 0'
cost=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["points"][1]["cost"] + 1)' "$out")
expect_status 0 kspec ridge $data --cost-limit "$cost" --optimize features --lambda 1 --json
expect_json 'j["points"][0]["cost"] <= '"$cost"
expect_error 2 'the least test error needs a test set' \
    kspec ridge x.npy --target y.npy --features 20 --optimize lambda
expect_error 2 'not both' kspec ridge $data --features 20 --cost-limit 1e9 --optimize features --lambda 1
expect_error 2 'is for --optimize features' kspec ridge $data --features 20 --cost-limit 1e9 --lambda 1
expect_error 2 'the cost of one feature' kspec ridge $data --cost-limit 1 --optimize features --lambda 1
expect_error 2 "cost-limit: '1e7,2e7' is not a finite number" \
    kspec ridge $data --cost-limit 1e7,2e7 --optimize features --lambda 1
expect_error 2 'two numbers, not 3' kspec ridge $data --features 20 --optimize lambda --lambda 1,2,3
expect_error 2 'the range must be above 0' kspec ridge $data --features 20 --optimize lambda --lambda 0,1

# what it refuses
expect_error 2 'lambda: -1 is below 0' kspec ridge $data --features 20 --lambda 1,-1
expect_error 2 'features: .0. is not a whole number' kspec ridge $data --features 0 --lambda 1
expect_error 2 'features: .1.5. is not a whole number' kspec ridge $data --features 1.5 --lambda 1
expect_error 2 'features: .x. is not a number' kspec ridge $data --features x --lambda 1
expect_error 2 '--features is missing' kspec ridge $data --lambda 1
expect_error 2 '--lambda is missing' kspec ridge $data --features 3
expect_error 2 '--target is missing' kspec ridge x.npy $one
expect_error 2 '--test needs --test-target, and the reverse' \
    kspec ridge x.npy --target y.npy --test t.npy $one
expect_error 2 'one INPUT is taken' kspec ridge x.npy t.npy --target y.npy $one
expect_error 2 "tolerance: '0' is not above 0" kspec ridge $data $one --tolerance 0
expect_error 2 'tolerance: 1 is not below 1' kspec ridge $data $one --tolerance 1
expect_error 2 'empirical 0 makes none' kspec ridge all.csv --target y --check --empirical 0
expect_error 2 'complete rows' kspec ridge $data $one --nan omit-cols
expect_error 3 'x.npy has 40 rows, but its target short.npy has 39' kspec ridge x.npy --target short.npy $one
expect_error 3 'narrow.npy has 5 columns, but x.npy has 12' \
    kspec ridge x.npy --target y.npy --test narrow.npy --test-target s.npy $one
expect_error 3 's2.npy has 2 columns, but y.npy has 1' \
    kspec ridge x.npy --target y.npy --test t.npy --test-target s2.npy $one
expect_error 3 'row 1, column 2' kspec ridge nan.npy --target y.npy $one
expect_status 0 kspec ridge nan.npy --target y.npy $one --nan omit-rows --json
expect_stderr 'nan.npy: left out 1 of 40 rows for missing values'
cp "$out" omitted
py 'keep = np.arange(40) != 1
np.save("k.npy", np.load("x.npy")[keep]); np.save("ky.npy", np.load("y.npy")[keep])'
expect_status 0 kspec ridge k.npy --target ky.npy $one --json
expect_json 'j["points"] == json.load(open("omitted"))["points"]'
py 'np.save("no.npy", np.full((40, 12), np.nan))'
expect_error 3 'each of the 40 rows has a missing value' \
    kspec ridge no.npy --target y.npy $one --nan omit-rows
expect_error 3 'infinite' kspec ridge inf.npy --target y.npy $one
expect_error 3 'holds 2 trials; one matrix is expected' kspec ridge three.npy --target y.npy $one
expect_error 3 'missing.npy' kspec ridge x.npy --target missing.npy $one
expect_error 2 'cannot be scaled' kspec ridge one.npy --target y.npy --center --scale $one
expect_status 0 kspec ridge x.npy --target one.npy $one
expect_stderr 'the target is the same for all 40 rows'
done_testing
