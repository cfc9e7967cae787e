# kspec learn: data, options, output, checkpoints, and what it refuses.
. "$(dirname "$0")/lib.sh"

py "
rng = np.random.default_rng(1)
centre = 2 * rng.standard_normal((3, 12))
def make(n):
    y = np.arange(n) % 3
    return 100 + 30 * (rng.standard_normal((n, 12)) + centre[y]), y
x, y = make(200); t, s = make(60)
np.save('x.npy', x); np.save('y.npy', y); np.save('t.npy', t); np.save('s.npy', s)
np.save('x3.npy', x.reshape(200, 3, 4)); np.save('t3.npy', t.reshape(60, 3, 4))
np.savetxt('x.csv', x, delimiter=',', fmt='%.17g'); np.savetxt('y.csv', y, fmt='%d')
np.save('short.npy', y[:-1]); np.save('narrow.npy', t[:, :5]); np.save('two.npy', np.stack([y, y], 1))
np.save('black.npy', 0 * x)
for name, value in ('negative', -1), ('half', 0.5), ('nan', np.nan), ('large', 1e6):
    bad = y.astype(float); bad[7] = value; np.save(name + '.npy', bad)
bad = x.copy(); bad[5, 2] = np.nan; np.save('xnan.npy', bad); bad[5, 2] = np.inf; np.save('xinf.npy', bad)
"
files="--images x.npy --labels y.npy --test-images t.npy"
quick="$files --width 12 --epochs 2"

# the table and the object
expect_status 0 kspec learn $files --test-labels s.npy --width 6,20 --epochs 6 --subsample 10
expect_stdout '^200 training images × 12 pixels, 3 classes; Φ from 60 test images$'
estimates='naive +unbiased +std. error'
expect_stdout "width +seed +epoch +loss +accuracy +test +n +$estimates +10: $estimates\$"
expect_stdout '^ +20 +0 +6 +0\.[0-9]+ +[01]\.[0-9]+ +[01]\.[0-9]+ +2( +[0-9.]+){6}$'
expect_stdout '^ +6 +0 +6 +0\.[0-9]+ +[01]\.[0-9]+ +[01]\.[0-9]+ +2( +[0-9.]+){3}$'
expect_stdout '^width 20: .* s of training at .* Gfma/s'
expect_status 0 kspec learn $files --test-labels s.npy --width 6,20 --epochs 6 --subsample 10 --seeds 2 --json
cp "$out" first.json
expect_json '[(r["width"], r["seed"]) for r in j["runs"]] == [(6, 0), (6, 1), (20, 0), (20, 1)]'
expect_json 'all([e["epoch"] for e in r["epochs"]] == [0, 2, 4, 6] for r in j["runs"])'
expect_json 'all(len(e[k]) == 4 and close(e[k][0], 1, 1e-12)
    for r in j["runs"] for e in r["epochs"] for k in ("naive", "unbiased"))'
expect_json 'all(len(e["stderr"]) == 4 == len(e["naive_stderr"]) for r in j["runs"] for e in r["epochs"])'
expect_json 'all(e["ratio_stderr"][1] > 0 == e["ratio_stderr"][0] for r in j["runs"] for e in r["epochs"])'
expect_json 'all(e["naive"][1] > e["unbiased"][1] for r in j["runs"] for e in r["epochs"])'
expect_json 'all(e[k] is None for e in j["runs"][0]["epochs"]
    for k in ("naive_subsample", "unbiased_subsample"))'
expect_json 'all(len(e[k]) == 4 for e in j["runs"][2]["epochs"]
    for k in ("naive_subsample", "unbiased_subsample", "stderr_subsample", "naive_stderr_subsample",
    "ratio_stderr_subsample", "naive_ratio_stderr_subsample"))'
expect_json 'all(r["epochs"][-1]["loss"] < r["epochs"][0]["loss"] for r in j["runs"])'
expect_json 'all(0 <= r["epochs"][-1]["test_accuracy"] <= 1 for r in j["runs"])'
expect_json '(j["train_count"], j["test_count"], j["probe"]) == (200, 60, 60)'
expect_json '(j["pixels_per_image"], j["classes"]) == (12, 3)'
expect_json 'all(r["gfma_per_s"] > 0 and r["resumed"] == 0
    and r["unbiased_by"] == ["exact"] * 4 for r in j["runs"])'

# the same losses and moments at any number of threads, from any format, and from an array of matrices
same='len(j["runs"]) == 4 and all(a["epochs"] == b["epochs"]
    for a, b in zip(j["runs"], json.load(open("first.json"))["runs"]))'
options="--test-labels s.npy --width 6,20 --epochs 6 --subsample 10 --seeds 2 --json"
for threads in 1 2 3; do
    expect_status 0 kspec learn $files $options --threads $threads
    expect_json "$same"
done
expect_status 0 kspec learn --images x.csv --labels y.csv --test-images t3.npy $options
expect_json "$same"
expect_status 0 kspec learn --images x3.npy --labels y.npy --test-images t.npy $options
expect_json "$same"
expect_status 0 kspec learn $files $options --seed 1
expect_json 'j["runs"][0]["epochs"] == json.load(open("first.json"))["runs"][1]["epochs"] and not '"($same)"

# few images: the batch is no larger
expect_status 0 kspec learn --images t.npy --labels s.npy --test-images t.npy --train-count 9 \
    --width 12 --epochs 2 --json
expect_json 'j["batch"] == 9 and j["every"] == 2 and j["orders"] == 4'

# options change what they should
expect_status 0 kspec learn $quick --json
expect_json 'j["runs"][0]["epochs"][0]["test_accuracy"] is None'
expect_json '"naive_subsample" not in j["runs"][0]["epochs"][0]'
cp "$out" quick.json
changed='j["runs"][0]["epochs"][-1]["loss"] != json.load(open("quick.json"))["runs"][0]["epochs"][-1]["loss"]'
for o in '--batch 8' '--learning-rate 0.05' '--rate-power 0.5' '--hidden-power 0' '--output-power 0' \
    '--pixels 255' '--train-count 150' '--seed 3' '--classes 4'; do
    expect_status 0 kspec learn $quick --json $o
    expect_json "$changed"
done
expect_status 0 kspec learn $quick --json --probe 30 --every 1 -n 2
expect_json 'j["probe"] == 30 and len(j["runs"][0]["epochs"]) == 3'
expect_json 'len(j["runs"][0]["epochs"][0]["naive"]) == 2'
expect_status 0 kspec learn $quick --json --epochs 0
expect_json 'j["runs"][0]["epochs"] == json.load(open("quick.json"))["runs"][0]["epochs"][:1]'
expect_json 'j["runs"][0]["gfma_per_s"] is None'
expect_status 0 kspec learn $quick --json --epochs 5
expect_json '[e["epoch"] for e in j["runs"][0]["epochs"]] == [0, 2, 4, 5]'
expect_status 0 kspec learn $quick --json --estimator all -n 5 --permutations 2
expect_json 'all(len(e[k]) == 5 for e in j["runs"][0]["epochs"]
    for k in ("naive", "kv-row", "kv-col", "path", "exact", "path_stderr", "unbiased"))'
expect_json 'all(e["unbiased"] == e["exact"] for e in j["runs"][0]["epochs"])'
expect_status 0 kspec learn $quick --json --estimator naive --no-stderr
expect_json 'j["runs"][0]["epochs"][0]["unbiased"] == [None] * 4'
expect_json 'j["runs"][0]["epochs"][0]["naive_stderr"] == [None] * 4'
expect_status 0 kspec learn $quick --json --width 3
expect_json 'j["orders"] == 3 and len(j["runs"][0]["epochs"][0]["unbiased"]) == 3'

# activations: Phi itself, from which kspec moments gets the same
expect_status 0 kspec learn $quick --save-activations phi --json
cp "$out" phi.json
expect 'a file for each epoch' \
    [ "$(ls phi | tr '\n' ' ')" = 'width-12-seed-0-epoch-000.npy width-12-seed-0-epoch-002.npy ' ]
expect_status 0 kspec moments phi/width-12-seed-0-epoch-002.npy -n 4 --estimator naive,exact --json
expect_json 'j["rows"] == 60'
expect_json 'all(close(m(a, n), json.load(open("phi.json"))["runs"][0]["epochs"][1][b][n - 1], 1e-12)
    for n in range(1, 5) for a, b in (("naive", "naive"), ("exact", "unbiased")))'

# checkpoints: resumed, extended, and only for the same run
expect_status 0 kspec learn $quick --checkpoint kept --json
expect 'a file for the run' [ "$(ls kept)" = width-12-seed-0.ckpt ]
expect_status 0 kspec learn $quick --epochs 6 --json
cp "$out" six.json
expect_status 0 kspec learn $quick --epochs 6 --checkpoint kept --json
expect_json 'j["runs"][0]["resumed"] == 2'
expect_json 'j["runs"][0]["epochs"] == json.load(open("six.json"))["runs"][0]["epochs"]'
expect_status 0 kspec learn $quick --epochs 6 --checkpoint kept --json
expect_json 'j["runs"][0]["resumed"] == 6'
expect_json 'j["runs"][0]["epochs"] == json.load(open("six.json"))["runs"][0]["epochs"]'
# one that kill -9 left is gone after the next run, even where that has nothing to write
touch kept/width-12-seed-0.ckpt.kspec-999999-0.tmp
expect_status 0 kspec learn $quick --epochs 6 --checkpoint kept --json
expect 'nothing is left by a killed run' [ "$(ls kept)" = width-12-seed-0.ckpt ]
# by version 0.1, too, whose names were plainer: those of checkpoints, once they are an hour old
run=width-12-seed-0.ckpt
touch -d '2 hours ago' kept/$run.999999-0.tmp kept/mine.ckpt.999999-0.tmp kept/$run.9-.tmp
touch kept/$run.999999-1.tmp
expect_status 0 kspec learn $quick --epochs 6 --checkpoint kept --json
expect 'nothing else is removed' [ "$(echo $(ls kept))" = \
    "mine.ckpt.999999-0.tmp $run $run.9-.tmp $run.999999-1.tmp" ]
rm kept/*.tmp
sum=$(cksum kept/*)
expect_error 3 'another run: its learning rate is 0.1, not 0.2' \
    kspec learn $quick --checkpoint kept --learning-rate 0.2
expect_error 3 'another run: its number of training images is 200, not 199' \
    kspec learn $quick --checkpoint kept --train-count 199
expect 'the checkpoint is as it was' [ "$(cksum kept/*)" = "$sum" ]
head -c 1000 kept/width-12-seed-0.ckpt >cut && cp cut kept/width-12-seed-0.ckpt
expect_error 3 'width 12, seed 0 is cut off' kspec learn $quick --checkpoint kept
expect 'it is not overwritten' cmp -s cut kept/width-12-seed-0.ckpt
: >kept/width-12-seed-0.ckpt
expect_error 3 'not a checkpoint: kept/width-12-seed-0.ckpt' kspec learn $quick --checkpoint kept
echo something else entirely, and long enough to be read as a header of some kind >kept/width-12-seed-0.ckpt
expect_error 3 'is damaged, or was made on another kind of machine' kspec learn $quick --checkpoint kept
rm -r kept && mkdir -p kept/width-12-seed-0.ckpt
expect_error 3 'not a checkpoint' kspec learn $quick --checkpoint kept

# interrupted at any time, the last checkpoint is whole, nothing else is left, and the rest is the same
long="$files --width 12,30 --every 5 --probe 20 -n 2 --no-stderr"
for attempt in 1 2 3; do # each time as soon as a checkpoint has been replaced
    before=$(cksum broken/*.ckpt 2>/dev/null)
    "$KSPEC" learn $long --epochs 1000000 --checkpoint broken >/dev/null 2>&1 &
    while [ "$(cksum broken/*.ckpt 2>/dev/null)" = "$before" ] && kill -0 $! 2>/dev/null; do sleep 0.01; done
    kill -INT $! 2>/dev/null
    wait $!
    expect "interrupted" [ $? -eq 130 ]
    expect "whole files only: $(ls broken)" [ -z "$(ls broken | grep -v 'ckpt$')" ]
done
expect_status 0 kspec learn $long --epochs 0 --checkpoint broken --json
reached=$("$python" -c 'import json, sys
print(max(r["resumed"] for r in json.load(open(sys.argv[1]))["runs"]))' "$out")
expect "an interrupted run has come to epoch $reached" [ "$reached" -gt 0 ]
expect_status 0 kspec learn $long --epochs $((reached + 15)) --json
cp "$out" long.json
expect_status 0 kspec learn $long --epochs $((reached + 15)) --checkpoint broken --json
expect_json 'all(a["epochs"] == b["epochs"] for a, b in zip(j["runs"], json.load(open("long.json"))["runs"]))'
expect_json 'max(r["resumed"] for r in j["runs"]) == '$reached

# a checkpoint that another process replaces by a longer or a shorter one is read from one open file
if has_preload; then
    expect_status 0 kspec learn $quick --checkpoint one
    expect_status 0 kspec learn $quick --checkpoint two --epochs 6
    expect_status 0 kspec learn $quick --epochs 0 --json
    cp "$out" zero.json
    for pair in 'one two' 'two one'; do
        set -- $pair
        cp $1/width-12-seed-0.ckpt first && cp $2/width-12-seed-0.ckpt other.ckpt
        mkdir swapped && cp first swapped/width-12-seed-0.ckpt
        export TEST_SWAP=other.ckpt
        expect_status 0 preloaded learn $quick --epochs 0 --checkpoint swapped --json
        unset TEST_SWAP
        expect_json 'j["runs"][0]["epochs"] == json.load(open("zero.json"))["runs"][0]["epochs"]'
        expect "it was replaced" [ ! -e other.ckpt ]
        rm -r swapped
    done
    rm -r one two first zero.json
fi

# what cannot be written
expect_error 1 'checkpoint: cannot write to x.npy/kept' kspec learn $quick --checkpoint x.npy/kept
expect_error 1 'save-activations: x.npy is not a directory' kspec learn $quick --save-activations x.npy
expect_error 1 'save-activations: cannot write to no/such/place' \
    kspec learn $quick --save-activations no/such/place
expect_status 1 bash -c 'ulimit -f 1; "$0" learn "$@" --checkpoint full' "$KSPEC" $quick
expect_stderr 'cannot write full/width-12-seed-0.ckpt: File too large'
expect 'nothing is left' [ -z "$(ls full)" ]

# what it refuses: usage
expect_error 2 '--images is missing' kspec learn --labels y.npy --test-images t.npy --width 3 --epochs 1
expect_error 2 '--labels is missing' kspec learn --images x.npy --test-images t.npy --width 3 --epochs 1
expect_error 2 '--test-images is missing' kspec learn --images x.npy --labels y.npy --width 3 --epochs 1
expect_error 2 '--width is missing' kspec learn $files --epochs 1
expect_error 2 '--epochs is missing' kspec learn $files --width 3
expect_error 2 'width: .0. is not a whole number' kspec learn $files --width 0 --epochs 1
expect_error 2 'width: .2.5. is not a whole number' kspec learn $files --width 2.5 --epochs 1
expect_error 2 'width: .-4. is not a whole number' kspec learn $files --width -4 --epochs 1
expect_error 2 'width 5 is given twice' kspec learn $files --width 5,5 --epochs 1
expect_error 2 'epochs: .-1. is not a whole number' kspec learn $files --width 5 --epochs -1
expect_error 2 'subsample 13 exceeds the width 12' kspec learn $quick --subsample 13
expect_error 2 'subsample: 0 is below 1' kspec learn $quick --subsample 0
expect_error 2 'order 13 exceeds 12' kspec learn $quick -n 13
expect_error 2 'batch 201 exceeds the 200 training images' kspec learn $quick --batch 201
expect_error 2 'classes: 10001 exceeds 10000' kspec learn $quick --classes 10001
expect_error 2 "pixels: 'raw' must be one of unit, 255" kspec learn $quick --pixels raw
expect_error 2 "learning-rate: '0' is not above 0" kspec learn $quick --learning-rate 0
expect_error 2 "estimator: 'best' must be one of" kspec learn $quick --estimator best
expect_error 2 "unexpected argument 'x.npy'" kspec learn x.npy $quick
# ... and data
expect_error 3 '200 images, but 199 labels' kspec learn $quick --labels short.npy
expect_error 3 'labels have 2 columns, not 1' kspec learn $quick --labels two.npy
expect_error 3 'labels: row 7 \(from 0\) is -1, not a whole number' kspec learn $quick --labels negative.npy
expect_error 3 'labels: row 7 \(from 0\) is 0.5, not a whole number' kspec learn $quick --labels half.npy
expect_error 3 'labels: row 7 \(from 0\) is 1e\+06, not a whole number from 0 to 9999' \
    kspec learn $quick --labels large.npy
expect_error 3 'nan.npy' kspec learn $quick --labels nan.npy
expect_error 3 'labels: row 2 \(from 0\) is 2, not a whole number from 0 to 1' kspec learn $quick --classes 2
expect_error 3 '60 test images, but 200 labels' kspec learn $quick --test-labels y.npy
expect_error 3 'test images have 5 pixels, but the images have 12' kspec learn $quick --test-images narrow.npy
expect_error 3 '201 training images exceed the 200 given' kspec learn $quick --train-count 201
expect_error 3 '61 test images exceed the 60 given' kspec learn $quick --probe 61
expect_error 3 'row 5, column 2' kspec learn $quick --images xnan.npy
expect_error 3 'images: row 5, column 2 \(from 0\) is inf' kspec learn $quick --images xinf.npy
expect_error 3 'the 200 training images vary by a mean square of 0' kspec learn $quick --images black.npy
expect_error 3 'missing.npy' kspec learn $quick --images missing.npy
expect_error 1 'at epoch 0 no neuron is active' kspec learn $quick --test-images black.npy --pixels 255
expect_error 1 'the loss has become .* at epoch 1' kspec learn $quick --learning-rate 1e20
done_testing
