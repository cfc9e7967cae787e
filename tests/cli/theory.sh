# Closed forms.
. "$(dirname "$0")/lib.sh"

expect_status 0 kspec theory rbf --dim 5 --eta 4 -n 2
expect_stdout '^ +1  1$'
expect_stdout '^ +2  0\.000839223616'
expect_status 0 kspec theory rbf --dim 5 --eta 4 --json
expect_json 'j["command"] == "theory" and j["kernel"] == "rbf" and j["dim"] == 5 and j["eta"] == [4] * 5'
expect_json 'len(j["moments"]) == 6 and close(j["moments"][0], 1, 1e-14)'
expect_json 'close(j["moments"][1], 8.39223616e-4, 1e-8)'
expect_json '"eigenvalues" not in j'
cp "$out" one
expect_status 0 kspec theory rbf --eta 4,4,4,4,4 --json
expect "one eta stands for every dimension" cmp -s "$out" one

# the moments of several eta are products of those of one
expect_status 0 kspec theory rbf --eta 4,1,0.25 -n 3 --json
cp "$out" all
for e in 4 1 0.25; do kspec theory rbf --eta $e -n 3 --json -o $e; done
cp all "$out"
expect_json 'all(close(j["moments"][k], math.prod(json.load(open(f))["moments"][k] for f in ("4", "1", "0.25")), 1e-13)
             for k in range(3))'

# eigenvalues decrease and their powers add up to the moments
expect_status 0 kspec theory rbf --eta 4,1 -n 3 --eigenvalues 2000 --json
expect_json 'len(j["eigenvalues"]) == 2000 and sorted(j["eigenvalues"], reverse=True) == j["eigenvalues"]'
expect_json 'all(close(math.fsum(x ** n for x in j["eigenvalues"]), j["moments"][n - 1], 1e-9) for n in (1, 2, 3))'
expect_status 0 kspec theory rbf --dim 5 --eta 4 --eigenvalues 7 --json
expect_json 'close(j["eigenvalues"][1], j["eigenvalues"][5], 1e-12) and j["eigenvalues"][0] > 1.5 * j["eigenvalues"][1]'
expect_status 0 kspec theory rbf --eta 1 --eigenvalues 3
# eta = 1: odd powers of the golden section
expect_stdout '^ +3  0\.09016994374947'

# extremes
expect_status 0 kspec theory rbf --eta 1e-300 --json
expect_json 'close(j["moments"][5], 1, 1e-12)'
expect_status 0 kspec theory rbf --eta 1e300 -n 3 --json
expect_json 'close(j["moments"][0], 1, 1e-12) and 0 <= j["moments"][2] < 1e-100'
expect_status 0 kspec theory rbf --eta 4 --dim 100000 -n 2 --json
expect_json 'j["moments"][1] == 0'
expect_error 2 '--dim: 2000000 exceeds 1000000' kspec theory rbf --eta 4 --dim 2000000

# --threads and --seed change nothing
expect_status 0 kspec theory rbf --dim 5 --eta 4 --json --threads 2 --seed 9
expect "theory does not depend on threads or seed" cmp -s "$out" one
done_testing
