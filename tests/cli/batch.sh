# An axis batch: a matrix for each index, against one call for each of them.
. "$(dirname "$0")/lib.sh"

py 'n = np.random.default_rng(3).normal
x = np.stack([n(size=(40, 3 + k)) @ n(size=(3 + k, 20)) + 0.3 * n(size=(40, 20)) for k in range(5)])
np.save("x.npy", x); np.save("y.npy", x + 0.2 * n(size=x.shape))
np.save("turned.npy", x.transpose(2, 1, 0)); np.save("four.npy", x[:4])
for k in range(5): np.save(f"x{k}.npy", x[k])'
same='all(close(a[k], b[k], 1e-12) for k in ("dimension", "ci_low", "ci_high", "naive", "stderr"))'
expect_status 0 kspec dimension x.npy --axes batch,rows,cols --json
cp "$out" batch.json
expect_json 'j["batch"] == 5 and [r["label"] for r in j["results"]] == list("01234")'
for k in 0 3; do
    expect_status 0 kspec dimension x$k.npy --json
    expect_json "(lambda a, b: $same)(json.load(open('batch.json'))['results'][$k], j)"
done
for axes in cols,rows,batch; do
    expect_status 0 kspec dimension turned.npy --axes $axes --json --threads 2
    expect_json "all((lambda a, b: $same)(a, b)
                     for a, b in zip(json.load(open('batch.json'))['results'], j['results']))"
done
# several INPUTs are trials of all
expect_status 0 kspec dimension x.npy y.npy --axes batch,rows,cols --sampled rows --json
expect_json 'all(r["trials"] == 2 for r in j["results"])'
cp "$out" trials.json
py 'np.save("both.npy", np.stack([np.load("x.npy")[2], np.load("y.npy")[2]]))'
expect_status 0 kspec dimension both.npy --sampled rows --json
expect_json "(lambda a, b: $same)(json.load(open('trials.json'))['results'][2], j)"
# text, and the picture: a band over the index
expect_status 0 kspec dimension x.npy --axes batch,rows,cols
expect_stdout '^4 +40 +20 +1 '
expect_status 0 kspec plot batch.json --json
expect_json 'j["panels"][0]["xlabel"] == "index" and j["panels"][0]["series"][0]["style"] == "band"'
expect_json 'j["panels"][0]["series"][0]["x"] == [0, 1, 2, 3, 4]'
# what is wrong
expect_error 2 'axes batch,trials,cols: an array has 3 axes; give the trials of a batch as several INPUTs' \
    kspec dimension x.npy --axes batch,trials,cols
expect_error 3 'four.npy is 4 x 40 x 20 \(batch, rows, columns\), x.npy is 5 x 40 x 20' \
    kspec dimension x.npy four.npy --axes batch,rows,cols
expect_error 2 'label and a batch cannot be combined' kspec dimension --label a x.npy --axes batch,rows,cols
expect_error 2 'target and a batch cannot be combined' \
    kspec dimension x.npy --axes batch,rows,cols --target x0.npy
expect_error 3 'matrix 0 \(from 0\): the matrix: 40 rows and 2 columns are too few' \
    kspec dimension x.npy --axes batch,rows,cols --select-cols 0,1
expect_error 2 "'batch' must be one of trials, rows, cols" kspec moments x.npy --axes batch,rows,cols
done_testing
