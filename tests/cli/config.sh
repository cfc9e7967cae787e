# What the tool is made of, and the environment that changes it.
. "$(dirname "$0")/lib.sh"

expect_status 0 kspec config
expect_stdout '^version +[0-9]+\.[0-9]+\.[0-9]+$'
expect_stdout '^instruction set +(generic|avx2|avx512)$'
expect_stdout '^BLAS +OpenBLAS'
expect_stdout '^threads +[0-9]+$'
expect_status 0 kspec config --json
expect_json 'j["command"] == "config" and j["threads"] >= 1'
expect_json 'j["isa"] in ("generic", "avx2", "avx512", "neon")'
expect_json '"OpenBLAS" in j["blas"] and j["version"].count(".") == 2'

expect_status 0 env KSPEC_ISA=generic "$KSPEC" config --json
expect_json 'j["isa"] == "generic"'
expect_status 0 env KSPEC_ISA= "$KSPEC" config
expect_status 0 env KSPEC_THREADS=3 "$KSPEC" config --json
expect_json 'j["threads"] == 3'

# every command refuses an instruction set that is none
kspec generate rff --rows 4 --cols 4 --dim 1 -o x.npy
for c in config 'theory rbf --eta 1' 'moments x.npy -n 1' 'completion bash' \
    'generate rff --rows 2 --cols 2 --dim 1 -o y.npy'; do
    expect_error 2 'KSPEC_ISA=sse must be one of generic, avx2, avx512' env KSPEC_ISA=sse "$KSPEC" $c
done
expect_files x.npy
expect_status 0 env KSPEC_ISA=sse "$KSPEC" moments -h

# each instruction set that this processor has gives the same numbers
kspec generate rff --rows 30 --cols 40 --dim 3 --seed 5 -o x.npy
for isa in generic avx2 avx512 neon; do
    KSPEC_ISA=$isa kspec config >"$out" 2>"$err" || { echo "no $isa here"; continue; }
    expect_status 0 env KSPEC_ISA=$isa "$KSPEC" generate rff --rows 30 --cols 40 --dim 3 --seed 5 -o $isa.npy
    expect_status 0 env KSPEC_ISA=$isa "$KSPEC" moments x.npy --estimator all -n 4 --json
    cp "$out" $isa.json
    expect_status 0 env KSPEC_ISA=$isa "$KSPEC" theory rbf --eta 1,2 --eigenvalues 5
    cp "$out" $isa.txt
    expect "theory is the same with $isa" cmp -s $isa.txt generic.txt
    expect "the features are the same with $isa" "$python" -c "
import json, numpy as np
a, b = np.load('$isa.npy'), np.load('generic.npy')
assert a.shape == (30, 40) and np.abs(a - b).max() < 1e-12
a, b = (json.load(open(f)) for f in ('$isa.json', 'generic.json'))
assert len(a['estimates']) == len(b['estimates']) >= 18
for x, y in zip(a['estimates'], b['estimates']):
    for key in 'value', 'stderr', 'ci_low', 'ci_high', 'root':
        assert abs(x[key] - y[key]) <= 1e-9 * max(abs(y[key]), abs(y['stderr'])), (x, y)"
done
done_testing
