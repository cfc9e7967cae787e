# Closed forms on the sphere, of the linear kernel, and --check.
. "$(dirname "$0")/lib.sh"
sphere="kspec theory sphere --kernel"
sums='abs(sum(N * x for N, x in zip(j["multiplicities"], j["eigenvalues"])) - j["moments"][0])'

# three dimensions: Legendre; lambda_k of (1+t)^2 = 4/3, 2/3, 2/15
expect_status 0 $sphere polynomial --dim 3 --degree 4 --power 2 --json
expect_json 'j["command"] == "theory" and j["space"] == "sphere"'
expect_json 'j["kernel"] == "polynomial" and j["power"] == 2'
expect_json 'j["dim"] == 3 and j["degree"] == 4 and j["multiplicities"] == [1, 3, 5, 7, 9]'
expect_json 'all(close(a, b, 1e-15) for a, b in zip(j["eigenvalues"], (4 / 3, 2 / 3, 2 / 15)))'
expect_json 'j["eigenvalues"][3:] == [0, 0] and j["log_eigenvalues"][3:] == [None, None]' # above the power
expect_json 'len(j["moments"]) == 6 and close(j["moments"][0], 4, 1e-15)'
expect_json "$sums < 1e-14"
expect_status 0 $sphere ntk --dim 3 --degree 5
expect_stdout '^ +0  0\.5  +1$'
expect_stdout '^ +2  0\.078125  +5$'
expect_stdout '^ +3  0  +7$'
expect_stdout 'ReLU'
expect_status 0 $sphere ntk --dim 7 --json
expect_json 'j["degree"] == 10 and close(j["eigenvalues"][1], 1 / 7, 1e-15) and j["moments"][0] == 2'
expect_json '[k for k in range(11) if j["eigenvalues"][k] == 0] == [3, 5, 7, 9]'

# the circle: lambda_k = exp(-2/s^2) I_k(2/s^2)
expect_status 0 $sphere gaussian --dim 2 --scale 0.5 --degree 60 -n 2 --json
expect_json 'j["scale"] == 0.5 and j["multiplicities"] == [1] + [2] * 60 and close(j["moments"][0], 1, 1e-15)'
expect_json 'close(j["eigenvalues"][0], 0.14343178185685, 1e-12)' # scipy.special.ive(0, 8)
expect_json "$sums < 1e-14"
result "$out" >one
expect_status 0 $sphere gaussian --dim 2 --scale 0.5 --degree 60 -n 2 --json --threads 2 --seed 9
expect "theory does not depend on threads or seed" cmp -s <(result "$out") one

# logarithms where there is no double
expect_status 0 $sphere gaussian --dim 1000 --degree 1000 --scale 30 --json
expect_json 'j["eigenvalues"][1000] == 0 and j["multiplicities"][1000] is None'
expect_json 'len(j["log_eigenvalues"]) == 1001 and j["log_eigenvalues"][1000] < -10000'
expect_json '1381 < j["log_multiplicities"][1000] < 1382' # 10^599.9
expect_json 'all(isinstance(N, int) for N in j["multiplicities"][:5])'
expect_status 0 $sphere gaussian --dim 1000 --degree 1000 --scale 30
expect_stdout '^ +1000  exp\(-1[0-9]{4}\.[0-9]+\)  exp\(1381\.[0-9]+\)$'
expect_status 0 $sphere gaussian --dim 3 --scale 1e-6 -n 3
expect_stdout '^ +3  unknown$' # not in 100,000 degrees
expect_status 0 $sphere gaussian --dim 3 --scale 1e-6 -n 3 --json
expect_json 'j["moments"][2] is None and j["log_moments"][2] is None'
expect_status 0 $sphere polynomial --dim 2 --power 2000 -n 1 --json
expect_json 'j["moments"] == [None] and close(j["log_moments"][0], 2000 * math.log(2), 1e-15)'

# --check: what the listed eigenvalues hold of each moment that is a closed form
expect_status 0 $sphere gaussian --dim 5 --degree 60 --check --json
expect_json '[c["n"] for c in j["check"]] == [1, 2]'
expect_json 'all(abs(c["discrepancy"]) < 1e-14 for c in j["check"])'
expect_json 'all(close(c["sum"], c["moment"], 1e-14) for c in j["check"])'
expect_status 0 $sphere ntk --dim 3 --degree 6 --check --json
expect_json '-0.03 < j["check"][0]["discrepancy"] < -0.02 and -2e-5 < j["check"][1]["discrepancy"] < -1e-5'
# multiplicities beyond double
expect_status 0 $sphere gaussian --dim 1000 --scale 0.05 --degree 1000 --check --json
expect_json 'j["check"][0]["moment"] == 1 and j["check"][0]["discrepancy"] >= -1'
expect_status 0 $sphere ntk --dim 3 -n 1 --check
expect_stdout 'sum over 11 '

# linear
expect_status 0 kspec theory linear --eigenvalue 0.3 --dim 20 -n 3 --check --json
expect_json 'j["kernel"] == "linear" and j["dim"] == 20'
expect_json 'j["eigenvalues"] == [0.3] and j["multiplicities"] == [20]'
expect_json 'all(close(j["moments"][n - 1], 20 * 0.3 ** n, 1e-15) for n in (1, 2, 3))'
expect_json 'all(abs(c["discrepancy"]) < 1e-14 for c in j["check"]) and len(j["check"]) == 3'
expect_json 'close(j["log_eigenvalues"][0], math.log(0.3), 1e-15)'
expect_json 'close(j["log_multiplicities"][0], math.log(20), 1e-15)'
expect_status 0 kspec theory linear --eigenvalue 1,3,1,0,2 -n 2 --json
expect_json 'j["eigenvalues"] == [3, 2, 1, 0] and j["multiplicities"] == [1, 1, 2, 1] and j["dim"] == 5'
expect_json 'j["moments"] == [7, 15] and j["log_eigenvalues"][3] is None'
expect_status 0 kspec theory linear --eigenvalue 0 --check --json
expect_json 'j["moments"] == [0] * 6 and all(c["discrepancy"] == 0 for c in j["check"])'

# wrong usage
expect_error 2 '--kernel is missing' kspec theory sphere --dim 3
expect_error 2 '--dim is missing' $sphere ntk
expect_error 2 "'cauchy' must be one of gaussian, polynomial, ntk" $sphere cauchy --dim 3
expect_error 2 'dimension 1 is not between 2 and 1000' $sphere ntk --dim 1
expect_error 2 'dimension 1001 is not' $sphere ntk --dim 1001
expect_error 2 '--degree: 1001 exceeds 1000' $sphere ntk --dim 3 --degree 1001
expect_error 2 '--degree: 9223372036854775807 exceeds' $sphere ntk --dim 3 --degree 9223372036854775807
expect_error 2 'scale 0 is not between' $sphere gaussian --dim 3 --scale 0
expect_error 2 'scale -1 is not between' $sphere gaussian --dim 3 --scale -1
expect_error 2 "--scale: 'nan' is not a finite number" $sphere gaussian --dim 3 --scale nan
expect_error 2 "--power: '-1' is not a whole number" $sphere polynomial --dim 3 --power -1
expect_error 2 'power 200000 is not' $sphere polynomial --dim 3 --power 200000
expect_error 2 'ntk takes no --scale' $sphere ntk --dim 3 --scale 1
expect_error 2 'gaussian takes no --power' $sphere gaussian --dim 3 --power 1
expect_error 2 'polynomial takes no --scale' $sphere polynomial --dim 3 --scale 1
expect_error 2 'theory sphere takes no --eta' $sphere ntk --dim 3 --eta 4
expect_error 2 'theory sphere takes no --eigenvalues' $sphere ntk --dim 3 --eigenvalues 4
expect_error 2 'theory rbf takes no --kernel' kspec theory rbf --eta 4 --kernel ntk
expect_error 2 'theory linear takes no --degree' kspec theory linear --eigenvalue 4 --degree 0
expect_error 2 '--eigenvalue is missing' kspec theory linear --dim 4
expect_error 2 '2 eigenvalues for dimension 3' kspec theory linear --eigenvalue 1,2 --dim 3
expect_error 2 'eigenvalue -1 is not between' kspec theory linear --eigenvalue -1
done_testing
