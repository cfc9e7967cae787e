# kspec moments where entries differ widely: what rounding does is told, and auto takes path.
. "$(dirname "$0")/lib.sh"

expect "rational arithmetic agrees" "$python" "$KSPEC_SOURCE/tests/cli/rounding.py" "$KSPEC"

# a column that is zero but for one entry takes part in no cycle of order 2 and more; exact takes one large
# entry apart, of two it tells the rounding
py 'x = np.random.default_rng(1).normal(size=(300, 201)); x[:, 0] = 0; np.save("without.npy", x)
x[5, 0] = 1000; np.save("one.npy", x); x[:, 1] = 0; x[7, 1] = 1000; np.save("with.npy", x)
x[5, 0] = x[7, 1] = 0; np.save("without.npy", x)'
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
py 'x = np.load("one.npy"); x[5, 0] = 0; np.save("none.npy", x)'
expect_status 0 kspec moments none.npy --estimator exact -n 4 --json
cp "$out" none
expect_status 0 kspec moments one.npy -n 4 --json
expect "no word of rounding" eval '! grep -q rounding "$err"'
expect_json 'all(e["estimator"] == "exact" for e in j["estimates"])'
expect_json 'all(abs(a[k] - b[k]) < 1e-7 * b["stderr"] for k in ("value", "stderr", "ci_low", "ci_high")
                 for a, b in [(j["estimates"][3], json.load(open("none"))["estimates"][3])])'
# linear in an entry, quadratic in a row
py 'x = np.random.default_rng(2).normal(size=(40, 31))
for v in 0, 1, 1000: x[7, 9] = v; np.save("entry%d.npy" % v, x)
for v in 0, 1, 3000: y = x.copy(); y[7, 9] = 1; y[5] *= v; np.save("row%d.npy" % v, y)'
for part in entry:1000:1 row:3000:2; do
    IFS=: read -r name large power <<<"$part"
    for v in 0 1; do
        expect_status 0 kspec moments $name$v.npy --estimator exact -n 5 --json
        cp "$out" $name$v
    done
    expect_status 0 kspec moments $name$large.npy --estimator exact -n 5 --json
    expect_json "[abs(j['estimates'][4]['value'] - a - s * (b - a)) < 1e-9 * s * (abs(a) + abs(b))
                  for a, b, s in [[*(json.load(open('$name' + v))['estimates'][4]['value'] for v in '01'),
                                   $large**$power]]] == [True]"
done
# permuted, and in another unit: the same, and the same bits
py 'x = np.load("without.npy"); np.save("turned.npy", x[::-1, ::-1]); np.save("scaled.npy", x * 2.0**40)'
expect_status 0 kspec moments turned.npy --estimator exact -n 4 --json
expect_json 'all(abs(a["value"] - b["value"]) < a["rounding"]
             for a, b in zip(j["estimates"], json.load(open("without"))["estimates"]))'
expect_status 0 kspec moments scaled.npy --estimator exact -n 4 --json
expect_json 'all(a["value"] == b["value"] * 2.0 ** (80 * a["n"])
             for a, b in zip(j["estimates"], json.load(open("without"))["estimates"]))'
done_testing
