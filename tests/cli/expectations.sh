# The expectations of lib.sh do fail when they should.
. "$(dirname "$0")/lib.sh"

must_fail() {
    local before=$failures
    "$@" >/dev/null 2>&1
    checks=$((checks + 1))
    if [ "$failures" -eq "$before" ]; then fail "'$*' passes"; else failures=$before; fi
}
two_lines() { printf 'kspec: a\nkspec: b\n' >&2; return 2; }
no_prefix() { echo 'a' >&2; return 2; }
silent() { return 2; }
chatter() { echo 'kspec: a' >&2; }
warns() { echo 'kspec: warning: a' >&2; }
prints() { echo 'kspec: a' >&2; echo x; return 2; }
fails() { echo 'kspec: a' >&2; return 2; }

expect_status 0 warns
expect_error 2 '^kspec: a$' fails
must_fail expect_status 1 true
must_fail expect_status 0 fails
must_fail expect_status 2 two_lines
must_fail expect_status 2 no_prefix
must_fail expect_status 2 silent
must_fail expect_status 0 chatter
must_fail expect_error 2 b fails
must_fail expect_error 1 a fails
must_fail expect_error 2 a prints

expect_status 0 echo '{"a": 1}'
expect_json 'j["a"] == 1'
must_fail expect_json 'j["a"] == 2'
must_fail expect_json 'j["b"] == 2'
must_fail expect_json 'j["a"], 1' # a pair is not true
expect_status 0 echo '{"a": 1} x'
must_fail expect_json 'True'
expect_status 0 echo '[1]'
must_fail expect_json 'True'
must_fail expect_stdout 2
must_fail expect false false

expect_files
touch a
must_fail expect_files
expect_files a
done_testing
