# Fashion-MNIST, shortened: 128 of 1024 neurons give the unbiased moments of all of them, and not the naive
# ones. Fixed seeds: no false alarms once it passes. Were they not: 30 comparisons of normal numbers at 4
# standard errors fail once in 500 runs.
. "$(dirname "$0")/lib.sh"

find_data fashion/{train15k,t10k}-{images-idx3,labels-idx1}-ubyte.gz || exit 77
f=$data/fashion
fashion="--images $f/train15k-images-idx3-ubyte.gz --labels $f/train15k-labels-idx1-ubyte.gz
    --test-images $f/t10k-images-idx3-ubyte.gz --test-labels $f/t10k-labels-idx1-ubyte.gz --train-count 3000"
expect_status 0 kspec learn $fashion --width 1024 --seeds 4 --epochs 3 --every 3 --subsample 128 \
    --save-activations phi --json
expect_json '(j["train_count"], j["probe"], j["classes"], j["pixels_per_image"]) == (3000, 1000, 10, 784)'
expect_json 'all(r["epochs"][1]["accuracy"] > 0.75 and r["epochs"][1]["test_accuracy"] > 0.7
    for r in j["runs"])'
expect_json 'all(abs(e["unbiased_subsample"][n] - e["unbiased"][n]) < 4 * e["ratio_stderr_subsample"][n]
    for r in j["runs"] for e in r["epochs"] for n in (1, 2, 3))'
# the kernel of the initialisation has m(2) = 0.1506, by five networks of 1024 neurons
expect_json 'all(abs(r["epochs"][0]["unbiased"][1] - 0.1506) < 4 * r["epochs"][0]["ratio_stderr"][1]
    for r in j["runs"])'
cp "$out" wide.json

# the mean over many subsamples, at n = 2, by the sums themselves: that of the unbiased estimate is the
# estimate from all neurons; that of the naive one, each subsample divided by its own root mean square as the
# tool does it, is larger
cat >subsamples.py <<'END'
import json, sys
import numpy as np
rng = np.random.default_rng(1)
def both(F):
    P, Q = F.shape
    K, K2 = F @ F.T, F**2 @ (F**2).T
    off = ~np.eye(P, dtype=bool)
    return (K**2).sum() / (P * Q)**2, (K**2 - K2)[off].sum() / (P * (P - 1) * Q * (Q - 1))
e = json.load(open("wide.json"))["runs"][0]["epochs"][1]
F = np.load("phi/width-1024-seed-0-epoch-003.npy")
naive, unbiased = both(F)
if abs(e["naive"][1] / naive - 1) > 1e-9 or abs(e["unbiased"][1] / unbiased - 1) > 1e-9:
    sys.exit("kspec: %r %r, here: %r %r" % (e["naive"][1], e["unbiased"][1], naive, unbiased))
parts = [F[:, rng.permutation(1024)[:128]] for _ in range(60)]
draws = np.array([both(G) for G in parts])
draws[:, 0] /= np.array([(G**2).mean() for G in parts])**2
z = (draws.mean(0) - (naive, unbiased)) / (draws.std(0, ddof=1) / np.sqrt(60))
print("naive %+.1f, unbiased %+.1f standard errors off" % tuple(z))
sys.exit(not (z[0] > 4 and abs(z[1]) < 4))
END
expect_status 0 "$python" subsamples.py
cat "$out"

# the kernel of the initialisation does not depend on the width: six narrow networks, whose naive moments are
# a fifth larger
expect_status 0 kspec learn $fashion --width 32 --seeds 6 --epochs 0 --json
expect_json '(abs(sum(r["epochs"][0]["unbiased"][1] for r in j["runs"]) / 6 - 0.1506)
    < 4 * sum(r["epochs"][0]["ratio_stderr"][1] for r in j["runs"]) / 6 / 6 ** .5)'
expect_json 'sum(r["epochs"][0]["naive"][1] for r in j["runs"]) / 6 > 1.15 * 0.1506'
done_testing
