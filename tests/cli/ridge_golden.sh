# kspec ridge against reference values.
. "$(dirname "$0")/lib.sh"

compare() { "$python" "$KSPEC_SOURCE/tests/cli/ridge_golden.py" "$KSPEC" "$1"; }
expect "the reference values" compare "$golden/golden.json"
# the comparison can fail
"$python" -c 'import json, sys
g = json.load(open(sys.argv[1]))
g["ridge"][1]["test_mse"] *= 1 + 2e-8
json.dump(g, open("spoilt.json", "w"))' "$golden/golden.json"
expect "a spoilt file is noticed" eval '! compare spoilt.json >/dev/null'
done_testing
