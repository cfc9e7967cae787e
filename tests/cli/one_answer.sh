# One matrix has one dimension: every command that gives it gives the same digits.
. "$(dirname "$0")/lib.sh"

recording=
if find_data v4/responses_210325.npy; then recording=$data/v4/responses_210325.npy; fi
# shellcheck disable=SC2086 # none, or one
expect "one dimension each" "$python" "$KSPEC_SOURCE/tests/cli/one_answer.py" "$KSPEC" $recording
done_testing
