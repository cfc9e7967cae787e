# A figure of the paper on the spectral norm, on its smaller data set: its verdict is that of the repository,
# and with the estimators swapped its script fails.
. "$(dirname "$0")/lib.sh"

find_data communities/communities.data || exit 77
export KSPEC_DATA=$data

script() { # name, sed expression...: a copy of the script, on Crime alone and changed so
    mkdir "$1"
    cp "$KSPEC_SOURCE"/repro/{harness,paper001,fig_001_2ef}.py "$1"
    sed -i -e 's/for data in (CRIME, WINE)\]/for data in (CRIME,)]/' \
        -e 's/for d in (CRIME, WINE)/for d in (CRIME,)/' "$1/paper001.py"
    sed -i "${@:2}" "$1/fig_001_2ef.py"
}
run() { # folder
    "$python" "$1/fig_001_2ef.py" --no-pictures --threads 2 --out "$work/results" >"$out" 2>&1
}

script right -e ''
expect "the figure's claims are judged" run right
expect_stdout 'ok +Crime, min–max.*nystrom and rff-nystrom converge alike'
expect_stdout 'differs +Crime, min–max.*rff-nystrom converges to the norm.*rff-power'
expect_stdout '^001-2ef: differs \(quick'
expect "the result is written" test -s "$work/results/quick/001-2ef.json"

script swapped -e 's/own, features =/features, own =/'
! run swapped || fail "the estimators are swapped, and nothing fails"
expect_stdout 'FAILED +Crime, min–max.*: nystrom converges to the norm'
done_testing
