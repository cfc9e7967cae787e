#!/bin/bash
# A table of the documentation is made by its script, is written between its markers, and has the numbers of
# the page; a table whose data are missing is skipped, an unknown one refused.
. "$(dirname "$0")/lib.sh"

mkdir -p tree/house/docs
cp -r "$KSPEC_SOURCE/repro" tree/house/repro
page=tree/house/docs/wls.md
printf 'before\n<!-- figure_1b: repro/doc_wls.py -->\nold\n<!-- end -->\nafter\n' >$page
tables() { KSPEC_DATA=nowhere "$python" tree/house/repro/doc_wls.py --out results "$@" >"$out" 2>&1; }

expect "the table is made" tables --docs figure_1b
expect_stdout '^    kspec wls --grid 64 '
row=$(grep '^| 64 ' "$out")
expect "the documentation has its first number" grep -qF "${row%%)*}" "$KSPEC_SOURCE/docs/wls.md"
expect "the table is in the page" grep -qxF "$row" $page
expect "the text around it stays, the old table does not" \
    [ "$(grep -xE 'before|old|<!-- end -->|after' $page | tr '\n' ' ')" = "before <!-- end --> after " ]

expect "a table without its data is skipped" tables figure_2
expect_stdout "^skipped: no mnist/t10k-images-idx3-ubyte\.gz; run 'make data'$"
tables figure_9
expect "an unknown table is refused" [ $? -eq 1 ]
expect_stdout "'figure_9' must be one of figure_1a, figure_1b, figure_2"
done_testing
