# Complete columns and finite populations: the options in every command that has them, and their keys.
. "$(dirname "$0")/lib.sh"

"$python" -c 'import numpy as np
rng = np.random.default_rng(5)
x = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 12)) + 0.3 * rng.standard_normal((30, 12)) + 3
np.save("x.npy", x)
np.save("turned.npy", x @ np.linalg.qr(rng.standard_normal((12, 12)))[0])'

# a rotated copy has the same kernel where the columns are complete, and more than it where they are not
expect_status 0 kspec compare x.npy turned.npy --sampled rows --json
expect_json 'abs(j["alignment"] - 1) < 1e-12 and j["sampled"] == "rows" and j["population_rows"] is None'
expect_json 'abs(j["differences"][0]["value"]) < 1e-9 and abs(j["dimension"] - j["other_dimension"]) < 1e-9'
expect_status 0 kspec compare x.npy turned.npy --json
expect_json 'j["alignment"] > 1.01 and j["sampled"] == "both"'

# the definition: all pairs of columns, four different rows
"$python" - x.npy <<'END' >direct
import numpy as np, sys
x = np.load(sys.argv[1]); n, q = x.shape; x = x - x.mean(0)
G = x.T @ x; t = np.trace(G); F = (G * G).sum(); N4 = ((x * x).sum(1) ** 2).sum()
last = n * (n - 1) * N4
print(((n * n - 3 * n + 1) * t * t + 2 * F - last) / ((n * n - 3 * n + 2) * F + t * t - last))
END
expect_status 0 kspec dimension x.npy --sampled rows --json
expect_json 'abs(j["dimension"] - float(open("direct").read())) < 1e-10'
cp "$out" rows
# a population as large as the sample is complete, and a very large one is as good as infinite
expect_status 0 kspec dimension x.npy --population-cols 12 --json
expect_json 'all(j[k] == json.load(open("rows"))[k] for k in ("dimension", "stderr", "ci_low", "ci_high"))'
expect_status 0 kspec dimension x.npy --json
cp "$out" both
expect_status 0 kspec dimension x.npy --population-cols 1000000000 --population-rows 1000000000 --json
expect_json 'all(close(j[k], json.load(open("both"))[k], 1e-6) for k in ("dimension", "stderr", "ci_high"))'
expect_json 'j["population_cols"] == 1000000000'
expect_status 0 kspec dimension x.npy --sampled rows
expect_stdout 'all columns were measured, so the interval leaves out only rows'
expect_status 0 kspec dimension x.npy --sampled rows --curve --json
expect_json 'close(j["curve"][-1]["dimension"], j["dimension"], 1e-12)'

# the whole report is of the complete columns
expect_status 0 kspec report x.npy -o x.html --sampled rows --population-rows 500 --json --quiet
expect_json 'all(j[k]["sampled"] == "rows" and j[k]["population_rows"] == 500
                 for k in ("dimension", "moments"))'

expect_error 2 "--sampled: 'units' must be one of both, rows, cols" kspec dimension x.npy --sampled units
expect_error 2 'a population of 3 rows is smaller than the sample of 30' \
    kspec compare x.npy x.npy --population-rows 3
expect_error 2 'contradicts sampled, which has all 12' \
    kspec dimension x.npy --sampled rows --population-cols 13
done_testing
