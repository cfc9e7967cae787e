# Pictures: every command's result in every format, by --plot and by kspec plot; the numbers in them; what
# goes together.
. "$(dirname "$0")/lib.sh"
command -v gnuplot >/dev/null || skip "gnuplot is not installed; run 'sh scripts/setup.sh pictures'"

kspec generate rff --rows 12 --cols 15 --dim 2 -o x.npy
py 'r = np.random.default_rng(1)
def save(name, *shape): np.save(name, r.normal(size=shape))
save("X.npy", 30, 3); save("y.npy", 30); save("t.npy", 16); save("psi.npy", 8, 12)
save("X2.npy", 9, 3); save("y2.npy", 9)
np.save("prior.npy", np.ones(12)); np.save("classes.npy", np.arange(30) % 3)
np.save("psi30.npy", np.load("X.npy") @ r.normal(size=(3, 7)))'
cat >learn.json <<'END'
{"command": "learn", "runs": [
 {"width": 8, "seed": 0, "epochs": [
  {"epoch": 0, "loss": 1, "naive": [1, 0.5], "unbiased": [1, 0.3],
   "naive_subsample": [1, 0.8], "unbiased_subsample": [1, 0.31]},
  {"epoch": 2, "loss": 1, "naive": [1, 0.6], "unbiased": [1, 0.4],
   "naive_subsample": [1, 0.9], "unbiased_subsample": [1, 0.41]}]},
 {"width": 8, "seed": 1, "epochs": [
  {"epoch": 0, "loss": 1, "naive": [1, 0.7], "unbiased": [1, 0.1],
   "naive_subsample": [1, 1.0], "unbiased_subsample": [1, 0.11]},
  {"epoch": 2, "loss": 1, "naive": [1, 0.9], "unbiased": [1, 0.2],
   "naive_subsample": [1, 1.1], "unbiased_subsample": [1, 0.22]}]},
 {"width": 4, "seed": 0, "epochs": [
  {"epoch": 0, "loss": 1, "naive": [1, 0.9], "unbiased": [1, 0.25]}]}]}
END
cat >figure.json <<'END'
{"command": "figure", "title": "a figure", "columns": 1, "panels": [
 {"title": "one", "xlabel": "x", "ylabel": "y^{2}",
  "xscale": "linear", "yscale": "log", "xrange": [0, 5], "yrange": [0.1, 100],
  "series": [
   {"label": "a", "x": [1, 2, 3], "y": [1, null, 9], "low": [0.5, null, 8], "high": [2, null, 10],
    "style": "points", "color": 6},
   {"label": "b", "x": [1, 2, 3], "y": [1, 4, 9], "low": [0.5, 3, 8], "high": [2, 5, 10], "style": "band"},
   {"y": [3, 2, 1], "style": "steps"}],
  "marks": [{"axis": "x", "at": 2.5, "label": "here"}, {"axis": "y", "at": 50}]},
 {"series": [
   {"label": "dashed", "y": [3, 2, 1], "style": "dashed"},
   {"label": "dotted", "y": [1, 2, 3], "style": "dotted"}]}]}
END

# ---- one result of each command, its picture by --plot, the same picture by kspec plot ----
run() { # name, command...
    local name=$1
    shift
    expect_status 0 kspec "$@" --quiet --plot "$name.svg" --json -o "$name.json"
    expect "$name: nothing is printed" [ ! -s "$out" ]
    expect_status 0 kspec plot "$name.json" -o again.svg
    expect "$name: kspec plot makes the picture of --plot" cmp -s "$name.svg" again.svg
    kinds="$kinds $name"
}
kinds="learn figure"
run moments moments x.npy -n 4 --estimator all
run dimension dimension x.npy
run curve dimension x.npy --curve
run several dimension --label x x.npy --label "it's %d" x.npy
run curves dimension --label x x.npy --label other x.npy --curve
run compare compare X.npy psi30.npy
run square compare X.npy psi30.npy --label again X.npy
run unpaired compare X.npy psi.npy --paired none
run spectrum spectrum x.npy --rank 15 -n 4
run rbf theory rbf --dim 2 --eta 1 --eigenvalues 20
run sphere theory sphere --kernel ntk --dim 3 --degree 8
run linear theory linear --eigenvalue 3,1,1 -n 3
run norm norm X.npy --sigma 1 --method eigen,lanczos,rff-power,nystrom,rff-debiased --features 16 --sample 9
run advice ridge X.npy --target 0 --check
run ridge ridge X.npy --target y.npy --test X2.npy --test-target y2.npy --features 3,9,20 \
    --lambda 1e-3,0.1,1 --empirical 3
run wls wls --grid 8 --learn 2-24:2 --modes 24 --gamma 0.3 --noise 0.2 --empirical 3
run fit wls --fit t.npy --learn 5
run smooth wls fit t.npy
run features wls --features psi.npy --prior prior.npy --learn 3,9 \
    --target <(kspec generate linear --rows 8 --cols 1 --dim 1 -o - | cat)
run bound wls --zeta 2 --grid 8 --learn 1-8 --alpha 0.5 --beta 1 --gamma 1 --noise 0.1
run decay wls --decay X.npy
network="--images X.npy --labels classes.npy --test-images X.npy
    --width 4,9 --epochs 4 --seeds 2 --subsample 5"
run network learn $network
expect_status 0 kspec learn $network --plot again.svg
expect_stdout '^ width '
expect "with a table, the same picture" cmp -s network.svg again.svg
# generate writes its matrix to -o and its JSON to standard output
made="generate gaussian --rows 4 --cols 4 --dim 2 --eta 1,2 --seed 3 -o g.npy"
expect_status 0 kspec $made --plot generate.svg --json
cp "$out" generate.json
expect_json 'j["command_line"] == "kspec '"$made"'"'
expect_status 0 kspec plot generate.json -o again.svg
expect "generate: the same picture" cmp -s generate.svg again.svg
expect_status 0 kspec generate gaussian --rows 4 --cols 4 --dim 2 -o g.npy --plot generate.svg
expect "generate: nothing is printed" [ ! -s "$out" ]
kinds="$kinds generate"

# the true moments are those of theory
expect_status 0 kspec theory rbf --eta 1,2 --json
expect_json 'j["moments"] == __import__("json").load(open("generate.json"))["moments"]'
expect_status 0 kspec generate linear --rows 4 --cols 4 --dim 3 --eigenvalue 2 -o g.npy --json
expect_json 'j["moments"] == [3 * 2 ** n for n in range(1, 7)]'

# ---- every format, whole and of its kind ----
for name in $kinds; do
    for suffix in svg png pdf html gp; do
        expect_status 0 kspec plot $name.json -o $name.$suffix
        expect "$name.$suffix: nothing is printed" [ ! -s "$out" ]
    done
    expect "$name.png" cmp -s <(head -c 8 $name.png) <(printf '\x89PNG\r\n\x1a\n')
    expect "$name.pdf" [ "$(head -c 5 $name.pdf)" = %PDF- ]
done
"$python" "$KSPEC_SOURCE/tests/cli/plot_numbers.py" $kinds || fail "the numbers in the pictures"
checks=$((checks + 1))

# the same bytes again
for suffix in png pdf html; do
    expect_status 0 kspec plot moments.json -o again.$suffix
    expect "the same $suffix" cmp -s moments.$suffix again.$suffix
done
# the table is what it is without a picture
expect_status 0 kspec moments x.npy -n 2
cp "$out" want
expect_status 0 kspec moments x.npy -n 2 --plot again.svg
expect "the table is the same" cmp -s "$out" want
# the figure as JSON gives the same picture
for name in moments ridge figure learn norm spectrum square; do
    expect_status 0 kspec plot $name.json --json
    cp "$out" other.json
    expect_status 0 kspec plot other.json -o again.svg
    expect "$name by its figure" cmp -s $name.svg again.svg
done
expect_status 0 kspec plot moments.json --json -o again.svg
expect_json 'j["command"] == "figure" and len(j["panels"]) == 2'
expect "and the picture, too" cmp -s moments.svg again.svg
# through a pipe
kspec wls --grid 8 --learn 2,4 --json | kspec plot - -o again.svg || fail "a pipe"

# ---- what goes together ----
kspec moments x.npy -n 4 --seed 1 --json -o other.json
expect_status 0 kspec plot moments.json other.json rbf.json -o together.gp
for label in 'moments: naive' 'other: exact' truth 'operator norm'; do
    expect "label $label" grep -q "title '$label'" together.gp
done
mkdir -p a b
cp moments.json a/r.json
cp moments.json b/r.json
expect_status 0 kspec plot a/r.json b/r.json -o together.gp
expect "files of the same name are told apart" grep -q "title 'b/r.json: naive'" together.gp
for with in 'spectrum rbf' 'spectrum linear' 'moments generate' 'generate rbf' 'rbf sphere' 'wls wls' \
    'norm norm' 'ridge ridge' 'learn learn' 'figure figure' 'decay decay' \
    'spectrum spectrum linear'; do
    expect_status 0 kspec plot $(printf '%s.json ' $with) -o together.svg
done
expect_error 3 'a result of kspec norm cannot share a picture with one of kspec moments' \
    kspec plot moments.json norm.json -o no.svg
expect_error 3 "a result of kspec wls decay cannot share a picture" kspec plot wls.json decay.json -o no.svg
expect_error 3 'kspec theory rbf lists them with --eigenvalues' bash -c \
    '"$0" theory rbf --eta 1 --json >t.json && "$0" plot spectrum.json t.json -o no.svg' "$KSPEC"

# one truth: the one beside, whatever the order
kspec moments x.npy -n 2 --truth 1,7 --json -o own.json
for pair in 'own.json rbf.json' 'rbf.json own.json'; do
    expect_status 0 kspec plot $pair --json
    expect_json '[s["y"][1] < 1 for s in j["panels"][0]["series"] if s["label"] == "truth"] == [True]'
done
# one curve for each method is of one matrix alone
kspec generate linear --rows 30 --cols 3 --dim 2 -o X3.npy
for of in 'X --features 8' 'X --features 16' 'X3 --features 8' 'X --features 8 --standardize'; do
    kspec norm ${of/ /.npy } --sigma 1 --method eigen,rff-power --json -o "$of.json"
done
expect_status 0 kspec plot 'X --features 8.json' 'X --features 16.json' --json
expect_json 'sorted(s["label"] for s in j["panels"][0]["series"]) == ["eigen", "rff-power"]'
for other in 'X3 --features 8' 'X --features 8 --standardize'; do
    expect_status 0 kspec plot 'X --features 8.json' "$other.json" --json
    expect_json 'len(j["panels"][0]["series"]) == 4 and "marks" not in j["panels"][0]'
done
# what is left out is said
py 'import json
powers = [0.5**n for n in range(9)]
epochs = [{"epoch": t, "naive": powers, "unbiased": powers} for t in (0, 1)]
json.dump({"command": "learn", "runs": [{"width": 8, "seed": 0, "epochs": epochs}]}, open("nine.json", "w"))'
expect_status 0 kspec plot nine.json -o nine.gp
expect "orders" grep -q "^set title 'unbiased, n = 8: width 8'" nine.gp
expect "and those that are not drawn" grep -q "^set label 'orders above 8 of 9 are not drawn'" nine.gp
echo '{"command": "spectrum", "eigenvalues": [1, 0.1], "singular_values": [1, 1e-20]}' >low.json
expect_status 0 kspec plot low.json -o low.gp
expect "small eigenvalues, too" \
    grep -q "^set label 'values below 10^{−13} of the largest are not shown'" low.gp
expect "the index is no capital I" grep -q "^set xlabel 'index i'" low.gp

# ---- looks ----
# labels end within the picture
label=$(printf 'long %.0s' {1..30})
cat >long.json <<END
{"command": "figure", "panels": [{"xlabel": "$label", "ylabel": "$label", "series": [{"y": [1, 2]}]}]}
END
expect_status 0 kspec plot long.json -o long.gp
expect "labels are cut" [ "$(grep -c "^set [xy]label 'long .*…'" long.gp)" = 2 ]
# a name is no format
cat >names.json <<'END'
{"command": "figure", "panels": [
 {"names": ["100% of %s", "%"], "series": [{"x": [1, 2], "y": [0, 1], "style": "bars"}]}]}
END
expect_status 0 kspec plot names.json -o names.svg
expect "per cent" bash -c 'sed "s/<[^>]*>//g" names.svg | grep -qF "100% of %s"'
expect_status 0 kspec plot moments.json -o a.html --title $'a\xffb'
expect "a page in UTF-8" iconv -f utf-8 -t utf-8 -o /dev/null a.html
expect_status 0 kspec plot moments.json -o a.svg --size 640x480 --title 'My title' --log xy
expect "size" grep -q 'width="640" height="480"' a.svg
expect "title" grep -q 'My title' a.svg
expect_status 0 kspec plot moments.json -o a.png --size 640x480
py 'import struct; assert struct.unpack(">II", open("a.png", "rb").read()[16:24]) == (640, 480)'
expect_status 0 kspec plot moments.json -o a.gp --linear
expect "no logarithmic axis" bash -c '! grep -q "^set logscale" a.gp'
expect_status 0 kspec plot moments.json -o a.gp --log x --linear
expect "one" [ "$(grep -c '^set logscale x' a.gp) $(grep -c '^set logscale y' a.gp)" = '2 0' ]
# very many eigenvalues
kspec theory rbf --dim 5 --eta 1 --eigenvalues 50000 --json -o many.json
expect_status 0 kspec plot many.json -o many.svg
expect "a small picture of many numbers" [ "$(wc -c <many.svg)" -lt 150000 ]
[ ! -e no.svg ] || fail "a refused picture is there"
done_testing
