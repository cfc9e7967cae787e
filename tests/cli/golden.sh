# Reference values, made elsewhere: $KSPEC_DATA/../golden/golden.json or ../shared/golden/golden.json beside the source.
. "$(dirname "$0")/lib.sh"

for golden in "${KSPEC_DATA:+$KSPEC_DATA/../golden/golden.json}" "$KSPEC_SOURCE/../shared/golden/golden.json" ''; do
    [ -z "$golden" ] || [ ! -r "$golden" ] || break
done
[ -n "$golden" ] || skip "no golden.json"
expect "the reference values" "$python" "$KSPEC_SOURCE/tests/cli/golden.py" "$KSPEC" "$golden"
# the comparison can fail
"$python" -c 'import json, sys
g = json.load(open(sys.argv[1]))
g["moments"][1]["estimates"]["kv-col"][3] *= 1 + 1e-9
json.dump(g, open("spoilt.json", "w"))' "$golden"
expect "a spoilt file is noticed" eval '! "$python" "$KSPEC_SOURCE/tests/cli/golden.py" "$KSPEC" spoilt.json >/dev/null'
done_testing
