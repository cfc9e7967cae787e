# Whatever a command leaves out to save time is named in its table and among the doubts of its JSON object,
# with the option that computes it; with that option nothing is left out, and the rest stays as it was.
. "$(dirname "$0")/lib.sh"

left='[(d["what"], d.get("option"), d.get("setting"), d["severity"]) for d in j["doubts"]
       if d["code"] == "left-out"]'
left=$(echo $left)

kspec generate linear --rows 60 --cols 50 --dim 5 --eigenvalue 1 --noise 0.5 --seed 1 -o x.npy --quiet
kspec generate linear --rows 60 --cols 50 --dim 5 --eigenvalue 1 --noise 0.5 --seed 2 -o y.npy --quiet

# ---- moments and spectrum: the orders that AUTO's budget does not allow ----
little="--effort 1e-9"
for command in "moments --center" spectrum; do
    # shellcheck disable=SC2086
    set -- $command x.npy
    expect_status 0 kspec "$@" $little --json
    expect_json "$left == [('m(3) and m(4)', 'nmax', '4', 'note')]"
    cp "$out" little.json
    expect_status 0 kspec "$@" $little
    expect_stdout '^left out to save time: m\(3\) and m\(4\) \(-n 4\)$'
    for words in "" "$little -n 4"; do
        # shellcheck disable=SC2086
        expect_status 0 kspec "$@" $words --json
        expect_json "$left == []"
        expect_json 'len(j.get("estimates") or j["moments"]) == 4'
    done
done
kspec moments x.npy --center $little --json >little.json
expect_status 0 kspec moments x.npy --center -n 4 --json
expect_json 'j["estimates"][:2] == json.load(open("little.json"))["estimates"]'
# a moment that another estimator gives is not left out
expect_status 0 kspec moments x.npy $little --json
expect_json "$left == [] and len(j['estimates']) == 6"

# ---- compare: orders above those that are printed first; the shared dimension of large matrices ----
expect_status 0 kspec compare x.npy y.npy --json
expect_json "$left == [('m(3) and m(4)', 'nmax', '4', 'note')]"
expect_json 'len(j["differences"]) == 3'
expect_status 0 kspec compare x.npy y.npy
expect_stdout '^left out to save time: m\(3\) and m\(4\) \(-n 4\)$'
expect_status 0 kspec compare x.npy y.npy -n 4 --json
expect_json "$left == [] and len(j['differences']) == 5 and j['shared_dimension'] > 0"
expect_status 0 kspec compare x.npy y.npy -n 2 --json
expect_json "$left == []"
kspec generate gaussian --rows 1500 --cols 1000 --dim 5 --seed 3 -o a.npy --quiet || exit 1
kspec generate gaussian --rows 1500 --cols 1000 --dim 5 --seed 4 -o b.npy --quiet || exit 1
expect_status 0 kspec compare a.npy b.npy -n 1 --json
expect_json "[w[0] for w in $left] == ['the shared dimension; unbiased einsums of its two sums give it']"
expect_json 'j["shared_dimension"] is None'

# ---- dimension --curve: nothing ----
expect_status 0 kspec dimension x.npy --curve --json
expect_json "$left == [] and len(j['curve']) > 2"

# ---- norm: the approximation where it takes longer than the exact norm, and that where it takes long ----
expect_status 0 kspec norm x.npy --json
expect_json '[r["method"] for r in j["results"]] == ["lanczos"]'
expect_json "$left == [('an approximation from random features, with its interval', 'method',
                        'lanczos,rff-debiased', 'note')]"
expect_status 0 kspec norm x.npy
expect_stdout '^left out to save time: an approximation .*\(--method lanczos,rff-debiased\)$'
expect_status 0 kspec norm x.npy --method lanczos,rff-debiased --json
expect_json "$left == [] and len(j['results']) == 2"
for words in "--features 64" "--repeat 2" "--tolerance 0.9"; do # what asks for features gets them
    # shellcheck disable=SC2086
    expect_status 0 kspec norm x.npy $words --json
    expect_json "$left == [] and [r['method'] for r in j['results']] == ['lanczos', 'rff-debiased']"
done
py 'x = np.random.default_rng(1).normal(size=(60, 50)); np.save("g.npy", x @ x.T)
np.save("tall.npy", np.random.default_rng(1).normal(size=(26000, 60)).astype(np.float32))'
expect_status 0 kspec norm g.npy --gram --json
expect_json "$left == [] and [r['method'] for r in j['results']] == ['lanczos']"
expect_status 0 kspec norm tall.npy --json
expect_json '[r["method"] for r in j["results"]] == ["rff-debiased"]'
expect_json "$left == [('the exact norm, by Lanczos iteration', 'method', 'lanczos,rff-debiased', 'note')]"

done_testing
