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

# two batches, each matrix with each: as one comparison of two
py 'n = np.random.default_rng(4).normal
np.save("z.npy", np.load("x.npy")[:3, :, :14] + n(size=(3, 40, 14)))
for k in range(3): np.save(f"z{k}.npy", np.load("z.npy")[k])'
same='all(close(a[k], b[k], 1e-12) for k in ("alignment", "alignment_ci_low", "alignment_ci_high",
      "dimension", "alignment_biased", "alignment_stderr")) and
      abs(a["alignment_p"] - b["alignment_p"]) < 1e-12'
expect_status 0 kspec compare x.npy z.npy --axes batch,rows,cols --json
cp "$out" two.json
expect_json 'j["batch"] == 5 and j["other_batch"] == 3 and j["other_labels"] == list("012")'
expect_json '[(r["first"], r["second"]) for r in j["results"]] == [(i, k) for i in "01234" for k in "012"]'
expect_json 'all(j["alignments"][int(r["first"])][int(r["second"])] == r["alignment"] for r in j["results"])'
expect_json 'j["other_dimensions"] == [r["other_dimension"] for r in j["results"][:3]]'
for pair in "0 0" "3 2" "4 1"; do
    set -- $pair
    expect_status 0 kspec compare x$1.npy z$2.npy --json
    expect_json "(lambda a, b: $same)(json.load(open('two.json'))['results'][3 * $1 + $2], j)"
done
# one batch with itself: each pair once, 1 on the diagonal
expect_status 0 kspec compare x.npy --axes batch,rows,cols --sampled rows --threads 2 --json
cp "$out" alone.json
expect_json 'len(j["results"]) == 10 and "other_batch" not in j and len(j["dimensions"]) == 5'
expect_json 'all(j["alignments"][i][k] == j["alignments"][k][i] for i in range(5) for k in range(5))'
expect_json 'all(j["alignments"][i][i] == 1 for i in range(5))'
expect_status 0 kspec compare x1.npy x4.npy --sampled rows --json
expect_json "(lambda a, b: $same)([r for r in json.load(open('alone.json'))['results']
             if (r['first'], r['second']) == ('1', '4')][0], j)"
# trials after a label; text; the picture is a heat map with the values
expect_status 0 kspec compare --label a x.npy y.npy --label b z.npy --axes batch,rows,cols --json
expect_json 'all((r["trials"], r["other_trials"]) == (2, 1) for r in j["results"])'
expect_status 0 kspec compare x.npy z.npy --axes batch,rows,cols
expect_stdout '^    4 +5.038 '
expect_status 0 kspec plot two.json --json
expect_json 'j["panels"][0]["series"][0]["style"] == "tiles" and len(j["panels"][0]["series"][0]["x"]) == 15'
expect_json 'j["panels"][0]["xlabel"] == "second batch"'
expect_status 0 kspec plot alone.json --json
expect_json 'len(j["panels"][0]["series"][0]["x"]) == 25'
expect_error 2 'a batch can be compared with itself or with one other batch, not with 3' \
    kspec compare x.npy y.npy z.npy --axes batch,rows,cols
expect_error 2 '--paired and a batch cannot be combined' \
    kspec compare x.npy z.npy --axes batch,rows,cols --paired cols
expect_error 2 '--n and a batch cannot be combined' kspec compare x.npy --axes batch,rows,cols -n 3
py 'np.save("one.npy", np.load("x.npy")[:1]); np.save("short.npy", np.load("x.npy")[:, :30])
y = np.load("z.npy"); y[1, 3, 4] = np.nan; np.save("nan.npy", y)'
expect_error 3 'one.npy holds one matrix: nothing to compare it with' \
    kspec compare one.npy --axes batch,rows,cols
expect_error 3 'x.npy has 40 rows and short.npy has 30: they cannot be the same inputs' \
    kspec compare x.npy short.npy --axes batch,rows,cols
expect_error 3 'nan.npy: .*1 missing value, the first at trial 1, row 3, column 4' \
    kspec compare x.npy nan.npy --axes batch,rows,cols

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
