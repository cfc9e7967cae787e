# kspec moments where entries differ widely: what rounding does is told, and auto takes path.
. "$(dirname "$0")/lib.sh"

expect "rational arithmetic agrees" "$python" "$KSPEC_SOURCE/tests/cli/rounding.py" "$KSPEC"

# one column that is zero but for one entry takes part in no cycle of order 2 and more
py 'x = np.random.default_rng(1).normal(size=(300, 201)); x[:, 0] = 0; np.save("without.npy", x)
x[5, 0] = 1000; np.save("with.npy", x)'
expect_status 0 kspec moments without.npy --estimator exact -n 4 --json
cp "$out" without
expect_status 0 kspec moments with.npy --estimator exact -n 4 --json
expect_stderr 'exact: rounding may have moved m\(4\) by [0-9.e-]+, more than a tenth of its standard error'
expect_json 'abs(j["estimates"][3]["value"] - json.load(open("without"))["estimates"][3]["value"]) \
             < j["estimates"][3]["rounding"]'
expect_json 'j["estimates"][3]["ci_low"] < json.load(open("without"))["estimates"][3]["value"] \
             < j["estimates"][3]["ci_high"]'
expect_status 0 kspec moments with.npy -n 4 --json
expect_json '[j["estimates"][k]["estimator"] for k in (0, 3)] == ["exact", "path"]'
expect_json 'j["estimates"][3]["rounding"] == 0'
expect "no word of rounding" eval '! grep -q rounding "$err"'
# permuted, and in another unit: the same, and the same bits
py 'x = np.load("without.npy"); np.save("turned.npy", x[::-1, ::-1]); np.save("scaled.npy", x * 2.0**40)'
expect_status 0 kspec moments turned.npy --estimator exact -n 4 --json
expect_json 'all(abs(a["value"] - b["value"]) < a["rounding"]
             for a, b in zip(j["estimates"], json.load(open("without"))["estimates"]))'
expect_status 0 kspec moments scaled.npy --estimator exact -n 4 --json
expect_json 'all(a["value"] == b["value"] * 2.0 ** (80 * a["n"])
             for a, b in zip(j["estimates"], json.load(open("without"))["estimates"]))'
done_testing
