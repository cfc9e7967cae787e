# The reference values of centred.json that the tool can give today, and the matrices behind the others.
. "$(dirname "$0")/lib.sh"

compare() { "$python" "$KSPEC_SOURCE/tests/cli/centred.py" "$KSPEC" "$1"; }
expect "the reference values" compare "$golden/centred.json"
# the comparison can fail
for key in cross missing_exact centred_two_trials square_of_trace population_30_20; do
    "$python" -c 'import json, sys
g = json.load(open(sys.argv[1]))
c, key = g["cases"][2], sys.argv[2]
if isinstance(c[key], list):
    c[key][0] *= 1 + 1e-9
else:
    c[key] *= 1 + 1e-9
json.dump(g, open("spoilt.json", "w"))' "$golden/centred.json" $key
    expect "a spoilt $key is noticed" eval '! compare spoilt.json >/dev/null'
done
done_testing
