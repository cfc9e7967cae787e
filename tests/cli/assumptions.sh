# Data that break the assumptions are noticed, and data that do not are left alone (assumptions.py).
. "$(dirname "$0")/lib.sh"
expect "assumptions" "$python" "$(dirname "$0")/assumptions.py" "$KSPEC" "$fixtures/tables"
done_testing
