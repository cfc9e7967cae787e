#!/bin/bash
# The script of a figure of the paper on random Fourier features passes, and fails where its judgement or the
# prediction is wrong. A copy with 6 draws, and results cached between the runs, save time.
. "$(dirname "$0")/lib.sh"
find_data mnist/{train15k,t10k}-{images-idx3,labels-idx1}-ubyte.gz || exit 77
export KSPEC_DATA=$data KSPEC

cp "$KSPEC_SOURCE"/repro/{harness,paper002,fig_002_2}.py .
sed -i 's/figure.pick(20, 30)/6/' fig_002_2.py
figure() { "$python" -B fig_002_2.py --no-pictures --out "$work/results"; }
broken() { # what is broken, file, sed expression: the figure fails by a claim
    cp "$2" kept
    sed -i "$3" "$2"
    ! cmp -s "$2" kept || fail "$1: nothing was broken"
    figure >"$out" 2>"$err"
    expect "$1 is not noticed" [ $? -eq 1 ]
    expect_stdout '^002-2: FAILED'
    mv kept "$2"
}

expect "the figure passes" figure >"$out"
expect_stdout '^002-2: reproduced'
broken "the kernel's prediction for ours" paper002.py 's/p\[predicted\]/p[f"kernel_{what}_mse"]/'
broken "a peak at N = n" paper002.py 's/if 2 \* p\["features"\] == j/if p["features"] == j/'
done_testing
