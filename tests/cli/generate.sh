# Matrices whose kernel is known.
. "$(dirname "$0")/lib.sh"
gen="kspec generate rff --rows 7 --cols 5 --dim 2 --seed 3"

# the same numbers in every format
expect_status 0 $gen -o x.npy
expect "nothing is printed" [ ! -s "$out" ]
expect_status 0 $gen -o x.csv
expect_status 0 $gen -o x.json
kspec generate rff --rows 7 --cols 5 --dim 2 --seed 3 -o - >y.npy
expect "- is npy" cmp -s x.npy y.npy
expect "npy, csv and json agree" "$python" -c '
import json, numpy as np
a = np.load("x.npy")
assert a.shape == (7, 5) and a.dtype == "<f8" and np.abs(a).max() <= 2 ** 0.5
assert (np.loadtxt("x.csv", delimiter=",") == a).all()
assert (np.array(json.load(open("x.json"))) == a).all()'
expect_files x.npy x.csv x.json y.npy

# the same bytes at any number of threads, for every process, also where there are many bands of rows
py 'np.savetxt("S.csv", [[2, 1, 0], [1, 2, 0], [0, 0, 1.]], delimiter=",")
np.save("x.npy", np.diag([3, 0, 1.]))'
for what in 'rff --dim 3 --eta 2' 'gaussian --dim 3 --eta 1,2,3' 'linear --eigenvalue 3,2' \
    'rff --sigma S.csv --sigma-x x.npy' \
    'gaussian --sigma-x S.csv --noise-correlation both --noise-share 0.5'; do
    for shape in '--rows 300 --cols 70' '--rows 9 --cols 1'; do
        for threads in 1 2 7; do
            expect_status 0 kspec generate $what $shape --seed 8 --noise 0.5 --trials 2 \
                --threads $threads -o t$threads.npy
        done
        expect "$what $shape: 2 threads" cmp -s t1.npy t2.npy
        expect "$what $shape: 7 threads" cmp -s t1.npy t7.npy
    done
done
kspec generate rff --rows 5000 --cols 700 --dim 2 --threads 1 -o t1.npy
kspec generate rff --rows 5000 --cols 700 --dim 2 --threads 7 -o t7.npy
expect "several bands" cmp -s t1.npy t7.npy
fresh

# another seed is another matrix; without noise all trials are alike, with noise none
$gen -o a.npy
kspec generate rff --rows 7 --cols 5 --dim 2 --seed 4 -o b.npy
expect "seeds differ" eval '! cmp -s a.npy b.npy'
$gen --trials 3 -o t.npy
$gen --trials 3 --noise 0.1 -o n.npy
expect "trials" "$python" -c '
import numpy as np
a, t, n = np.load("a.npy"), np.load("t.npy"), np.load("n.npy")
assert t.shape == n.shape == (3, 7, 5) and (t == a).all()
assert (n[0] != n[1]).all() and 0.01 < np.abs(n - t).max() < 1'

# --json says what was made
expect_status 0 $gen --trials 2 -o x.npy --json
expect_json 'j["command"] == "generate" and j["process"] == "rff" and j["output"] == "x.npy"'
expect_json '(j["trials"], j["rows"], j["cols"], j["dim"], j["seed"]) == (2, 7, 5, 2, 3)'
expect_status 0 kspec generate linear --rows 2 --cols 3 --eigenvalue 1,2,3,4 --json -o x.npy
expect_json 'j["dim"] == 4'
expect_status 0 $gen -o $'\xff.npy' --json # not UTF-8
expect_json 'j["output"] == "?.npy"'
expect_status 0 $gen -o é.npy --json
expect_json 'j["output"] == "é.npy"'

# what is missing or does not fit
expect_error 2 '-o FILE is missing' kspec generate rff --rows 2 --cols 2 --dim 1
expect_error 2 '--rows is missing' kspec generate rff --cols 2 --dim 1 -o z.npy
expect_error 2 '--cols is missing' kspec generate rff --rows 2 --dim 1 -o z.npy
expect_error 2 '--dim is missing' kspec generate rff --rows 2 --cols 2 -o z.npy
expect_error 2 'linear takes no --eta' kspec generate linear --rows 2 --cols 2 --eta 2 -o z.npy
expect_error 2 'rff takes no --eigenvalue' kspec generate rff --rows 2 --cols 2 --eigenvalue 2 -o z.npy
expect_error 2 '2 values of eta for dimension 3' \
    kspec generate rff --rows 2 --cols 2 --dim 3 --eta 1,2 -o z.npy
expect_error 2 'suffix must be one of .npy, .csv, .json' $gen -o z.txt
expect_error 2 'suffix must be one of' $gen -o z
expect_error 2 'csv takes 2 axes, not 3' $gen --trials 2 -o z.csv
expect_error 2 'would both write to standard output' $gen -o - --json
expect_error 2 '30000 rows exceed 20000' kspec generate gaussian --rows 30000 --cols 1 --dim 1 -o z.npy
expect "nothing was written" [ -z "$(ls | grep '^z')" ]

# Sigma and Sigma_x
py 'np.savetxt("S.csv", [[2, 1], [1, 2.]], delimiter=","); np.savetxt("I.csv", np.eye(2), delimiter=",")
np.savetxt("bad.csv", [[1, 2], [2, 1.]], delimiter=",")
np.savetxt("wide.csv", np.ones((2, 3)), delimiter=",")'
expect_status 0 kspec generate rff --rows 2000 --cols 1000 --sigma S.csv --sigma-x I.csv \
    --seed 4 -o c.npy --json
expect_json 'j["dim"] == 2'
kspec theory rbf --sigma S.csv --sigma-x I.csv --json -o truth.json
expect_status 0 kspec moments c.npy -n 3 --estimator naive --truth truth.json --json
expect_json 'close(m("naive", 1), 1, 0.05) and close(m("naive", 2), j["truth"][1], 0.1)'
expect_status 0 kspec generate rff --rows 9 --cols 8 --sigma I.csv --seed 4 -o c.npy
expect_status 0 kspec generate rff --rows 9 --cols 8 --dim 2 --seed 4 -o d.npy
expect "the identity is eta = 1" "$python" -c 'import numpy as np
assert np.allclose(np.load("c.npy"), np.load("d.npy"), atol=1e-14)'
sig="kspec generate rff --rows 9 --cols 8 -o z.npy"
expect_error 3 'Sigma is not positive definite: the smallest of its 2 eigenvalues is -1, the largest 3' \
    $sig --sigma bad.csv
expect_error 3 'Sigma_x is not positive semidefinite: the smallest' $sig --sigma-x bad.csv
expect_error 3 '--sigma: wide.csv is 2 x 3, not square' $sig --sigma wide.csv
expect_error 3 'cannot open none.csv' $sig --sigma none.csv
expect_error 2 '--dim is 3, but S.csv has 2 dimensions' $sig --sigma S.csv --dim 3
expect_error 2 'eta and Sigma, Sigma_x cannot be combined \(--eta\)$' $sig --sigma S.csv --eta 3
expect_error 2 'generate linear takes no --sigma-x' \
    kspec generate linear --rows 2 --cols 2 --sigma-x S.csv -o z.npy

# correlated noise of a matrix that is 0
noise="kspec generate linear --rows 7 --cols 5 --eigenvalue 0 --noise 2 --trials 2 -o n.npy"
$noise --noise-correlation rows
expect "shared by a row" "$python" -c 'import numpy as np
n = np.load("n.npy"); assert n.std() > 0.5 and (n == n[:, :, :1]).all() and (n[0] != n[1]).all()'
$noise --noise-correlation cols
expect "shared by a column" "$python" -c 'import numpy as np
n = np.load("n.npy"); assert n.std() > 0.5 and (n == n[:, :1, :]).all() and (n[0] != n[1]).all()'
$noise --noise-correlation both
expect "shared by both" "$python" -c 'import numpy as np
n = np.load("n.npy"); r = n - n[:, :1] - n[:, :, :1] + n[:, :1, :1]
assert n.std() > 0.5 and abs(r).max() < 1e-14'
$noise --noise-correlation rows --noise-share 0.25
expect "a share of it" "$python" -c 'import numpy as np
assert (np.load("n.npy").std(axis=2) > 0.1).all()'
expect_error 2 "'diagonal' must be one of rows, cols, both" $noise --noise-correlation diagonal
expect_error 2 '--noise-share: 0 is not above 0 and at most 1' $noise --noise-correlation rows --noise-share 0
expect_error 2 '--noise-share: 1.5 is not above 0' $noise --noise-correlation rows --noise-share 1.5
expect_error 2 '--noise-share needs --noise-correlation' $noise --noise-share 0.5
expect_error 2 '--noise-correlation needs --noise' $gen --noise-correlation rows -o z.npy
expect_error 1 'the generator needs [0-9.]+ MB, [0-9.]+ MB are available' \
    kspec generate rff --rows 2 --cols 1000000000 --dim 1000000 -o z.npy

# 640 MB pass through less than 200 MB of memory, of which sanitizers take several times as much
sanitized || expect "the matrix is not held" "$python" -c '
import resource, subprocess, sys
for what in ["rff", "--dim", "3"], ["linear", "--eigenvalue", "2,1"]:
    subprocess.run([sys.argv[1], "generate", *what, "--rows", "4000", "--cols", "20000", "--noise", "1",
                    "--noise-correlation", "cols", "--threads", "2", "-o", "/dev/null"], check=True)
held = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print("held at most %.0f MB" % held)
assert held < 200' "$KSPEC"

# the moments of what was made are those of the kernel
kspec generate linear --rows 400 --cols 300 --eigenvalue 2,1,0.5 --seed 1 -o l.npy
expect_status 0 kspec moments l.npy -n 3 --estimator all --json
expect_json 'abs(m("naive", 1) - 3.5) < 0.7 and abs(m("kv-row", 2) - 5.25) < 2'
kspec generate gaussian --rows 200 --cols 600 --dim 2 --eta 2 --seed 1 -o g.npy
kspec theory rbf --dim 2 --eta 2 --json -o truth.json
expect_status 0 kspec moments g.npy -n 3 --estimator all --truth truth.json --json
expect_json 'abs(m("naive", 1) - 1) < 0.2 and close(m("kv-row", 2), j["truth"][1], 0.3)'

# through a pipe
expect_status 0 bash -c 'set -o pipefail
    "$0" generate rff --rows 20 --cols 30 --dim 2 -o - | "$0" moments - --json' "$KSPEC"
expect_json 'j["rows"] == 20 and j["cols"] == 30 and j["trials"] == 1'
done_testing
