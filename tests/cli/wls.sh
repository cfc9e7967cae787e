# Weighted least squares: the errors on the grid, fits, features, decay.
. "$(dirname "$0")/lib.sh"

# ---- the errors ----
expect_status 0 kspec wls --grid 8 --learn 16 --modes 32 --beta 0.5 --gamma 0.7 --noise 0.3
expect_stdout '^8 points, 32 modes, gamma 0.7, noise 0.3, weights alpha 0, beta 0.5$'
expect_stdout '^ +16  over +0\.303832 +0\.0577229 +0\.361554'
weighted="--modes 32 --alpha 0.4 --beta 0.5 --gamma 0.7 --noise 0.3"
expect_status 0 kspec wls --grid 8 --learn 3,8,16-20:2 $weighted --json
expect_json 'j["command"] == "wls" and j["grid"] == 8 and j["modes"] == 32 and j["complex_noise"] is False'
expect_json '[q["p"] for q in j["points"]] == [3, 8, 16, 18, 20]'
expect_json '[q["regime"] for q in j["points"]] == ["under", "over", "over", "over", "over"]'
expect_json 'close(j["points"][2]["error_noise_free"], 0.30383158163100477, 1e-13)'
expect_json 'close(j["points"][1]["error_noise"], 0.09, 1e-14)'
expect_json 'close(j["points"][1]["variance"], 2 * 0.3 ** 4 / 8, 1e-13)'
expect_json 'all(q["empirical"] is None and q["accuracy"] < 1e-12 for q in j["points"])'
cp "$out" one
expect_status 0 kspec wls --grid 8 --learn 3,8,16-20:2 $weighted --json --threads 3
expect "threads change nothing" same_result "$out" one
expect_status 0 kspec wls --grid 8 --learn 8 --noise 0.3 --complex-noise --json
expect_json 'close(j["points"][0]["variance"], 0.3 ** 4 / 8, 1e-13) and j["complex_noise"] is True'
expect_status 0 kspec wls --grid 1 --learn 1,2 --gamma 1 --noise 1 --json
expect_json 'close(j["points"][0]["error_noise_free"], 2 * 0.25 / 1.25, 1e-13)'

# reference values
"$python" - "$golden/golden.json" >cases <<'END'
import json, sys
g = json.load(open(sys.argv[1]))
for c in g["wls_over"] + g["wls_under"]:
    print(c["N"], c["p"], c["P"], c.get("alpha", 0.2), c.get("beta", 0.2), c["gamma"], c["sigma"],
          c["error_noise_free"], c["error_noise"], c["variance_real_noise"], c["variance_complex_noise"])
END
expect "five reference cases" [ "$(wc -l <cases)" -eq 5 ]
while read -r N p P a b g s free noise real circular; do
    law="--grid $N --learn $p --modes $P --alpha $a --beta $b --gamma $g --noise $s"
    expect_status 0 kspec wls $law --json
    expect_json "close(j['points'][0]['error_noise_free'], $free, 1e-12)"
    expect_json "close(j['points'][0]['error_noise'], $noise, 1e-12)"
    expect_json "close(j['points'][0]['variance'], $real, 1e-12)"
    expect_status 0 kspec wls $law --complex-noise --json
    expect_json "close(j['points'][0]['variance'], $circular, 1e-12)"
done <cases

# ---- simulation: within 4.5 standard errors (a false alarm of 7e-6 each), reproducible ----
expect_status 0 kspec wls --grid 16 --learn 5,24 $weighted --empirical 400 --json
expect_json 'j["draws"] == 400'
expect_json 'all(abs(q["empirical"] - q["error_noise_free"] - q["error_noise"]) < 4.5 * q["empirical_stderr"]
    for q in j["points"])'
expect_json 'all(abs(q["empirical_variance"] - q["variance"]) < 4.5 * q["empirical_variance_stderr"]
    for q in j["points"])'
cp "$out" one
for t in 1 2 3; do
    expect_status 0 kspec wls --grid 16 --learn 5,24 $weighted --empirical 400 --json --threads $t
    expect "the same bits on $t threads" same_result "$out" one
done
expect_status 0 kspec wls --grid 16 --learn 5 --modes 32 --gamma 0.7 --empirical 100 --seed 4
expect_stdout 'measured  std. error'

# ---- choices ----
choice="--grid 20 --modes 60 --gamma 1 --noise 0.5 --alpha 0.3 --beta 0.5"
expect_status 0 kspec wls $choice --best-p --json
cp "$out" best
expect_status 0 kspec wls $choice --learn 1-60 --json
expect_json '(lambda least: json.load(open("best"))["best"]["p"] == least["p"])(
    min(j["points"], key=lambda q: q["error_noise_free"] + q["error_noise"]))'
expect_status 0 kspec wls --grid 20 --learn 10,20,60 --modes 60 --gamma 1 --best-weights --json
expect_json '[q["best_weight"]["weight"] for q in j["points"]] == ["alpha", None, "beta"]'
expect_json 'close(j["points"][2]["best_weight"]["value"], 1, 1e-3)'
expect_status 0 kspec wls --grid 20 --learn 10,20,60 --modes 60 --gamma 1 --best-weights --best-p
expect_stdout 'beta = 1 '
expect_stdout '^least error .* at p = '
expect_status 0 kspec wls --zeta 1 --grid 50 --learn 1-50 --alpha 0.5 --beta 0.5 --gamma 1 --noise 0.01 --json
expect_json 'j["mode"] == "bound" and all(q["bound"] >= q["error"] for q in j["points"]) and j["best_p"] > 1'
expect_status 0 kspec wls --zeta 1 --grid 50 --learn 3 --alpha 0.5 --beta 0.5 --gamma 1 --noise 0.01
expect_stdout 'the bound is least at p = '

# ---- fits ----
py 'x = 2*np.pi*np.arange(60)/60
np.save("y.npy", 2 + np.cos(3*x)); np.save("z.npy", np.c_[np.cos(4*x), np.sin(4*x)])'
py 'np.savetxt("x.csv", [0.1, 0.7, 2.0])'
expect_status 0 kspec wls --fit z.npy --learn 7,60,100 --alpha 0.7 --beta 0.5 --at x.csv --json
expect_json 'j["mode"] == "fit" and j["grid"] == 60'
expect_json '[q["regime"] for q in j["points"]] == ["under", "over", "over"]'
expect_json 'all(abs(complex(*t) - (k == 4)) < 1e-13 for k, t in enumerate(j["points"][0]["theta"]))'
expect_json 'all(abs(complex(*f) - complex(math.cos(4*x), math.sin(4*x))) < 1e-12
                 for f, x in zip(j["points"][0]["predictions"], (0.1, 0.7, 2.0)))'
expect_json 'len(j["points"][2]["theta"]) == 100 and all(q["residual"] < 1e-13 for q in j["points"])'
cp "$out" pairs
py 'z = np.load("z.npy"); c = z[:, 0] + 1j*z[:, 1]; np.save("c.npy", c); np.save("c8.npy", c.astype("c8"))'
expect_status 0 kspec wls --fit c.npy --learn 7,60,100 --alpha 0.7 --beta 0.5 --at x.csv --json
expect "a complex vector is two columns" cmp -s <(result pairs) <(result "$out")
expect_status 0 kspec wls --fit c8.npy --learn 60 --json
expect_json 'all(abs(complex(*t) - (k == 4)) < 1e-6 for k, t in enumerate(j["points"][0]["theta"]))'
expect_status 0 kspec wls --fit y.npy --learn 4 --theta t.npy --at x.csv --predictions f.csv
expect_stdout '^ +4  under +0\.5'
py 't = np.load("t.npy"); assert t.shape == (4, 2) and np.allclose(t, [[2, 0], [0, 0], [0, 0], [.5, 0]]), t'
py 'f = np.loadtxt("f.csv", delimiter=","); x = np.array([.1, .7, 2])
assert f.shape == (3, 2) and np.allclose(f[:, 0], 2 + .5*np.cos(3*x))'
expect_status 0 kspec wls --fit y.npy --learn 4
expect_stdout '^ +0 +2 \+ '
# with a truth to expect errors from
fit_json() { expect_status 0 kspec wls --fit y.npy --learn 7,70 --alpha 0.7 --beta 0.5 --json "$@"; }
fit_json
expect_json 'all(q["error_noise_free"] is None and q["empirical"] is None for q in j["points"])'
fit_json --grid 60 --modes 100 --gamma 0.6 --noise 0.2 --empirical 20
cp "$out" one
expect_status 0 kspec wls --grid 60 --learn 7,70 --alpha 0.7 --beta 0.5 --json \
    --modes 100 --gamma 0.6 --noise 0.2 --empirical 20
expect_json 'all(a[k] == b[k] for a, b in zip(j["points"], json.load(open("one"))["points"]) for k in a)'
expect_status 0 kspec wls --fit y.npy --learn 7,70 --gamma 0.6
expect_stdout 'expected error'

# ---- features ----

# noise by its spectrum: a white one is --noise, any other is given in full, and draws agree
py "np.save('white.npy', np.full(16, 0.09)); s = 1 / (1 + np.minimum(np.arange(16), 16 - np.arange(16)))
np.save('red.npy', s); np.save('skewed.npy', np.arange(16.0)); np.save('flat.npy', np.full(8, 0.09))"
grid="--grid 16 --learn 5,16,20 --gamma 1 --alpha 0.5 --beta 0.5 --json"
expect_status 0 kspec wls theory $grid --noise 0.3
cp "$out" white.json
expect_status 0 kspec wls theory $grid --noise-spectrum white.npy
expect_json 'all(close(p[k], q[k], 1e-10) for k in ("error_noise", "variance")
    for p, q in zip(j["points"], json.load(open("white.json"))["points"]))'
expect_status 0 kspec wls theory $grid --noise-spectrum red.npy --empirical 2000
expect_json 'all(abs(p["error_noise"] - p["empirical_noise"]) < 5 * p["empirical_noise_stderr"]
    for p in j["points"])'
expect_status 0 kspec wls theory --grid 8 --learn 3 --noise-spectrum flat.npy
expect_stdout '^8 points, 8 modes, gamma 0, noise with the spectrum flat.npy, weights'
expect_status 0 kspec wls theory --grid 8 --learn 3 --complex-noise
expect_stderr 'warning: --complex-noise has no effect without --noise S or --noise-spectrum'
expect_error 2 'noise 1 and a noise spectrum cannot be combined' \
    kspec wls theory $grid --noise-spectrum red.npy --noise 1
expect_error 3 'the spectrum of real noise is symmetric' kspec wls theory $grid --noise-spectrum skewed.npy
expect_status 0 kspec wls theory $grid --noise-spectrum skewed.npy --complex-noise
expect_error 3 'has 16 numbers, but the grid has 8' \
    kspec wls theory --grid 8 --learn 3 --noise-spectrum red.npy
expect_error 2 "unknown option '--noise-spectrum'" kspec wls fit red.npy --noise-spectrum red.npy
expect_error 2 'wls fit takes no --noise-spectrum' kspec wls --fit red.npy --noise-spectrum red.npy

# NTK features: wide networks fit any data, and predict at the data what they were given
py "x = np.random.default_rng(3).normal(size=(12, 4)); np.save('ntk_x.npy', x)
y = np.sin(x[:, :1]) + x[:, 1:2]; np.save('ntk_y.npy', y)
import json; json.dump(y.tolist(), open('ntk_y.json', 'w'))"
expect_status 0 kspec wls features ntk_x.npy --target ntk_y.npy --ntk 400 --at ntk_x.npy --json
expect_json 'j["ntk"] == 400 and j["cols"] == 1600 and j["points"][0]["residual"] < 1e-9'
expect_json 'all(close(a[0], b[0], 1e-6)
    for a, b in zip(j["points"][0]["predictions"], json.load(open("ntk_y.json"))))'
expect_status 0 kspec wls features ntk_x.npy --target ntk_y.npy --ntk 400 --ridge 0.5 --json
expect_json 'j["points"][0]["residual"] > 1e-3'
expect_error 2 'ntk-scale needs --ntk' kspec wls features ntk_x.npy --target ntk_y.npy --ntk-scale 2
expect_error 3 'has 12 rows, but its target' kspec wls features ntk_x.npy --target red.npy --ntk 3
py 'r = np.random.default_rng(1); A = r.normal(size=(30, 5))
np.save("psi.npy", A); np.savetxt("t.csv", A @ [1, 2, 3, 4, 5])'
py 'r = np.random.default_rng(2); w = r.uniform(size=30)
np.save("w.npy", w); np.save("W.npy", np.diag(w)); np.save("k.npy", np.ones(5))'
expect_status 0 kspec wls --features psi.npy --target t.csv --json \
    --data-weights w.npy --prior k.npy --noise-covariance W.npy --at psi.npy
expect_json 'j["mode"] == "features" and j["rows"] == 30 and j["cols"] == 5 and j["points"][0]["rank"] == 5'
expect_json 'all(close(t[0], k + 1, 1e-12) for k, t in enumerate(j["points"][0]["theta"]))'
expect_json 'j["points"][0]["error_noise"] > 0 and len(j["points"][0]["predictions"]) == 30'
cp "$out" one
expect_status 0 kspec wls --features psi.npy --target t.csv --json \
    --data-weights W.npy --prior k.npy --noise-covariance w.npy
expect_json 'close(j["points"][0]["error_noise"], json.load(open("one"))["points"][0]["error_noise"], 1e-12)'
# lemma A.2: tr(M C M^T), M the weighted pseudo-inverse
py 'import json; A = np.load("psi.npy"); w = np.load("w.npy"); M = np.linalg.pinv(w[:, None]*A)*w
assert abs((M*w*M).sum() / json.load(open("one"))["points"][0]["error_noise"] - 1) < 1e-12'
expect_status 0 kspec wls --features psi.npy --prior k.npy --learn 1-5
expect_stdout '^noise-free error  '
py 'A = np.load("psi.npy"); A[:, 4] = A[:, 0]; np.save("d.npy", A)'
expect_status 0 kspec wls --features d.npy --target t.csv
expect_stdout 'rank 4;'
expect_status 0 kspec wls --features psi.npy --target t.csv --json \
    --select-rows 0-9 --select-cols 0,2 --at psi.npy
expect_json 'j["rows"] == 10 and j["cols"] == 2 and len(j["points"][0]["predictions"]) == 30'
py 'import json; A = np.load("psi.npy")[:10, [0, 2]]
t = np.linalg.lstsq(A, np.loadtxt("t.csv")[:10], rcond=None)[0]
assert np.allclose(t, np.ravel(json.load(open("'"$out"'"))["points"][0]["theta"]))'

# ---- decay ----
expect_status 0 kspec wls --decay psi.npy --kernel polynomial --degree 1 --json
expect_json 'len(j["singular_values"]) == 30 and j["singular_values"][6] < 1e-12 * j["singular_values"][0]'
py 'import json; A = np.load("psi.npy"); s = np.linalg.svd(A @ A.T + 1)[1]
assert np.allclose(s, json.load(open("'"$out"'"))["singular_values"], atol=1e-11)'
expect_status 0 kspec wls --decay psi.npy --select-rows 0-4 --json
expect_json 'len(j["singular_values"]) == 5'
expect_status 0 kspec wls --decay psi.npy --sigma 2 --unit
expect_stdout '^Gaussian kernel on 30 rows of 5 columns'

# ---- what cannot be done ----
expect_error 2 'p = 17 exceeds P = 16, the number of modes' kspec wls --grid 8 --learn 17 --modes 16
expect_error 2 "--learn: '0' holds a number below 1" kspec wls --grid 8 --learn 0
expect_error 2 "--learn: '3,x' is not a list" kspec wls --grid 8 --learn 3,x
expect_error 2 "--learn: '5-3' holds" kspec wls --grid 8 --learn 5-3
expect_error 2 'P = 7 modes is below the N = 8 points' kspec wls --grid 8 --learn 3 --modes 7
expect_error 2 'gamma -1000 is out of range' kspec wls --grid 8 --learn 3 --gamma -1000
expect_error 2 'gamma 1e\+308 is out of range' kspec wls --grid 8 --learn 3 --gamma 1e308
expect_error 2 'alpha 300 is out of range' kspec wls --grid 8 --learn 3 --alpha 300
expect_error 2 'noise -1 is not' kspec wls --grid 8 --learn 3 --noise -1
expect_error 2 '--grid: 0 is below 1' kspec wls --grid 0 --learn 3
expect_error 2 '--grid N is missing' kspec wls --learn 3
expect_error 2 '--learn p,... is missing' kspec wls --grid 8
expect_error 2 '--empirical: 1 is below 2' kspec wls --grid 8 --learn 3 --empirical 1
expect_error 2 '--empirical needs --learn' kspec wls --grid 8 --best-p --empirical 5
expect_error 2 '--best-weights needs --learn' kspec wls --grid 8 --best-p --best-weights
expect_error 2 "--zeta: '0' is not above 0" kspec wls --grid 8 --learn 3 --zeta 0
expect_error 2 "--sigma: '0' is not above 0" kspec wls --decay psi.npy --sigma 0
expect_error 2 "--rank-tol: '0' is not above 0" kspec wls --features psi.npy --target t.csv --rank-tol 0
expect_error 2 'wls theory takes no --kernel' kspec wls --grid 8 --learn 3 --kernel gaussian
expect_error 2 '--empirical needs --modes, --gamma or --noise' kspec wls --fit y.npy --learn 3 --empirical 5
expect_error 2 'wls fit takes no --best-p' kspec wls --fit y.npy --learn 3 --best-p
expect_error 2 'wls fit takes no --select-rows' kspec wls --fit y.npy --learn 3 --select-rows 0
expect_error 2 'only one of' kspec wls --fit y.npy --features psi.npy
expect_error 2 'wls fit: --alpha needs --learn p,...' kspec wls --fit y.npy --alpha 1
expect_error 2 '--predictions needs --at' kspec wls --fit y.npy --learn 3 --predictions f.npy
expect_error 2 'hold one fit' kspec wls --fit y.npy --learn 3,4 --theta f.npy
expect_error 2 'unexpected argument' kspec wls y.npy
expect_error 1 'lower alpha' kspec wls --grid 512 --learn 100 --alpha 25
expect_error 3 'y.npy: 60 rows, but --grid is 61' kspec wls --fit y.npy --learn 3 --grid 61
expect_error 3 'psi.npy: 5 columns, neither 1' kspec wls --fit psi.npy --learn 3,4
expect_error 3 'psi.npy: 5 columns; name the measured one .--target COLUMN.' kspec wls --fit psi.npy
expect_error 3 'z.npy: 2 columns, but x has 1' kspec wls --fit y.npy --learn 3 --at z.npy
py 'y = np.load("y.npy"); y[5] = np.nan; np.save("nan.npy", y); y[5] = np.inf; np.save("inf.npy", y)'
expect_error 3 'nan.npy' kspec wls --fit nan.npy --learn 3
expect_error 3 'infinite' kspec wls --fit inf.npy --learn 3
expect_error 3 'none.npy' kspec wls --fit none.npy --learn 3
expect_error 2 'needs --target Y' kspec wls --features psi.npy
expect_error 2 'p = 6 exceeds the 5 features' kspec wls --features psi.npy --target t.csv --learn 6
expect_error 2 '--rank-tol: 3 is not below 1' kspec wls --features psi.npy --target t.csv --rank-tol 3
expect_error 3 'the target is 60 x 1, but the features have 30 rows' \
    kspec wls --features psi.npy --target y.npy
expect_error 3 'data weights is 5 x 1' kspec wls --features psi.npy --target t.csv --data-weights k.npy
py 'i = np.arange(30.); np.savetxt("skew.csv", np.outer(i, i**2), delimiter=",")'
expect_error 3 'not symmetric' kspec wls --features psi.npy --noise-covariance skew.csv
py 'np.save("k2.npy", np.full((5, 5), 2.) - np.eye(5))'
expect_error 3 'prior covariance is not positive semidefinite' kspec wls --features psi.npy --prior k2.npy
expect_error 2 '--degree needs --kernel polynomial' kspec wls --decay psi.npy --degree 2
py 'A = np.load("psi.npy"); A[3] = 0; np.save("zero.npy", A)'
expect_error 3 'zero.npy: row 3 .from 0. is zero' kspec wls --decay zero.npy --unit

# ---- verbs: the same as the options without one ----
# the last column may hold seconds, and the spaces before them depend on their digits
without_last() { sed 's/ \+[0-9.e-]* *$//'; }
same() { # verb and its arguments : options without a verb
    local verb=()
    while [ "$1" != : ]; do verb+=("$1"); shift; done
    shift
    expect_status 0 kspec wls "${verb[@]}" --json
    cp "$out" verb
    expect_status 0 kspec wls "$@" --json
    expect "wls ${verb[*]} is wls $*" same_result verb "$out"
    kspec wls "${verb[@]}" | without_last >verb.txt
    expect "the tables, too" cmp -s verb.txt <(kspec wls "$@" | without_last)
}
same theory --grid 16 --learn 5,24 --gamma 1 --noise 0.2 : --grid 16 --learn 5,24 --gamma 1 --noise 0.2
bound="--zeta 1 --grid 20 --learn 1-9 --alpha 0.5 --beta 0.5"
same bound $bound : $bound
same fit c.npy --learn 60 --at x.csv : --fit c.npy --learn 60 --at x.csv
same fit y.npy --basis fourier --learn 60 : --fit y.npy --learn 60
same fit y.npy --learn 9 --noise auto : --fit y.npy --learn 9 --noise auto
same fit y.npy : --fit y.npy
same features psi.npy --target t.csv --select-rows 0-9 : --features psi.npy --target t.csv --select-rows 0-9
same decay psi.npy --kernel polynomial --degree 2 : --decay psi.npy --kernel polynomial --degree 2
# select is --best-p, under a name of its own
expect_status 0 kspec wls --grid 20 --modes 60 --gamma 1 --noise 0.5 --best-p --json
expect_json 'j["mode"] == "theory"'
cp "$out" best
expect_status 0 kspec wls select --grid 20 --modes 60 --gamma 1 --noise 0.5 --json
expect_json 'j["mode"] == "select" and j["best"] == json.load(open("best"))["best"] and j["points"] == []'
expect_status 0 kspec wls select --grid 20 --learn 10,60 --modes 60 --gamma 1 --best-weights --json
expect_json '[q["best_weight"]["weight"] for q in j["points"]] == ["alpha", "beta"] and "best" not in j'
expect_status 0 kspec wls select --grid 20 --learn 10-60:10 --modes 60 --gamma 1 --plot s.gp
expect "its picture is that of theory" cmp -s s.gp \
    <(kspec wls theory --grid 20 --learn 10-60:10 --modes 60 --gamma 1 --plot t.gp >/dev/null && cat t.gp)
# each verb refuses the options of the others
for line in 'theory --best-p' 'theory --zeta 1' 'theory --at x.csv' 'select --target t.csv' \
    'bound --empirical 5' 'fit --kernel gaussian' 'fit --select-rows 0' 'features --alpha 1' \
    'decay --learn 3' 'decay --fit y.npy'; do
    # shellcheck disable=SC2086
    expect_error 2 "wls ${line%% *}: unknown option '--" kspec wls $line
done
expect_error 2 'wls fit: no INPUT given' kspec wls fit --learn 3
expect_error 2 "wls fit: unexpected argument 'z.npy'" kspec wls fit y.npy z.npy --learn 3
expect_error 2 "wls theory: unexpected argument 'y.npy'" kspec wls theory y.npy
expect_error 2 "wls: unexpected argument 'fitt'; a verb comes first" kspec wls fitt y.npy
for verb in theory select bound fit features decay; do
    expect_status 0 kspec wls $verb -h
    expect_stdout "^usage: kspec wls $verb "
    expect_stdout 'See also: man kspec-wls'
    cp "$out" one
    expect_status 0 kspec help wls $verb
    expect "kspec help wls $verb" cmp -s "$out" one
done
done_testing
