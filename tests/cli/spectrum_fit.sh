# Eigenvalues by a fit of the sample's own.
. "$(dirname "$0")/lib.sh"

kspec generate linear --rows 60 --cols 50 --dim 10 --eigenvalue 0.5 --seed 1 -o x.npy
expect_status 0 kspec spectrum x.npy
expect_stdout '^x.npy: 60 rows × 50 columns; method fit, rows centred$'
expect_stdout '^ +i +eigenvalue +95% interval from … to +of the sample$'
expect_stdout '^   1 +0\.[456]'
expect_stdout '^resolved: the first [0-9]+, from [0-9]+ eigenvalues of the sample; beyond them lies'
expect_stdout '^noise: none$'
expect_stdout '^m\(2\) +[0-9.]+ +[0-9.]+'
expect_stdout '^participation +[0-9.]+.* \(rows centred\)$'
expect_stdout '^effective dimension at [0-9.]+ +[0-9.]+ \([0-9.]+ … [0-9.]+\)$'
expect_stdout '^ +[0-9]+%  (smooth|constant)'

expect_status 0 kspec spectrum x.npy --no-center --json
expect_json 'j["method"] == "fit" and [j["rows"], j["cols"], j["trials"], j["rank"]] == [60, 50, 1, 10]'
expect_json 'all(len(j[k]) == 10 for k in ("eigenvalues", "stderr", "ci_low", "ci_high"))'
expect_json 'all(a <= e <= b for a, e, b in zip(j["ci_low"], j["eigenvalues"], j["ci_high"]))'
expect_json 'sorted(j["eigenvalues"], reverse=True) == j["eigenvalues"]'
expect_json 'abs(sum(j["eigenvalues"]) - 5) < 1'
expect_json 'len(j["singular_values"]) == 50 and j["singular_values"][0] > j["eigenvalues"][0]'
expect_json 'len(j["moments"]) == 4 and abs(j["moments_z"][0]) < 1'
expect_json 'all(abs(z) < 3 for z in j["moments_z"][1:])'
expect_json 'all(close(j["moments_fitted"][n - 1], sum(x ** n for x in j["eigenvalues"]), 1e-9)
                 for n in range(1, 5))'
expect_json 'all(close(d["value"], sum(x / (x + d["t"]) for x in j["eigenvalues"]), 1e-9)
                 and d["ci_low"] <= d["value"] <= d["ci_high"] for d in j["effective_dimension"])'
expect_json 'close(j["participation_ratio_fitted"],
                   sum(j["eigenvalues"]) ** 2 / sum(x * x for x in j["eigenvalues"]), 1e-9)'
expect_json 'close(j["beyond"], sum(j["eigenvalues"][j["resolved"]:]) / sum(j["eigenvalues"]), 1e-9)'
expect_json 'j["noise"] == 0 and j["noise_reason"] == "none" and j["signal"] == "clear"'
expect_json 'close(sum(f["weight"] for f in j["families"]), 1, 1e-9) and j["families"][0]["name"] != ""'
grep -v '"seconds"' "$out" >one
for t in 1 2 3; do
    expect_status 0 kspec spectrum x.npy --no-center --json --threads $t
    expect "the same at $t threads" cmp -s one <(grep -v '"seconds"' "$out")
done
# the check is kspec moments
kspec moments x.npy -n 4 --json -o moments.json
cp one "$out"
expect_json '[e["value"] for e in json.load(open("moments.json"))["estimates"]] == j["moments"]'

# how many are printed
expect_status 0 kspec spectrum x.npy --count 3
expect "three lines" test "$(grep -c '^   [0-9]  ' "$out")" = 3
expect_status 0 kspec spectrum x.npy --count 3 --json
expect_json 'len(j["eigenvalues"]) == 3 and len(j["ci_high"]) == 3 and j["rank"] == 10'
expect_status 0 kspec spectrum x.npy --rank 10 --count 3 --json
expect_json 'len(j["eigenvalues"]) == 3 and j["method"] == "moments"'

# noise: found, given, none, from trials
kspec generate linear --rows 60 --cols 50 --dim 10 --eigenvalue 0.5 --noise 0.8 --trials 2 --seed 2 -o n.npy
expect_status 0 kspec spectrum n.npy --json
expect_json 'j["noise_reason"] == "from the differences of trials" and abs(j["noise"] - 0.8) < 0.05'
expect_json 'j["noise_ci_low"] <= j["noise"] <= j["noise_ci_high"]'
kspec generate linear --rows 60 --cols 50 --dim 10 --eigenvalue 0.5 --noise 0.8 --seed 2 -o one.npy
expect_status 0 kspec spectrum one.npy --json
expect_json 'j["noise_reason"] == "found by the fit" and 0.5 < j["noise"] < 1.1'
expect_status 0 kspec spectrum one.npy --noise 0.8 --json
expect_json 'j["noise_reason"] == "given" and close(j["noise"], 0.8, 0.02)'
expect_status 0 kspec spectrum one.npy --noise 0 --json
expect_json 'j["noise_reason"] == "none" and j["noise"] == 0'
expect_error 2 'noise 9 exceeds the root mean square of the entries' kspec spectrum one.npy --noise 9
expect_error 2 'noise -1 is not a standard deviation \(--noise\)$' kspec spectrum one.npy --noise -1
# the trials know better
expect_status 0 kspec spectrum n.npy --noise 0.8 --json
expect_json 'j["warnings"] == [] and abs(j["noise_of_trials"] - 0.8) < 0.05'
expect_status 0 kspec spectrum n.npy --noise 0.5 --json
expect_json '"noise 0.5 is given, but the trials differ by noise of 0." in j["warnings"][0]'
expect_status 0 kspec spectrum n.npy --noise 0 --json
expect_json '"noise 0 is given, but the trials differ by noise of" in j["warnings"][0]'
# nothing but noise
kspec generate linear --rows 60 --cols 50 --dim 1 --eigenvalue 1e-9 --noise 1 --seed 3 -o nothing.npy
expect_status 0 kspec spectrum nothing.npy --json
expect_json 'j["signal"] == "none" and any("may be all noise" in w for w in j["warnings"])'
expect_json 'abs(j["noise"] - 1) < 0.2'
expect_json 'j["resolved"] == 0 and all(j[k] is None for k in ("exponent", "exponent_from", "exponent_to"))'
for seed in 1 2 3 4 5 6 7 8; do
    kspec generate linear --rows 30 --cols 40 --dim 1 --eigenvalue 1e-9 --noise 1 --trials 2 \
        --seed $seed -o two.npy
    expect_status 0 kspec spectrum two.npy --json
    expect_json 'j["signal"] == "none" and j["resolved"] == 0 and "may be all noise" in str(j["warnings"])'
done
# moments that contradict the fit: a warning, and wider intervals
kspec generate linear --rows 100 --cols 100 --dim 60 --eigenvalue 0.1 --seed 21 -o equal.npy
expect_status 0 kspec spectrum equal.npy --estimator naive --json
expect_json 'j["widened"] > 1 and "all intervals are widened" in j["warnings"][-1]'
expect_json 'j["doubts"][-1]["code"] == "fit-disagrees" and j["doubts"][-1]["order"] > 1'
expect_status 0 kspec spectrum equal.npy --json
expect_json 'j["widened"] == 1 and j["warnings"] == []'

# the exponent, and where the effective dimension is given
kspec generate linear --rows 100 --cols 120 --dim 100 \
    --eigenvalue "$(py 'print(",".join(str(1 / i) for i in range(1, 101)))')" --seed 4 -o h.npy
expect_status 0 kspec spectrum h.npy --exponent 2-30 --at 0.5,0.05 --json
expect_json '[j["exponent_from"], j["exponent_to"]] == [2, 30]'
expect_json 'j["exponent_ci_low"] < 1 < j["exponent_ci_high"]'
expect_json 'j["exponent_unweighted_ci_low"] < 1 < j["exponent_unweighted_ci_high"]'
expect_json '(lambda x, y: close(j["exponent_unweighted"],
                 -sum((a - sum(x) / 29) * b for a, b in zip(x, y))
                 / sum((a - sum(x) / 29) ** 2 for a in x), 1e-9))(
                 [math.log(i) for i in range(2, 31)], [math.log(v) for v in j["eigenvalues"][1:30]])'
expect_json '[d["t"] for d in j["effective_dimension"]] == [0.5, 0.05]'
expect_status 0 kspec spectrum h.npy
expect_stdout '^exponent: λ_i ~ i\^-a, a = [0-9.]+ \([0-9.]+ … [0-9.]+\) over i = [0-9]+ … [0-9]+; without'
expect_stdout '^effective dimension at [0-9.e-]+ +not resolved$'
expect_error 2 'an exponent from eigenvalue 5 to 5 needs two of them' kspec spectrum h.npy --exponent 5

# centred, as it is when nothing is said; one side complete; the truth
expect_status 0 kspec spectrum h.npy --center --json
expect_json 'j["input"]["centered"] is True and abs(j["eigenvalues"][0] - 1) < 0.6'
kspec spectrum h.npy --json -o default.json
expect_json 'j["eigenvalues"] == json.load(open("default.json"))["eigenvalues"]'
cp default.json "$out"
expect_json 'j["input"]["centered"] is True and j["center"] == "rows"'
expect_status 0 kspec spectrum h.npy --sampled rows --json
expect_json 'j["eigenvalues"][0] > 0'
kspec theory linear --eigenvalue 0.5 --dim 10 --json -o truth.json
expect_status 0 kspec spectrum x.npy --truth truth.json
expect_stdout 'of the sample +truth$'
expect_stdout '^   1 .* 0\.5$'
expect_status 0 kspec spectrum x.npy --truth truth.json --json --plot x.gp
expect_json 'j["truth"] == [0.5] * 10 and j["input"]["truth"]["path"] == "truth.json"'
# theory centres nothing: a doubt next to a centred fit, here and in a picture of the two results
expect_json '[d["code"] for d in j["doubts"] if d["code"] == "truth-center"] == ["truth-center"]'
expect_status 0 kspec spectrum x.npy --truth truth.json --json -o centred.json
expect_status 0 kspec spectrum x.npy --no-center --truth truth.json --json -o plain.json
expect "no doubt" eval '! grep -q truth-center plain.json'
expect_status 0 kspec spectrum x.npy --truth centred.json --json
expect_json '"truth-center" not in [d["code"] for d in j["doubts"]]'
expect_status 0 kspec plot centred.json truth.json -o both.gp
expect_stderr 'the truth and these eigenvalues \(rows centred\) are centred differently'
expect_status 0 kspec plot plain.json truth.json --json
expect_json 'j["doubts"] == []'
expect "the truth in the picture" grep -q "title 'truth'" x.gp
expect_error 3 'missing "eigenvalues" in moments.json' kspec spectrum x.npy --truth moments.json
expect_error 3 'cannot open nothing.json' kspec spectrum x.npy --truth nothing.json

# options of the other method
for option in '--rank 3' '--grid 11' '--weights unit' '--upper 1' '--draws 5' \
    '--rank 3 --quantile midpoint'; do
    expect_error 2 'needs --method moments' kspec spectrum x.npy --method fit $option
    expect_status 0 kspec spectrum x.npy $option --json
    expect_json 'j["method"] == "moments" and j["center"] == "none" and j["input"]["centered"] is False'
done
# no error bars of the moments: the method stays, and so do its eigenvalues
expect_status 0 kspec spectrum x.npy --no-stderr --json --quiet
expect_json 'j["method"] == "fit" and j["moments_z"] == [None] * 4 and j["moments_stderr"] == [None] * 4'
kspec spectrum x.npy --json -o with.json
expect_json 'j["eigenvalues"] == json.load(open("with.json"))["eigenvalues"]'
expect_error 2 'needs --method moments' kspec spectrum x.npy --method fit --quantile midpoint
expect_error 2 'quantiles need a rank.* \(--rank\)$' kspec spectrum x.npy --quantile midpoint
expect_error 2 "noise and the exponent's range need the method fit \(--method\)$" \
    kspec spectrum x.npy --method moments --noise 1
expect_error 2 "exponent's range need the method fit \(--method fit\)$" \
    kspec spectrum x.npy --rank 3 --exponent 1-3
expect_error 2 "'lp' must be one of fit, moments" kspec spectrum x.npy --method lp

# bad input is normal input
py 'np.save("tiny.npy", np.ones((2, 3)))'
expect_error 3 'a fit needs at least 4 rows and 4 columns, not 2 x 3' kspec spectrum tiny.npy
py 'np.save("zero.npy", np.zeros((9, 9)))'
expect_error 3 'every entry is 0' kspec spectrum zero.npy
py 'np.save("const.npy", np.full((9, 8), 3.0))'
expect_error 3 'every entry is 0 after centring' kspec spectrum const.npy
expect_status 0 kspec spectrum const.npy --no-center --json
expect_json 'j["rank"] == 1 and close(j["eigenvalues"][0], 9, 0.2)'
for scale in 1e-200 1e200; do
    py "np.save('far.npy', np.load('x.npy') * $scale)"
    expect_error 1 'scale the data \(--normalize\)|too large' kspec spectrum far.npy
done
# standardized columns fix m(1), so its standard error is no scale for the fitted trace
kspec generate linear --rows 60 --cols 40 --dim 5 --eigenvalue 1 --seed 1 -o standard.npy >/dev/null
expect_status 0 kspec spectrum standard.npy --standardize --json
expect_json 'all(d["code"] != "fit-disagrees" for d in j["doubts"]) and abs(j["moments_z"][0]) < 3'
done_testing
