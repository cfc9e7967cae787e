# Cross-validated eigenvalues of trials.
. "$(dirname "$0")/lib.sh"

kspec generate linear --rows 40 --cols 12 --dim 3 --eigenvalue 1 --noise 1 --trials 2 --seed 1 -o t.npy
expect_status 0 kspec spectrum t.npy --method cvpca
expect_stdout '^t.npy: 2 trials × 40 rows × 12 columns; method cvpca, rows centred$'
expect_stdout '^   k   eigenvalue   std. error   95% interval from … to    of the sample$'
expect_stdout '^sum of all [0-9.]+, from 1 split of the trials in both orders$'
expect_stdout '^intervals: jackknife over 20 groups of rows$'
expect_stdout '^participation ratio +[0-9.]+ ± [0-9.]+ \(unbiased, rows centred\)$'
expect_status 0 kspec spectrum t.npy --method cvpca --json
expect_json 'j["method"] == "cvpca" and [j["rank"], j["trials"], j["splits"], j["groups"]] == [12, 2, 1, 20]'
expect_json 'all(len(j[k]) == 12 for k in ("eigenvalues", "stderr", "ci_low", "ci_high", "singular_values"))'
expect_json 'all(a < e < b for a, e, b in zip(j["ci_low"], j["eigenvalues"], j["ci_high"]))'
expect_json 'len(j["moments"]) == 2 and j["error_bars"].startswith("jackknife") and j["warnings"] == []'
# by numpy, from the definition
"$python" - <<'END' || fail "the definition"
import json, numpy as np, subprocess, os
x = np.load("t.npy")
def crossed(a, b):
    v = np.linalg.svd(a, full_matrices=False)[2].T
    return ((a @ v) * (b @ v)).sum(0) / a.size
for center in (0, 1):
    a, b = (y - center * y.mean(0) for y in x)
    command = [os.environ["KSPEC"], "spectrum", "t.npy", "--method", "cvpca", "--json", "--quiet"]
    j = json.loads(subprocess.run(command + ["--no-center"] * (1 - center), capture_output=True).stdout)
    assert np.allclose(j["eigenvalues"], (crossed(a, b) + crossed(b, a)) / 2, rtol=0, atol=1e-12), center
END
for t in 1 2 3; do
    kspec spectrum t.npy --method cvpca --json --threads $t -o $t.json
    expect "the same at $t threads" same_result 1.json $t.json
done
# more trials, fewer eigenvalues, no intervals, the truth, the picture
kspec generate linear --rows 9 --cols 12 --dim 3 --eigenvalue 1 --noise 1 --trials 5 -o five.npy
printf '1\n1\n1\n' >truth.csv
expect_status 0 kspec spectrum five.npy --method cvpca --splits 3 --count 4 --truth truth.csv --json
expect_json '[j["splits"], j["groups"], len(j["eigenvalues"]), j["truth"]] == [3, 9, 4, [1, 1, 1]]'
expect_status 0 kspec spectrum five.npy --method cvpca --no-stderr --truth truth.csv --plot five.gp
expect_stdout '^   4 .* 0$'
expect "its name in the picture" grep -q 'cross-validated' five.gp
expect_status 0 kspec spectrum five.npy --method cvpca --sampled cols
expect_stderr 'intervals are unknown, because they need at least 4 rows that are a sample'
# noise alone
py 'np.save("noise.npy", np.random.default_rng(1).normal(size=(2, 30, 10)))'
expect_status 0 kspec spectrum noise.npy --method cvpca
expect_stderr 'is not above zero by its interval: the trials may have nothing in common'

kspec generate linear --rows 9 --cols 12 --dim 3 --eigenvalue 1 -o one.npy
expect_error 3 'eigenvalues need at least 2 trials, not 1' kspec spectrum one.npy --method cvpca
expect_error 2 'split, not assigned' kspec spectrum five.npy --method cvpca --trial-scheme assignment
for option in '--rank 3' '--draws 5' '--upper 1' '--at 1'; do
    expect_error 2 'the method cvpca has no rank.* or t \(--method\)$' \
        kspec spectrum t.npy --method cvpca $option
done
expect_error 2 'cvpca needs a matrix, not moments' kspec spectrum --moments 1,2 --method cvpca
expect_error 2 'need the method fit \(--method\)$' kspec spectrum t.npy --method cvpca --noise 1
done_testing
