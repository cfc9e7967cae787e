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
result "$out" >one
expect_status 0 kspec theory rbf --eta 4,4,4,4,4 --json
expect "one eta stands for every dimension" cmp -s <(result "$out") one

# the moments of several eta are products of those of one
expect_status 0 kspec theory rbf --eta 4,1,0.25 -n 3 --json
cp "$out" all
for e in 4 1 0.25; do kspec theory rbf --eta $e -n 3 --json -o $e; done
cp all "$out"
expect_json 'all(close(j["moments"][k],
    math.prod(json.load(open(f))["moments"][k] for f in ("4", "1", "0.25")), 1e-13) for k in range(3))'

# eigenvalues decrease and their powers add up to the moments
expect_status 0 kspec theory rbf --eta 4,1 -n 3 --eigenvalues 2000 --json
expect_json 'len(j["eigenvalues"]) == 2000 and sorted(j["eigenvalues"], reverse=True) == j["eigenvalues"]'
expect_json 'all(close(math.fsum(x ** n for x in j["eigenvalues"]), j["moments"][n - 1], 1e-9)
    for n in (1, 2, 3))'
expect_status 0 kspec theory rbf --dim 5 --eta 4 --eigenvalues 7 --json
expect_json 'close(j["eigenvalues"][1], j["eigenvalues"][5], 1e-12)'
expect_json 'j["eigenvalues"][0] > 1.5 * j["eigenvalues"][1]'
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

# --check: how much of each moment the largest eigenvalues hold; without --eigenvalues, a million that are not
# listed
expect_status 0 kspec theory rbf --eta 4,1 -n 3 --eigenvalues 3 --check --json
expect_json 'all(close(c["sum"], sum(x ** c["n"] for x in j["eigenvalues"]), 1e-14) for c in j["check"])'
expect_json 'all(close(c["discrepancy"], c["sum"] / c["moment"] - 1, 1e-12) for c in j["check"])'
expect_json '[c["n"] for c in j["check"]] == [1, 2, 3] and -0.52 < j["check"][0]["discrepancy"] < -0.519'
expect_status 0 kspec theory rbf --eta 4,1 --check --json
expect_json '"eigenvalues" not in j and all(abs(c["discrepancy"]) < 1e-14 for c in j["check"])'
expect_status 0 kspec theory rbf --eta 4 --eigenvalues 2 --check
expect_stdout 'sum over 2 '

# Sigma and Sigma_x from files of any kind: the eta of a pair that is known, whatever the basis
py 'T = np.array([[3, 1, 0], [0, 2, 1], [1, 0, 2.]]); np.save("S.npy", T @ T.T)
np.savez("x.npz", a=T @ np.diag([4, 1, 0.25]) @ T.T, b=T @ np.diag([4, 1, 0]) @ T.T)
np.savetxt("I.csv", np.eye(3), delimiter=","); np.savetxt("wide.csv", np.ones((2, 3)), delimiter=",")
np.savetxt("I2.csv", np.eye(2), delimiter=","); np.save("three.npy", np.ones((2, 3, 3)))
np.savetxt("bad.csv", [[1, 2], [2, 1]], delimiter=",")
np.savetxt("skew.csv", [[1, .5], [.4, 1]], delimiter=",")
np.savetxt("nan.csv", [[1, np.nan], [np.nan, 1]], delimiter=",")
np.savetxt("inf.csv", [[1, np.inf], [np.inf, 1]])'
expect_status 0 kspec theory rbf --eta 4,1,0.25 -n 5 --eigenvalues 9 --json
cp "$out" want
expect_status 0 kspec theory rbf --sigma S.npy --sigma-x x.npz:a -n 5 --eigenvalues 9 --json
expect_json 'j["dim"] == 3 and all(close(a, b, 1e-12) for a, b in zip(j["eta"], (4, 1, 0.25)))'
expect_json 'all(close(a, b, 1e-12) for k in ("moments", "eigenvalues")
    for a, b in zip(j[k], json.load(open("want"))[k]))'
# the inputs do not vary in one direction
expect_status 0 kspec theory rbf --sigma S.npy --sigma-x x.npz:b -n 5
expect_stdout 'in 3 dimensions, in 2 of which they vary'
expect_status 0 kspec theory rbf --sigma S.npy --sigma-x x.npz:b -n 5 --json
expect_json 'j["dim"] == 3 and len(j["eta"]) == 2'
expect_status 0 kspec theory rbf --sigma-x I.csv --dim 3 --json
expect_json 'j["eta"] == [1, 1, 1]'
expect_status 0 kspec theory rbf --sigma I.csv --json
expect_json 'j["eta"] == [1, 1, 1]'
expect_error 3 'Sigma is not positive definite: the smallest of its 2 eigenvalues is -1, the largest 3' \
    kspec theory rbf --sigma bad.csv
expect_error 3 'Sigma_x is not positive semidefinite: the smallest of its 2 eigenvalues is -1' \
    kspec theory rbf --sigma-x bad.csv
expect_error 3 'Sigma is not symmetric: entry \(1,0\) \(from 0\) is 0.4 and \(0,1\) is 0.5' \
    kspec theory rbf --sigma skew.csv
expect_error 3 '--sigma: wide.csv is 2 x 3, not square' kspec theory rbf --sigma wide.csv
expect_error 3 'three.npy holds 2 trials; one matrix is expected' kspec theory rbf --sigma-x three.npy
expect_error 3 'Sigma has 3 dimensions, Sigma_x 2' kspec theory rbf --sigma I.csv --sigma-x I2.csv
expect_error 3 'nan.csv' kspec theory rbf --sigma nan.csv
expect_error 3 'infinite' kspec theory rbf --sigma-x inf.csv
expect_error 3 'cannot open none.npy' kspec theory rbf --sigma none.npy
expect_error 2 '--dim is 2, but I.csv has 3 dimensions' kspec theory rbf --sigma I.csv --dim 2
expect_error 2 'takes --eta or --sigma and --sigma-x, not both' kspec theory rbf --sigma I.csv --eta 2
expect_error 2 '--eta, or --sigma and --sigma-x, is missing' kspec theory rbf --dim 2

# --eigenfunctions: products of Hermite functions, for each point in the order of the eigenvalues
printf '0,0\n1,-2\n0.5,0.25\n' >at.csv
expect_status 0 kspec theory rbf --eta 2,0.5 --eigenvalues 400 --eigenfunctions at.csv --json
expect_json '[len(f) for f in j["eigenfunctions"]] == [400] * 3'
expect_json 'j["points"] == [[0, 0], [1, -2], [0.5, 0.25]]'
cp "$out" functions.json
py 'import json; j = json.load(open("functions.json")); x = np.loadtxt("at.csv", delimiter=",")
f, l = np.array(j["eigenfunctions"]), np.array(j["eigenvalues"])
k = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2 @ [2, 0.5]))
assert abs((f * l) @ f.T - k).max() < 1e-9'
expect_status 0 kspec theory rbf --eta 1 --dim 2 --eigenfunctions at.csv
expect_stdout 'eigenfunction at point 1 to 3'
expect_error 3 '--eigenfunctions: at.csv has points in 2 dimensions, --dim is 1' \
    kspec theory rbf --eta 1 --eigenfunctions at.csv
printf '0.5\n-1\n2\n' >line.csv
expect_status 0 kspec theory rbf --eta 1 --eigenvalues 3 --eigenfunctions line.csv --plot line.gp
expect 'three curves over the sorted points' "$python" -c '
text = open("line.gp").read()
assert all(f"k = {k}" in text for k in (1, 2, 3)) and "k = 4" not in text
block = text.split("$p2s0 << END")[1].split("END")[0]
assert [float(line.split()[0]) for line in block.strip().splitlines()] == [-1, 0.5, 2]'
expect_error 2 '--eigenfunctions needs --eta' kspec theory rbf --sigma I2.csv --eigenfunctions at.csv

# --threads and --seed change nothing
expect_status 0 kspec theory rbf --dim 5 --eta 4 --json --threads 2 --seed 9
expect "theory does not depend on threads or seed" cmp -s <(result "$out") one
done_testing
