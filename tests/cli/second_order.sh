# kspec dimension and compare where sums in doubles lose digits: rounding is told, and what it would spoil is
# made in twice the digits.
. "$(dirname "$0")/lib.sh"

expect "exact arithmetic agrees" "$python" "$KSPEC_SOURCE/tests/cli/second_order.py" \
    "${KSPEC_LISTS:-$(dirname "$KSPEC")/tests/second_lists}" 4000

# A column that grows: m(1)^2 and m(2) have a limit in units of its square, and the interval has one, too
py 'g = np.random.default_rng(4)
x = g.normal(size=(40, 4)) @ g.normal(size=(4, 12)) + .3 * g.normal(size=(40, 12))
for e in 0, 3, 5, 8, 10: y = x.copy(); y[:, 5] *= 10.0 ** e; np.save("column%d.npy" % e, y)
y = x.copy(); y[7, 5] = 1e10; np.save("entry.npy", y); np.save("x.npy", x)
np.save("y.npy", g.normal(size=(40, 12)) + x); np.save("float.npy", x * 1e-170)
for e in -80, 78: np.save("x%d.npy" % e, x * 10.0 ** e); np.save("y%d.npy" % e, np.load("y.npy") * 10.0 ** e)'
expect_status 0 kspec dimension column3.npy --json
cp "$out" limit
for e in 5 8 10; do
    expect_status 0 kspec dimension column$e.npy --json
    expect_json 'all(abs(j[k] / json.load(open("limit"))[k] - 1) < 1e-3
                     for k in ("dimension", "stderr", "ci_low", "ci_high"))'
    expect_json '0 < j["rounding"] < 1e-12'
    expect_status 0 kspec moments column$e.npy -n 2 --center --json
    expect_json 'abs(j["participation_ratio"] / json.load(open("limit"))["dimension"] - 1) < 1e-3'
    expect_json '0 < j["participation_ratio_rounding"] < 1e-12'
done
# of the other matrix, and in either
expect_status 0 kspec compare column8.npy column3.npy --json
expect_json '0 < j["alignment_rounding"] < 1e-12 * abs(j["alignment"])'
expect_json 'abs(j["differences"][0]["value"]) < 1e-4'

# too large a matrix for twice the digits: refused where nothing is left, otherwise told
py 'g = np.random.default_rng(5); x = g.normal(size=(900, 700)); x[:, 3] *= 1e9; np.save("wide.npy", x)'
expect_error 1 'the matrix: rounding may have moved m\(2\) by [0-9.e+]+, more than its value' \
    kspec dimension wide.npy
expect_stderr 'standardize'

# p does not depend on the unit
expect_status 0 kspec compare x.npy y.npy --json
cp "$out" plain
for e in -80 78; do
    expect_status 0 kspec compare x$e.npy y$e.npy --json
    expect_json 'all(abs(a["p"] - b["p"]) < 1e-9 for a, b in
                     zip(j["differences"], json.load(open("plain"))["differences"]))'
    expect_json 'abs(j["alignment_p"] - json.load(open("plain"))["alignment_p"]) < 1e-9'
done

# nothing is left of moments that are below the smallest double
expect_error 1 'm\(1\) is below the smallest double; scale the data.*--normalize' kspec moments float.npy
expect_error 1 'm\(1\) is below the smallest double; scale the data.*--normalize' kspec moments float.npy -n 1
done_testing
