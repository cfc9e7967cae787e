# Small stacks: 256 kB are enough for every computation, in the main thread and in the others.
. "$(dirname "$0")/lib.sh"
if sanitized; then skip 'sanitizers need more stack'; fi
kspec generate rff --rows 60 --cols 40 --dim 2 --trials 4 -o trials.npy
kspec generate rff --rows 90 --cols 80 --dim 2 -o x.npy
kspec generate linear --rows 90 --cols 1 --dim 2 -o y.npy
py 'r = np.random.default_rng(0); np.save("images.npy", r.integers(0, 256, (60, 16)).astype(float));
np.save("labels.npy", np.arange(60) % 10)'

small() { bash -c 'ulimit -s 256 && exec "$0" "$@"' "$KSPEC" "$@"; }
methods=eigen,power,lanczos,rff-power,nystrom,rff-nystrom,rff-debiased
learn='--images images.npy --labels labels.npy --test-images images.npy'
for threads in 1 3; do
    for c in 'moments x.npy --estimator all -n 8' 'moments trials.npy --estimator all -n 6' \
        'moments x.npy --estimator exact -n 5 --sampled rows' 'dimension x.npy --curve' \
        'compare x.npy x.npy' \
        'spectrum x.npy' "norm x.npy --sigma 1 --method $methods" \
        'ridge x.npy --target y.npy --features 20 --lambda 0.1 --empirical 2' \
        'wls theory --grid 64 --learn 9 --modes 128 --alpha 1 --beta 1 --gamma 1 --empirical 2' \
        'wls features x.npy --target y.npy' 'theory rbf --eta 1,2 --eigenvalues 20' \
        'theory sphere --kernel ntk --dim 5 --degree 9' \
        "learn $learn --width 8 --epochs 2 --train-count 60 --probe 20" \
        'generate gaussian --rows 40 --cols 30 --dim 2 -o z.npy'; do
        expect_status 0 small $c --threads $threads --quiet
    done
done
expect_status 0 small moments "$fixtures/hdf5/single.h5" --quiet
done_testing
