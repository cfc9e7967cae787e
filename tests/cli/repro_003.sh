# A figure of the paper on weighted least squares: its verdict is that of the repository, and it fails with
# weights swapped or with another equation than the printed one.
. "$(dirname "$0")/lib.sh"

script() { # name, sed expression...: a copy of the script, changed so
    mkdir "$1"
    cp "$KSPEC_SOURCE"/repro/{harness,paper003,fig_003_1b}.py "$1"
    sed -i "${@:2}" "$1/fig_003_1b.py"
}
run() { # folder
    "$python" "$1/fig_003_1b.py" --no-pictures --threads 1 --out "$work/results" >"$out" 2>&1
}

script right -e ''
expect "the figure's claims are judged" run right
expect_stdout 'ok +α = 0.3: double descent'
expect_stdout 'differs +α = 0.8: double descent.*error peaks at p = 7'
expect_stdout '^003-1b: differs \(quick'

script swapped -e 's/"--alpha", alpha, "--beta", beta/"--alpha", beta, "--beta", alpha/'
! run swapped || fail "the weights are swapped, and nothing fails"
expect_stdout 'FAILED +α plays a role for p < N only'
script equation -e 's/return 1 + c \* sum(t\[:p\])/return 1 + c * sum(t)/'
! run equation || fail "the equation is another one, and nothing fails"
expect_stdout 'FAILED +equation \(14\) as printed is right at p = N'
done_testing
