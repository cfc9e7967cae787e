# Eigenvalues from moments. By a fit: spectrum_fit.sh.
. "$(dirname "$0")/lib.sh"

kspec generate linear --rows 60 --cols 50 --dim 10 --eigenvalue 0.5 --seed 1 -o x.npy
expect_status 0 kspec spectrum x.npy --rank 10
expect_stdout '^x.npy: 60 rows × 50 columns; method moments \(as --rank implies\), not centred$'
expect_stdout '^   1 +0\.[56]'
expect_stdout '^ +k +eigenvalue +std. error .*of the sample$'
expect_stdout '^upper end [0-9.]+: largest eigenvalue of the sample matrix, which is biased upwards$'
expect_stdout '^eigenvalues: means and spread over 200 draws'
expect_stdout '^participation ratio.* \(not centred\)$'
expect_stdout '^effective dimension at'

# the dimension is that of the other commands, to the last digit
expect_status 0 kspec moments x.npy --json
ratio=$(grep -oP '"participation_ratio": \K[^,]*' "$out")
expect_status 0 kspec spectrum x.npy --no-center --json
expect_json "j[\"participation_ratio\"] == $ratio"
expect_status 0 kspec spectrum x.npy --rank 10 --json --seed 5
expect_json 'j["command"] == "spectrum" and [j["rows"], j["cols"], j["trials"], j["rank"]] == [60, 50, 1, 10]'
expect_json 'all(len(j[k]) == 10
    for k in ("eigenvalues", "stderr", "ci_low", "ci_high", "eigenvalues_plain"))'
expect_json 'sorted(j["eigenvalues"], reverse=True) == j["eigenvalues"]'
expect_json 'abs(sum(j["eigenvalues"]) - 5) < 1'
expect_json 'all(a <= e <= b for a, e, b in zip(j["ci_low"], j["eigenvalues"], j["ci_high"]))'
expect_json 'all(len(j[k]) == 6 for k in ("moments", "moments_fitted", "moments_stderr", "estimators"))'
expect_json 'j["weights"] == "covariance" and j["draws"] == 200 and j["error_bars"].startswith("parametric")'
expect_json 'len(j["singular_values"]) == 50 and close(j["upper"], j["singular_values"][0], 1e-14)'
expect_json 'close(j["operator_norm"], j["eigenvalues"][0], 1e-14) and j["distance"] < 3'
expect_json 'close(j["participation_ratio"], j["moments"][0] ** 2 / j["moments"][1], 0.01)'
expect_json 'j["participation_ratio_ci_low"] < j["participation_ratio"] < j["participation_ratio_ci_high"]'
expect_json 'all(close(d["value"], sum(x / (x + d["t"]) for x in j["eigenvalues"]), 1e-12)
                 for d in j["effective_dimension"]) and len(j["effective_dimension"]) == 4'
expect_json 'close(sum(j["mass"]), 1, 1e-12)'
expect_json 'all(close(10 * sum(p * s ** n for p, s in zip(j["mass"], j["support"])),
    j["moments_fitted"][n - 1], 1e-9) for n in range(1, 7))'
grep -v '"seconds"' "$out" >one
for t in 1 2 3; do
    expect_status 0 kspec spectrum x.npy --rank 10 --json --seed 5 --threads $t
    expect "the same at $t threads" cmp -s one <(grep -v '"seconds"' "$out")
done
# the moments are those of kspec moments
kspec moments x.npy --seed 5 --json -o moments.json
cp one "$out"
expect_json '[e["value"] for e in json.load(open("moments.json"))["estimates"]] == j["moments"]'
expect_json 'all(close(a, e["stderr"], 1e-12) for a, e in
                 zip(j["moments_stderr"], json.load(open("moments.json"))["estimates"]))'

# without error bars: the plain solution, and its residual is the sum it says it is
expect_status 0 kspec spectrum x.npy --rank 10 --no-stderr --json
expect_json 'j["weights"] == "unit" and j["draws"] == 0 and j["stderr"] == [None] * 10'
expect_json 'j["eigenvalues"] == j["eigenvalues_plain"]'
expect_json 'abs(sum(abs(g - f) / 10 / j["upper"] ** (n + 1) for n, (g, f) in
                 enumerate(zip(j["moments"], j["moments_fitted"]))) - j["residual"]) < 1e-8'
for w in unit stderr covariance; do
    expect_status 0 kspec spectrum x.npy --rank 10 --weights $w --draws 10 --json
    expect_json "j['weights'] == '$w' and j['draws'] == 10"
done
expect_json 'abs(sum(j["eigenvalues"]) - 5) < 1'
# the default rank, trials, the other options
expect_status 0 kspec spectrum x.npy --rank 50 --spacing geometric --quantile midpoint --grid 101 --upper 2 \
    --draws 5 --json
expect_json 'j["rank"] == 50 and j["upper"] == 2 and j["upper_reason"] == "given"'
kspec generate linear --rows 30 --cols 20 --dim 5 --noise 0.5 --trials 3 -o t.npy
expect_status 0 kspec spectrum t.npy -n 4 --estimator exact --splits 2 --draws 5 --json
expect_json 'j["trials"] == 3 and j["estimators"] == ["exact"] * 4'
# no error bar at the highest order there is: unit weights, and no draws
kspec generate linear --rows 4 --cols 9 --dim 2 -o small.npy
expect_status 0 kspec spectrum small.npy --method moments --json --quiet
expect_json 'j["draws"] == 0 and j["weights"] == "unit" and j["moments_stderr"][3] is None'
expect_json 'any("m(4) has no error bar" in w for w in j["warnings"])'

# given moments
kspec theory rbf --eta 4 -n 8 --json -o truth.json
expect_status 0 kspec spectrum --moments truth.json --rank 20 --json
expect_json 'len(j["moments"]) == 8 and j["residual"] < 1e-6'
expect_json '"rows" not in j and j["singular_values"] == []'
expect_status 0 kspec spectrum --moments 2,1,0.5 --rank 8 --upper 1 --at 1,0.5
expect_stdout '^effective dimension at 0\.5 '
expect_status 0 kspec spectrum --moments 2,1,0.5 --rank 8 --upper 1 --json
# four eigenvalues of 0.5 and nothing else: the only measure with these moments
expect_json 'all(abs(x - (0.5 if k < 4 else 0)) < 1e-3 for k, x in enumerate(j["eigenvalues"]))'
expect_json 'j["distance"] < 1e-8 and j["warnings"] == []'
expect_status 0 kspec spectrum --moments 2,1,0.5 --rank 8 -n 2 --stderr 0.1,0.1,0.1 --json
expect_json 'len(j["moments"]) == 2 and j["draws"] == 200 and j["upper_reason"].startswith("least")'
# moments that no measure has: the nearest, and how far it is
expect_status 0 kspec spectrum --moments 1,-0.1 --rank 4 --upper 1 --json
expect_json 'j["moments_fitted"][1] >= 0 and j["distance"] > 0.02 and "no measure" in j["warnings"][0]'
expect_status 0 kspec spectrum --moments 1,4 --rank 10 --upper 1
expect_stderr 'no measure on \[0, 1\] has these moments: m\(2\) = 4, but 1 in the nearest one'
expect_status 0 kspec spectrum --moments 5,4 --stderr 0.1,0.1 --rank 2 --upper 1 --json
expect_json 'j["distance"] > 3 and j["distance_unit"] == "standard errors"'
expect_json '"a larger upper end or rank" in j["warnings"][0] and j["doubts"][0]["code"] == "no-measure"'
expect_status 0 kspec spectrum --moments 1,1,1 --rank 5 --upper 1e-30 --json
expect_json 'all(close(x, 1e-30, 1e-12) for x in j["eigenvalues"]) and "no measure" in j["warnings"][0]'
# a sum that is not known
expect_status 0 kspec spectrum --moments 1,0.5 --stderr 0.6,0.1 --rank 4 --upper 1
expect_stderr 'm\(1\) = 1 ± 0\.6 is too uncertain'
expect_status 0 kspec spectrum --moments 1,0.5 --stderr 0.4,0.1 --rank 4 --upper 1 --json
expect_json 'not any("too uncertain" in w for w in j["warnings"])'
expect_status 0 kspec spectrum --moments 5,4 --stderr 0.1,0.1 --rank 2 --upper 1 --quiet
expect "quiet" test ! -s "$err"

# an upper end beside which all eigenvalues are nothing
expect_status 0 kspec spectrum --moments 1,0.5,0.3 --rank 5 --upper 1e4
expect_stderr 'all are below the first step of the grid, 10; the upper end 10000 is too large'
# the unit does not matter
py 'np.save("y.npy", np.load("x.npy") * 2.0**60)'
kspec spectrum x.npy --rank 10 --draws 20 --json -o x.json
expect_status 0 kspec spectrum y.npy --rank 10 --draws 20 --json
expect_json 'all(close(a, b * 2.0**120, 1e-6)
    for a, b in zip(j["eigenvalues"], json.load(open("x.json"))["eigenvalues"]))'

# bad input
expect_error 2 '--rank: 0 is below 1' kspec spectrum x.npy --rank 0
expect_error 2 'order 51 exceeds min\(P,Q\)=50' kspec spectrum x.npy --no-center -n 51
expect_error 2 "--upper: '0' is not above 0" kspec spectrum x.npy --upper 0
expect_error 2 "--upper: '-1' is not above 0" kspec spectrum x.npy --upper -1
expect_error 2 "--at: '0' is not above 0" kspec spectrum x.npy --at 1,0
expect_error 2 '--grid: 2 is below 3' kspec spectrum x.npy --grid 2
expect_error 2 'grid of 100001 points is not between 3 and 100000' kspec spectrum x.npy --grid 100001
expect_error 2 'no INPUT given' kspec spectrum
expect_error 2 'takes --moments or an INPUT' kspec spectrum x.npy --moments 1,2 --rank 2
expect_error 2 '-n: 3 exceeds the 2 moments' kspec spectrum --moments 1,2 --rank 2 -n 3
expect_error 2 '--stderr has 1 value, --moments 2' kspec spectrum --moments 1,2 --stderr 1 --rank 2
expect_error 2 '--stderr needs --moments' kspec spectrum x.npy --stderr 1
expect_error 2 'weights stderr need a standard error' kspec spectrum --moments 1,2 --rank 2 --weights stderr
expect_error 2 'no moment is positive' kspec spectrum --moments -1,-2 --rank 2
expect_error 2 "neither a list of numbers" kspec spectrum --moments 1,b --rank 2
for option in '--estimator path' '--center' '--no-stderr' '--splits 3' '--select-rows 0-3'; do
    expect_error 2 'needs an INPUT, not --moments' kspec spectrum --moments 1,2 --rank 2 $option
done
expect_error 2 '--draws needs error bars \(--stderr\)' kspec spectrum --moments 1,2 --rank 2 --draws 9
expect_error 2 '--draws needs standard errors, which' kspec spectrum x.npy --no-stderr --draws 9
for bad in 'null' '"0.5"' 'true' '[1]'; do
    echo "{\"moments\": [1, $bad]}" >bad.json
    expect_error 3 'm\(2\) of bad.json is not a number' kspec spectrum --moments bad.json --rank 2
done
expect_error 2 "'all' must be one of" kspec spectrum x.npy --estimator all
expect_error 3 'nothing.npy' kspec spectrum nothing.npy
# Newton's identities: exact moments, and a warning of what an error does
expect_status 0 kspec spectrum --moments 6,14,36 --method newton --rank 3 --json
expect_json 'j["method"] == "newton" and all(close(a, b, 1e-9) for a, b in zip(j["eigenvalues"], (3, 2, 1)))'
expect_json 'j["imaginary"] == [0, 0, 0] and j["complex"] == 0 and j["condition"] > 10'
expect_json '[d["code"] for d in j["doubts"]] == ["ill-conditioned"]'
expect_status 0 kspec spectrum --moments 6,14.14,36 --method newton --rank 3
expect_stdout '^condition number .*: errors of 1% in every moment move a root by up to'
expect_status 0 kspec spectrum x.npy --method newton --rank 3 --json
expect_json 'j["rank"] == 3 and len(j["moments"]) == 3 and j["center"] == "none"'
expect_error 2 'rank 4 exceeds the 3 moments' kspec spectrum --moments 6,14,36 --method newton --rank 4
expect_error 2 'a rank from 1 to 10, not 12' kspec spectrum x.npy --method newton --rank 12
expect_error 2 'a rank from 1 to 10, not 0' kspec spectrum x.npy --method newton
expect_error 2 'newton has no grid' kspec spectrum x.npy --method newton --rank 2 --grid 11

done_testing
