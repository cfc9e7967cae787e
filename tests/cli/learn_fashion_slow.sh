# Fashion-MNIST, shortened: 128 of 1024 neurons give the unbiased moments of all of them, and not the naive ones. Fixed
# seeds: no false alarms once it passes. Were they not: 30 comparisons of normal numbers at 4 standard errors fail once in
# 500 runs.
. "$(dirname "$0")/lib.sh"

find_data fashion/train15k-images-idx3-ubyte.gz
[ -n "$data" ] || skip "no Fashion-MNIST"
f=$data/fashion
fashion="--images $f/train15k-images-idx3-ubyte.gz --labels $f/train15k-labels-idx1-ubyte.gz
    --test-images $f/t10k-images-idx3-ubyte.gz --test-labels $f/t10k-labels-idx1-ubyte.gz --train-count 3000"
expect_status 0 kspec learn $fashion --width 1024 --seeds 4 --epochs 3 --every 3 --subsample 128 --save-activations phi --json
expect_json '(j["train_count"], j["probe"], j["classes"], j["pixels_per_image"]) == (3000, 1000, 10, 784)'
expect_json 'all(r["epochs"][1]["accuracy"] > 0.75 and r["epochs"][1]["test_accuracy"] > 0.7 for r in j["runs"])'
expect_json 'all(abs(e["unbiased_subsample"][n] - e["unbiased"][n]) < 4 * e["stderr_subsample"][n]
    for r in j["runs"] for e in r["epochs"] for n in (1, 2, 3))'
# the initial kernel, of any width, is the same: 0.149 at n = 2, and it changes as the network learns
expect_json 'all(abs(r["epochs"][0]["unbiased"][1] - 0.15) < 4 * r["epochs"][0]["stderr"][1] for r in j["runs"])'
cp "$out" wide.json

# the mean over many subsamples, at n = 2, by the sums themselves: that of the unbiased estimate is the estimate from all
# neurons, that of the naive one is larger (all on one scale: a subsample's own root mean square would be a second estimate)
cat >subsamples.py <<'END'
import json, sys
import numpy as np
rng = np.random.default_rng(1)
def both(F):
    P, Q = F.shape
    K, K2 = F @ F.T, F**2 @ (F**2).T
    off = ~np.eye(P, dtype=bool)
    return (K**2).sum() / (P * Q)**2, (K**2 - K2)[off].sum() / (P * (P - 1) * Q * (Q - 1))
for r in json.load(open("wide.json"))["runs"][:1]:
    F = np.load("phi/width-1024-seed-%d-epoch-003.npy" % r["seed"])
    naive, unbiased = both(F)
    e = r["epochs"][1]
    if abs(e["naive"][1] / naive - 1) > 1e-9 or abs(e["unbiased"][1] / unbiased - 1) > 1e-9:
        sys.exit("kspec: %r %r, here: %r %r" % (e["naive"][1], e["unbiased"][1], naive, unbiased))
    draws = np.array([both(F[:, rng.permutation(1024)[:128]]) for _ in range(60)])
    z = (draws.mean(0) - (naive, unbiased)) / (draws.std(0, ddof=1) / np.sqrt(60))
    print("naive %+.1f, unbiased %+.1f standard errors off" % tuple(z))
    if not (z[0] > 4 and abs(z[1]) < 4):
        sys.exit(1)
END
expect_status 0 "$python" subsamples.py
cat "$out"

# a narrow network's naive moments are larger; the unbiased ones agree
expect_status 0 kspec learn $fashion --width 32 --seeds 6 --epochs 3 --every 3 --json
expect_json 'all(abs(sum(r["epochs"][e]["unbiased"][1] for r in j["runs"]) / 6 - w["epochs"][e]["unbiased"][1])
    < 4 * sum(r["epochs"][e]["stderr"][1] for r in j["runs"]) / 6 / 6 ** .5
    for w in json.load(open("wide.json"))["runs"][:1] for e in (0, 1))'
done_testing
