#!/bin/bash
# Every command of the tutorials and how-tos runs as typed, and prints what the page shows.
. "$(dirname "$0")/lib.sh"
export KSPEC KSPEC_SOURCE
PATH=$(dirname "$KSPEC"):/usr/bin:$PATH PYTHONPATH=$(dirname "$KSPEC")/python
export PATH PYTHONPATH
expect "pages" "$python" "$KSPEC_SOURCE/tests/cli/pages.py"
# a page whose output is wrong by a digit, whose command fails, or that nobody runs, fails
page() { printf '%s\n' "$@" >wrong.md; }
refused() { ! "$python" "$KSPEC_SOURCE/tests/cli/pages.py" wrong.md >"$out" 2>&1; }
page '# Wrong' '```console' '$ echo 1.25' '1.35' '```'
expect "a wrong number is found" refused
page '# Wrong' '```console' '$ kspec dimension nope.npy' '```'
expect "a failing command is found" refused
page '# Wrong' '```python' 'print(1)' '```' '```text' '3' '```'
expect "wrong output of Python is found" refused
page '# Wrong' '```r' 'x <- 1' '```'
expect "a block that nobody runs is found" refused
done_testing
