#!/bin/bash
# A table of the documentation is made by its script, is written between its markers, and has the numbers of
# the page; a table whose data are missing is skipped, an unknown one refused. Pictures of the papers' figures
# are those that the tool draws of the numbers beside them.
. "$(dirname "$0")/lib.sh"

mkdir -p tree/house/docs/measurements
cp -r "$KSPEC_SOURCE/repro" tree/house/repro
page=tree/house/docs/measurements/wls.md
printf 'before\n<!-- figure_1b: repro/doc_wls.py -->\nold\n<!-- end -->\nafter\n' >$page
tables() { KSPEC_DATA=nowhere "$python" tree/house/repro/doc_wls.py --out results "$@" >"$out" 2>&1; }

expect "the table is made" tables --docs figure_1b
expect_stdout '^    kspec wls --grid 64 '
row=$(grep '^| 64 ' "$out")
expect "the documentation has its first number" grep -qF "${row%%)*}" "$KSPEC_SOURCE/docs/measurements/wls.md"
expect "the table is in the page" grep -qxF "$row" $page
expect "the text around it stays, the old table does not" \
    [ "$(grep -xE 'before|old|<!-- end -->|after' $page | tr '\n' ' ')" = "before <!-- end --> after " ]

expect "a table without its data is skipped" tables figure_2
expect_stdout "^skipped: no mnist/t10k-images-idx3-ubyte\.gz; run 'make data'$"
tables figure_9
expect "an unknown table is refused" [ $? -eq 1 ]
expect_stdout "'figure_9' must be one of figure_1a, figure_1b, figure_2"

# the page of figures, its pictures and their numbers
mkdir -p results/quick
echo '{"command": "figure", "panels": [{"series": [{"y": [3, 1, 2]}]}]}' >results/quick/000-9z.figure.json
echo '<svg/>' >results/quick/000-9z.svg
cat >results/quick/000-9z.json <<'END'
{"name": "000-9z", "paper": "A paper", "title": "A figure", "size": "quick", "verdict": "reproduced",
 "reason": null,
 "claims": [{"kind": "claim", "text": "so it is", "number": "1", "holds": true, "reason": null}],
 "pictures": ["000-9z.svg"], "commands": ["kspec config"], "command_count": 1, "seconds": 1}
END
rm tree/house/repro/results.json  # the page is then of the results here alone
# a claim counts once: under a reading where one reading serves all, in part where none does
claims() { # name, holds of two claims under two readings, as JSON
    cat >results/quick/$1.json <<END
{"name": "$1", "paper": "A paper", "title": "A figure", "size": "full", "verdict": "differs", "reason": null,
 "claims": [{"kind": "claim", "text": "unit rows: so", "number": "1", "holds": $2, "reason": "why"},
            {"kind": "claim", "text": "unit columns: so", "number": "1", "holds": $3, "reason": "why"},
            {"kind": "claim", "text": "unit rows: too", "number": "1", "holds": $4, "reason": "why"},
            {"kind": "claim", "text": "unit columns: too", "number": "1", "holds": $5, "reason": "why"}],
 "pictures": [], "commands": [], "command_count": 0, "seconds": 1}
END
}
claims 000-9a true false true false
claims 000-9b true false false true
claims 000-9c true true null null
expect "the page is made" "$python" tree/house/repro/report.py --out results --docs tree/house/docs
expect "it has the figure" grep -qF '[000-9z](#000-9z) (quick)' tree/house/docs/reproduction.md
expect_line() { expect "$1" grep -qF "$1" tree/house/docs/reproduction.md; }
expect_line '**under a reading**<br>unit rows: 2 of 2<br>unit columns: 0 of 2 |'
expect_line '**in part**: 1 of 2 claims<br>unit rows: 1 of 2<br>unit columns: 1 of 2 |'
expect_line '**reproduced**, 1 undecided<br>unit rows: 1 of 2<br>unit columns: 1 of 2 |'
expect_line "This page has 4 figures, 3 at the papers' sizes and 1 reduced (marked *quick*)."
expect_line 'The verdicts on them are 2 reproduced, 1 under a reading, 1 in part.'
expect_line '7 claims, of which 2 hold, 4 hold under some reading, 0 hold under none, and 1 is undecided.'
for name in svg figure.json; do
    expect "its $name" cmp -s results/quick/000-9z.$name tree/house/docs/images/repro/000-9z.$name
done

# gnuplots differ in how they write a picture
if [ "$(gnuplot --version 2>/dev/null)" = 'gnuplot 5.4 patchlevel 4' ]; then
    for figure in "$KSPEC_SOURCE"/docs/images/repro/*.figure.json; do
        expect_status 0 kspec plot "$figure" -o drawn.svg
        expect "$(basename "$figure"): run docs/pictures.sh" cmp -s drawn.svg "${figure%.figure.json}.svg"
    done
else
    echo "skip: not gnuplot 5.4.4, which drew the pictures of docs/reproduction.md; install Debian 12's"
fi
done_testing
