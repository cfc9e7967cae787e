# Reference values, made elsewhere: $KSPEC_DATA/../golden/golden.json or ../shared/golden/golden.json beside the source.
. "$(dirname "$0")/lib.sh"

find_golden
[ -n "$golden" ] || skip "no golden.json"
expect "the reference values" "$python" "$KSPEC_SOURCE/tests/cli/golden.py" "$KSPEC" "$golden"
# the comparison can fail
"$python" -c 'import json, sys
g = json.load(open(sys.argv[1]))
g["moments"][1]["estimates"]["kv-col"][3] *= 1 + 1e-9
json.dump(g, open("spoilt.json", "w"))' "$golden"
expect "a spoilt file is noticed" eval '! "$python" "$KSPEC_SOURCE/tests/cli/golden.py" "$KSPEC" spoilt.json >/dev/null'
done_testing
