# --device with no GPU, and with the plain plugin of the tests in the place of libkspec_cuda.so.
. "$(dirname "$0")/lib.sh"
unset KSPEC_DEVICE
plain=$(dirname "$KSPEC")/tests/plain_plugin.so

kspec generate rff --rows 60 --cols 40 --dim 3 --seed 2 -o x.npy
expect_status 0 kspec moments x.npy -n 3 --json
expect_json 'j["device"] == "cpu" and "small" in j["device_reason"]'
expect_status 0 kspec moments x.npy -n 3 --device cpu --json
expect_json 'j["device"] == "cpu" and j["device_reason"] == "asked for"'
expect_error 2 "--device: device 'tpu' must be one of auto, cpu, gpu, gpu:0 ... gpu:255" \
    kspec moments x.npy --device tpu
expect_error 2 "KSPEC_DEVICE: device 'x' must be one of" env KSPEC_DEVICE=x "$KSPEC" moments x.npy

# a copy of the tool, beside which stands what the test puts there
mkdir tool
cp "$KSPEC" tool/kspec
tool=$PWD/tool/kspec
expect_status 0 "$tool" config
expect_stdout '^GPU +none: this installation has no libkspec_cuda.so$'
expect_status 0 "$tool" config --json
expect_json 'j["gpu"] is None and "libkspec_cuda.so" in j["gpu_problem"] and j["plugins"] == []'
expect_error 2 'no GPU can be used: this installation has no libkspec_cuda.so' \
    "$tool" moments x.npy --device gpu
expect_error 2 'no GPU can be used' env KSPEC_DEVICE=gpu:0 "$tool" moments x.npy

# what is not a plugin, and what anybody could have changed
echo text >tool/libkspec_cuda.so
expect_error 2 'no GPU can be used: .*/tool/libkspec_cuda.so' "$tool" moments x.npy --device gpu
cp "$plain" tool/libkspec_cuda.so
chmod o+w tool/libkspec_cuda.so
expect_error 2 'belongs neither to root nor to this user, or everybody can write to it' \
    "$tool" moments x.npy --device gpu
chmod 644 tool/libkspec_cuda.so

expect_status 0 "$tool" config
expect_stdout '^GPU +Plain 0, 17.2 GB, plain, CUDA 0.0 \(the first of several\)$'
expect_status 0 "$tool" moments x.npy -n 4 --estimator all --device gpu --json
expect_json 'j["device"] == "gpu:0 Plain 0" and j["device_reason"] == "asked for"'
cp "$out" gpu.json
expect_status 0 env KSPEC_DEVICE=gpu:1 "$tool" moments x.npy -n 4 --estimator all
expect_stdout '^on gpu:1 Plain 1$'
expect_status 0 "$tool" moments x.npy -n 4 --estimator all --device cpu --json
cp "$out" cpu.json
expect "the GPU's numbers are the processor's" "$python" -c "
import json
a, b = json.load(open('gpu.json')), json.load(open('cpu.json'))
for x, y in zip(a['estimates'], b['estimates'], strict=True):
    assert x['estimator'] == y['estimator'] and x['n'] == y['n']
    for k in ('value', 'stderr', 'ci_low', 'ci_high'):
        assert abs(x[k] - y[k]) <= 1e-8 * abs(y[k]), (x, y)
"
expect_status 0 "$tool" norm x.npy --method rff-power,rff-debiased --features 20 --device gpu
expect_stdout '^products and features on gpu:0 Plain 0$'
expect_status 0 "$tool" norm x.npy --method rff-power,rff-debiased --features 20 --device cpu --json
cp "$out" cpu.json
expect_status 0 "$tool" norm x.npy --method rff-power,rff-debiased --features 20 --device gpu --json
expect_json 'j["device"] == "gpu:0 Plain 0" and j["device_reason"] == "asked for"'
cp "$out" gpu.json
expect "random features on the GPU give the processor's norm" "$python" -c "
import json
a, b = json.load(open('gpu.json')), json.load(open('cpu.json'))
for x, y in zip(a['results'], b['results'], strict=True):
    assert x['method'] == y['method'] and abs(x['value'] - y['value']) <= 1e-10 * y['value'], (x, y)
"
expect_error 2 'there is no method of these on a GPU; use the cpu' \
    "$tool" norm x.npy --method eigen --device gpu
expect_error 2 'gpu:7 is not there: the last one is gpu:1' "$tool" moments x.npy --device gpu:7
expect_error 2 'there is no path of this order on a GPU; use the cpu' \
    "$tool" moments x.npy -n 20 --estimator path --no-stderr --device gpu
expect_error 2 'no GPU can be used: this machine has no GPU of NVIDIA' \
    env PLAIN_PLUGIN=none "$tool" moments x.npy --device gpu
expect_error 2 'no GPU can be used: gpu:0: the device is in use by another process' \
    env PLAIN_PLUGIN=broken "$tool" moments x.npy --device gpu
expect_error 1 'gpu:0 Plain 0: .*out of memory' \
    env PLAIN_PLUGIN=small "$tool" moments x.npy --estimator exact --device gpu

# auto, where the work is long enough for all processors, whatever --threads says: a GPU that fails leaves it
# to the processor, and says so
kspec generate rff --rows 1200 --cols 1500 --dim 3 -o y.npy
auto=(moments y.npy --estimator exact -n 4 --json)
for how in broken small; do
    [ $how = broken ] && threads=1 || threads=9
    expect_status 0 env KSPEC_THREADS=1 PLAIN_PLUGIN=$how "$tool" "${auto[@]}" --threads $threads
    expect_json 'j["device"] == "cpu" and [w[:20] for w in j["warnings"]] == ["the GPU is not used:"]'
    expect_stderr '^kspec: warning: the GPU is not used: gpu:0'
done
expect_status 0 env KSPEC_THREADS=1 PLAIN_PLUGIN=none "$tool" "${auto[@]}" --no-stderr
expect_json 'j["device"] == "cpu" and j["warnings"] == []'
expect_status 0 env KSPEC_THREADS=1000 PLAIN_PLUGIN=broken "$tool" "${auto[@]}" --threads 1 --no-stderr
expect_json 'j["device_reason"].startswith("the work is small")'

bench=$(dirname "$KSPEC")/bench/kspec-bench
if [ -x "$bench" ]; then
    cp "$bench" tool/
    bench=$PWD/tool/kspec-bench
    expect_status 0 "$bench" moments --device gpu --rows 9 --cols 9 --repeat 1 --json
    expect_json 'j["device"] == "gpu:0 Plain 0" and len(j["results"]) == 6'
    expect_status 0 env KSPEC_GPU_MEMORY=1e-6 "$bench" exact --device gpu --rows 30 --cols 30 \
        --repeat 1 --json
    expect_json "j['device'] == \"gpu:0 Plain 0, matrices in the host's memory\" and len(j['results']) == 3"
    expect_error 2 'bench norm: only moments, exact and ridge run on a GPU' "$bench" norm --device gpu
    expect_status 0 "$bench" ridge --device gpu --rows 30 --repeat 1 --json
    expect_json 'j["device"] == "gpu:0 Plain 0"'
    expect_json '[r["cpu_seconds"] > 0 for r in j["results"]] == [True] * 3'
fi
expect_error 2 "no GPU can be used: KSPEC_GPU_MEMORY: '0' must be a number of GB above 0" \
    env KSPEC_GPU_MEMORY=0 "$tool" moments x.npy --device gpu

# dimension and compare
kspec generate rff --rows 60 --cols 50 --dim 3 --seed 3 -o x2.npy
for what in "dimension x.npy --curve" "dimension x.npy x.npy --no-center" "compare x.npy x2.npy"; do
    expect_status 0 "$tool" $what --device cpu --json
    expect_json 'j["device"] == "cpu" and j["device_reason"] == "asked for"'
    cp "$out" cpu.json
    expect_status 0 "$tool" $what --json
    expect_json 'j["device"] == "cpu" and "small" in j["device_reason"]'
    expect_status 0 "$tool" $what --device gpu --json
    expect_json 'j["device"] == "gpu:0 Plain 0" and j["device_reason"] == "asked for"'
    cp "$out" gpu.json
    expect "$what: the GPU's numbers are the processor's" "$python" -c "
import json
a, b = json.load(open('gpu.json')), json.load(open('cpu.json'))
for k in ('dimension', 'other_dimension', 'ci_low', 'ci_high', 'naive', 'alignment', 'alignment_stderr',
          'alignment_biased'):
    if k in b:
        assert abs(a[k] - b[k]) <= 1e-8 * abs(b[k]), (k, a[k], b[k])
for x, y in zip(a.get('differences', []), b.get('differences', []), strict=True):
    assert x['what'] == y['what'] and abs(x['stderr'] - y['stderr']) <= 1e-7 * y['stderr'], (x, y)
"
    expect_status 0 "$tool" $what --device gpu:1
    expect_stdout '^on gpu:1 Plain 1$'
    expect_error 2 'no GPU can be used: gpu:0: the device is in use by another process' \
        env PLAIN_PLUGIN=broken "$tool" $what --device gpu
    expect_error 1 'gpu:0 Plain 0: .*out of memory' env PLAIN_PLUGIN=small "$tool" $what --device gpu
done

# spectrum: an eigenproblem that is large enough for the GPU
kspec generate rff --rows 300 --cols 260 --dim 3 --seed 4 -o y3.npy
expect_status 0 "$tool" spectrum y3.npy --device cpu --json
expect_json 'j["device"] == "cpu" and j["device_reason"] == "asked for"'
cp "$out" cpu.json
expect_status 0 "$tool" spectrum y3.npy --device gpu --json
expect_json 'j["device"] == "gpu:0 Plain 0" and j["device_reason"] == "asked for"'
cp "$out" gpu.json
expect "spectrum: the GPU's singular values and eigenvalues are the processor's" "$python" -c "
import json
a, b = json.load(open('gpu.json')), json.load(open('cpu.json'))
for k, within in ('singular_values', 1e-11), ('eigenvalues', 1e-7), ('ci_low', 1e-7), ('ci_high', 1e-7):
    for x, y in zip(a[k], b[k], strict=True):
        assert abs(x - y) <= within * b[k][0], (k, x, y)
"
expect_status 0 "$tool" spectrum x.npy --device gpu:1
expect_stdout '^on gpu:1 Plain 1$'
expect_error 2 'spectrum: --device needs an INPUT, not --moments' \
    "$tool" spectrum --moments 1,0.2 --device gpu
seq 60 | sed 's/^.$/a/' >groups.txt
expect_error 2 'there is no dimension of groups on a GPU; use the cpu' \
    "$tool" dimension x.npy --groups groups.txt --device gpu
kspec generate rff --rows 2000 --cols 2000 --dim 3 --noise 0.1 --trials 2 -o y2.npy
expect_status 0 env KSPEC_THREADS=1 PLAIN_PLUGIN=small "$tool" dimension y2.npy --json
expect_json 'j["device"] == "cpu" and [w[:20] for w in j["warnings"]] == ["the GPU is not used:"]'
rm y2.npy

# ridge
kspec generate linear --rows 90 --cols 20 --dim 5 -o z.npy
ridge=(ridge z.npy --target z.npy --target-cols 0-1 --test-noise 0.1 --scale --features 10,80 --lambda 1,1e-3)
expect_status 0 "$tool" "${ridge[@]}" --device gpu
expect_stdout '^predicted on gpu:0 Plain 0$'
expect_status 0 "$tool" "${ridge[@]}" --device cpu --json
expect_json 'j["device"] == "cpu" and j["device_reason"] == "asked for"'
cp "$out" cpu.json
expect_status 0 env KSPEC_DEVICE=gpu:1 "$tool" "${ridge[@]}" --json
expect_json 'j["device"] == "gpu:1 Plain 1" and j["device_reason"] == "asked for"'
cp "$out" gpu.json
expect "predictions on the GPU are the processor's" "$python" -c "
import json
a, b = json.load(open('gpu.json')), json.load(open('cpu.json'))
for x, y in zip(a['points'], b['points'], strict=True):
    for k in ('delta_cos', 'delta_sin', 'train_mse', 'test_mse', 'kernel_train_mse', 'kernel_test_mse'):
        assert abs(x[k] - y[k]) <= 1e-9 * y[k], (k, x, y)
"
expect_error 2 'no GPU can be used: gpu:0: the device is in use by another process' \
    env PLAIN_PLUGIN=broken "$tool" "${ridge[@]}" --device gpu
expect_error 1 'gpu:0 Plain 0: .*out of memory' env PLAIN_PLUGIN=small "$tool" "${ridge[@]}" --device gpu
expect_error 1 'gpu:0 Plain 0: 0.5 MB are needed, 0.1 MB are free' \
    env KSPEC_GPU_MEMORY=1e-4 "$tool" "${ridge[@]}" --device gpu
kspec generate linear --rows 800 --cols 5 --dim 3 -o w.npy
lambda=$(seq -s, 1 20)
expect_status 0 env KSPEC_THREADS=1 PLAIN_PLUGIN=small "$tool" ridge w.npy --target w.npy --target-cols 0 \
    --features 100 --scale --lambda "$lambda" --json
expect_json 'j["device"] == "cpu" and [w[:20] for w in j["warnings"]] == ["the GPU is not used:"]'
done_testing
