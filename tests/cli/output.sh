# Where results go: whole or not at all, and never silently nowhere.
. "$(dirname "$0")/lib.sh"
kspec generate rff --rows 8 --cols 9 --dim 1 -o x.npy
rbf="kspec theory rbf --eta 1"
gen="kspec generate rff --rows 20 --cols 9 --dim 1"

# -o holds what standard output would
for json in '' --json; do
    for c in 'theory rbf --eta 1' config 'completion bash'; do
        [ "$c$json" != 'completion bash--json' ] || continue
        expect_status 0 kspec $c $json -o there
        expect "nothing is printed" [ ! -s "$out" ]
        expect_status 0 kspec $c $json
        expect "-o holds it all: $c $json" same_result "$out" there
        expect_status 0 kspec $c $json -o -
        expect "-o - is standard output" same_result "$out" there
    done
done
expect_status 0 kspec moments x.npy --estimator all --json -o there
cp there "$out"
expect_json 'len(j["estimates"]) >= 18'
expect_status 0 kspec moments x.npy --output=there
expect "an older file is replaced" grep -q 'participation ratio' there
expect_files x.npy there
expect_error 2 'completion has no JSON output' kspec completion bash --json

# the object is all there is on standard output
for c in 'moments x.npy' 'theory rbf --eta 1 --eigenvalues 3' config \
    'generate linear --rows 2 --cols 2 --dim 1 -o y.npy'; do
    expect_status 0 kspec $c --json
    expect_json 'j["command"] in ("moments", "theory", "config", "generate")'
done
# with 17 significant digits: m(2) = 1/sqrt(5) for eta = 1
expect_status 0 kspec theory rbf --eta 1 --json
expect_stdout '0\.447213595499957[89][0-9]'

# no terminal, no colours
expect_status 0 kspec moments x.npy
plain() { ! grep -q $'\e' "$out"; }
expect "no escape sequences" plain
# on a terminal there are, unless NO_COLOR or -o says otherwise
if command -v script >/dev/null; then
    script -qec "'$KSPEC' theory rbf --eta 1" /dev/null </dev/null >"$out" 2>&1
    expect "bold on a terminal" grep -q $'\e\[1m' "$out"
    NO_COLOR=1 script -qec "'$KSPEC' theory rbf --eta 1" /dev/null </dev/null >"$out" 2>&1
    expect "NO_COLOR" plain
fi

# nowhere to write to: status 1, one line
for c in "$rbf" "$rbf --json" 'kspec moments x.npy --quiet' 'kspec moments x.npy --quiet --json' \
    'kspec config' 'kspec completion zsh'; do
    expect_error 1 'cannot write /dev/full: No space left on device' $c -o /dev/full
    expect_error 1 'cannot write to standard output: No space left' \
        bash -c '"$0" "${@:2}" >/dev/full' "$KSPEC" $c
    expect_error 1 'cannot write to standard output: Bad file' bash -c '"$0" "${@:2}" >&-' "$KSPEC" $c
    expect_error 1 'No such file or directory' $c -o none/there
    expect_error 1 'Not a directory' $c -o x.npy/there
    expect_error 1 'Is a directory' $c -o .
    expect_error 1 'cannot write' $c -o ''
done
# before any work: no input is looked for, which would be status 3
for c in 'moments no.npy' 'dimension no.npy' 'compare no.npy no.npy' 'spectrum no.npy' \
    'norm no.npy --method eigen --sigma 1' 'ridge no.npy --target no.npy --features 5 --lambda 1' \
    'wls fit no.npy --modes 5' 'wls features no.npy --target no.npy' 'wls decay no.npy' \
    'learn --images no --labels no --test-images no --width 4 --epochs 1' 'plot no.json' \
    'generate rff --rows 2 --cols 2 --dim 1 --sigma no.npy' 'theory rbf --sigma no.npy'; do
    expect_error 1 'cannot write none/there.svg: No such file or directory' kspec $c -o none/there.svg
    expect_error 1 'cannot write x.npy/there.svg: Not a directory' kspec $c -o x.npy/there.svg
    case $c in plot*|generate*) continue ;; esac
    expect_error 1 'cannot write none/there.svg: No such file or directory' kspec $c --plot none/there.svg
done
for option in theta predictions; do
    fit="kspec wls features no.npy --target no.npy --at no.npy"
    expect_error 1 'No such file or directory' $fit --$option none/there.npy
    expect_error 2 'suffix must be one of' $fit --$option there.txt
done
# a link stays a link, and what it points to is made
ln -s made link
expect_status 0 $rbf -o link
expect "what it points to is there" [ -f made -a -L link ]
rm made link
expect_error 1 'No space left' $gen -o /dev/full
expect_error 1 'No space left' bash -c '"$0" "${@:2}" -o - >/dev/full' "$KSPEC" $gen
expect_error 1 'No space left' bash -c '"$0" "${@:2}" -o y.npy --json >/dev/full' "$KSPEC" $gen
expect_error 1 'No such file or directory' $gen -o none/y.npy
expect_error 1 'No such file or directory' $gen -o /proc/y.npy
expect_error 1 'directory' $gen -o x.npy/y.npy
mkdir closed d.npy
expect_error 1 'Is a directory' $gen -o d.npy
chmod 555 closed
if [ ! -w closed ]; then # root may write everywhere
    expect_error 1 'Permission denied' $gen -o closed/y.npy
    expect_error 1 'Permission denied' $rbf -o closed/y
fi
expect "no file is left in it" [ -z "$(ls -A closed)" ]
rmdir closed d.npy

# messages do not land in the result where standard error is closed
bash -c '"$0" moments x.npy --center --json -o there 2>&-' "$KSPEC"
cp there "$out"
expect_json '"warnings" in j'
bash -c '"$0" moments x.npy --json >there 2>&-' "$KSPEC"
cp there "$out"
expect_json 'j["rows"] == 8'
bash -c '"$0" generate rff --rows 8 --cols 9 --dim 1 -o y.npy 0<&- 1>&- 2>&-' "$KSPEC"
expect "all standard files closed" cmp -s x.npy y.npy
expect_files x.npy y.npy there

# a file that cannot be finished: the older one stays, the temporary one goes
echo older >old.npy
cp old.npy old.csv
for f in old.npy old.csv; do
    expect_error 1 "cannot write .*$f: File too large" \
        bash -c 'ulimit -f 100; "$0" generate rff --rows 900 --cols 90 --dim 1 -o '$f "$KSPEC"
    expect "$f is as it was" [ "$(cat $f)" = older ]
done
expect_error 1 "File too large" \
    bash -c 'ulimit -f 100; "$0" theory rbf --eta 1 --eigenvalues 50000 -o old.csv' "$KSPEC"
expect "the older table is as it was" [ "$(cat old.csv)" = older ]
expect_files x.npy y.npy there old.npy old.csv

# a result over its own input
cp x.npy z.npy
expect_status 0 kspec moments z.npy -o z.npy
expect "the result replaces the input" grep -q 'z.npy: 8 rows' z.npy

# a reader that has seen enough
for c in 'generate rff --rows 3000 --cols 300 --dim 1 -o -' 'theory rbf --eta 1 --eigenvalues 100000' \
    'theory rbf --eta 1 --eigenvalues 100000 --json'; do
    bash -c '"$0" "${@:1}" 2>"$err" | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}' "$KSPEC" $c 2>"$err"
    status=$?
    expect "a closed pipe is status 1, not $status" [ $status -eq 1 ]
done
for c in 'theory rbf --eta 1 --eigenvalues 100000' 'generate rff --rows 3000 --cols 300 --dim 1 -o -' help
do
    err=$err bash -c '"$0" "${@:1}" 2>"$err" | true' "$KSPEC" $c
    expect "and nothing is said of it: $c" [ ! -s "$err" ]
done
done_testing
