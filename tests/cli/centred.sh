# The reference values of centred.json that moments give, and the matrices behind the others.
. "$(dirname "$0")/lib.sh"

compare() { "$python" "$KSPEC_SOURCE/tests/cli/centred.py" "$KSPEC" "$1"; }
expect "the reference values" compare "$golden/centred.json"
for isa in generic avx2; do
    KSPEC_ISA=$isa kspec config >/dev/null 2>&1 || { echo "no $isa here"; continue; }
    expect "the reference values, $isa" env KSPEC_ISA=$isa "$python" \
        "$KSPEC_SOURCE/tests/cli/centred.py" "$KSPEC" "$golden/centred.json"
done
# the comparison can fail
for key in cross missing_exact centred centred_two_trials square_of_trace population_30_20 \
    population_30_inf_centred groups_of_2_path row_groups_of_2_path row_groups_of_2_exact_m2 \
    row_groups_of_2_exact_m2_centred; do
    "$python" -c 'import json, sys
g = json.load(open(sys.argv[1]))
c, key = g["cases"][2], sys.argv[2]
g["cases"] = [c]
if isinstance(c[key], list):
    c[key][0 if key == "missing_exact" else -1] *= 1 + 3e-8
else:
    c[key] *= 1 + 3e-8
json.dump(g, open("spoilt.json", "w"))' "$golden/centred.json" $key
    expect "a spoilt $key is noticed" eval '! compare spoilt.json >/dev/null'
done
done_testing
