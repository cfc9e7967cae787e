# Reference values of ridge, made elsewhere: $KSPEC_DATA/../golden/golden.json or ../shared/golden/golden.json.
. "$(dirname "$0")/lib.sh"

find_golden
[ -n "$golden" ] || skip "no golden.json"
expect "the reference values" "$python" "$KSPEC_SOURCE/tests/cli/ridge_golden.py" "$KSPEC" "$golden"
# the comparison can fail
"$python" -c 'import json, sys
g = json.load(open(sys.argv[1]))
g["ridge"][1]["test_mse"] *= 1 + 2e-8
json.dump(g, open("spoilt.json", "w"))' "$golden"
expect "a spoilt file is noticed" eval '! "$python" "$KSPEC_SOURCE/tests/cli/ridge_golden.py" "$KSPEC" spoilt.json >/dev/null'
done_testing
