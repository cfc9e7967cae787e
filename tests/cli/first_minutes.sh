# The first minutes: what is said to a newcomer, and eight first commands that use nothing but the first
# screen of the README, on files as people have them. None ends in a wrong number without a warning.
. "$(dirname "$0")/lib.sh"

# ---- a greeting, and help in the reader's words ----
"$KSPEC" >"$out" 2>"$err"
expect "kspec alone is wrong usage" [ $? -eq 2 ]
expect "three lines" [ "$(wc -l <"$err")" -eq 3 ]
for line in 'How many dimensions.*kspec dimension' 'What spectrum.*kspec spectrum' 'alike.*kspec compare'; do
    expect_stderr "$line"
done
expect_status 0 kspec help dimension
expect_stdout '^How many dimensions do your data have'
expect_stdout 'neurons x images x repeats'
for c in dimension spectrum compare report; do
    expect "$c is on the README's first screen" eval \
        'sed -n "1,/^## /p" "$KSPEC_SOURCE/README.md" | grep -q "build/kspec $c "'
done
head -1 "$KSPEC_SOURCE/README.md" >"$out"
expect_stdout '\?$'

# the commands of the README's first screen print what it shows
sed -n 's/^\$ build\/kspec //p' "$KSPEC_SOURCE/README.md" >commands
sed -n '/^\$ build\/kspec dimension/,/^```/p' "$KSPEC_SOURCE/README.md" | sed '1d;$d' >shown
expect "the README shows two commands" [ "$(wc -l <commands)" -eq 2 ]
while read -r words; do
    # shellcheck disable=SC2086
    kspec $words >"$out" 2>"$err" </dev/null || expect "kspec $words" false
done <commands
expect "and their output" cmp shown "$out"
rm -f x.npy

# ---- one of a thing ----
py 'np.save("one.npy", np.ones((1, 1)))'
expect_status 3 kspec dimension one.npy
expect "1 row, not 1 rows" eval '! grep -qE "\b1 (rows|columns|trials|values|groups)" "$err"'
expect_stderr '\b1 row\b.*\b1 column\b'
py 'np.save("x.npy", np.arange(8.0).reshape(4, 2) % 5); np.save("y.npy", np.ones(1))'
expect_error 3 'y.npy has|has 1$' kspec ridge x.npy --target y.npy --features 2 --lambda 1
expect_error 3 'y.npy has 1 row, but its target x.npy has 4' \
    kspec ridge y.npy --target x.npy --features 2 --lambda 1

# ---- the demo ends with a report ----
mkdir tool
cp "$KSPEC" tool/kspec
cp "$(dirname "$KSPEC")/kspec-hdf5" tool/
if command -v gnuplot >/dev/null; then
    sh "$KSPEC_SOURCE/examples/demo.sh" tool/kspec >"$out" 2>"$err"
    expect "the demo ends well" [ $? -eq 0 ]
    expect_stdout '^Open it with: .*/tool/report.html$'
    expect "the report is there" grep -q '</html>' tool/report.html
fi

# ---- eight first commands ----
"$python" - <<'END' || exit 1
import numpy as np, scipy.io
rng = np.random.default_rng(7)
# (a) 30 neurons x 80 images x 6 repeats of 5 dimensions; later repeats of some images were not made
images, neurons = rng.normal(size=(80, 5)), rng.normal(size=(30, 5))
a = (neurons @ images.T)[:, :, None] + rng.normal(size=(30, 80, 6))
for i in range(80):
    a[:, i, rng.integers(3, 7):] = np.nan
np.save("neurons.npy", a)
# (b) a table as pandas writes it: an index without a name, a column of words
b = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 9))
with open("table.csv", "w") as f:
    f.write("," + ",".join("f%d" % k for k in range(9)) + ",condition\n")
    for i, row in enumerate(b):
        f.write("%d,%s,%s\n" % (i, ",".join("%.6g" % v for v in row), "left" if i % 2 else "right"))
# (c) a MATLAB struct
c = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20))
scipy.io.savemat("session.mat", {"exp": {"spikes": c, "rate": 30.0, "subject": "m1"}, "version": 2.0})
# (d) activations: 1000 inputs, 4096 units, 10 dimensions and a mean that is not 0
d = rng.normal(size=(1000, 10)) @ rng.normal(size=(10, 4096)) + 3
np.save("activations.npy", d.astype("f4"))
END
says() { # what a transcript shows: the command, and the lines that matter
    echo "\$ kspec $*" >>transcript
    "$KSPEC" "$@" >"$out" 2>"$err" </dev/null
    echo $? >status
    cat "$err" "$out" >>transcript
}
ends() { expect "$1: status $(cat status)" [ "$(cat status)" -eq "$1" ]; }
holds() { # truth: it lies in the interval of the first line, which is not so wide as to say nothing
    checks=$((checks + 1))
    "$python" -c 'import re, sys
line, truth = open(sys.argv[1]).readline(), float(sys.argv[2])
low, high = map(float, re.search("interval ([^ ]+) … ([^)]+)", line).groups())
assert low < truth < high < 5 * low, line' "$out" "$1" || fail "not $1"
}
# 1: (a) is refused, and the message has the words that mend it
says dimension neurons.npy
ends 3
expect_stderr '30 trials of 80 x 6.*--axes cols,rows,trials'
# 2: (a) again: the missing repeats are named, with the axes
says dimension neurons.npy --axes cols,rows,trials
ends 3
expect_stderr 'taken as 6 trials x 80 rows x 30 columns.*--nan ragged-trials'
# 3: (a) at last
says dimension neurons.npy --axes cols,rows,trials --nan ragged-trials
ends 0
holds 5
expect_stdout '3 to 6 trials × 80 rows × 30 columns'
# 4: (b) has a column of words
says dimension table.csv
ends 3
expect_stderr "line 2, column 10: '(left|right)' is not a number; leave the column out \(--select-cols 0-9\)$"
# 5: (b) without it, as most would do: the index is told
says dimension table.csv --select-cols 0-9
ends 0
expect_stderr 'column 0 has no name, as an index has: .*--select-cols'
# 6: (b) as it should be
says dimension table.csv --select-cols 1-9
ends 0
expect "without a warning" [ ! -s "$err" ]
holds 4
# 7: (c) as the first screen writes it
says dimension session.mat:exp.spikes
ends 0
holds 3
# 8: (d)
says dimension activations.npy
ends 0
holds 10
expect_stdout '1000 rows × 4096 columns'
cp transcript "${KSPEC_TRANSCRIPT:-/dev/null}"
done_testing
