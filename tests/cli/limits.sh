# Limits on memory: every command ends, with its result or with one line.
. "$(dirname "$0")/lib.sh"
if sanitized; then skip "sanitizers need all of the address space; run the tests without them"; fi

kspec generate rff --rows 40 --cols 30 --dim 2 --seed 1 -o x.npy --quiet >"$out" || exit 1
kspec moments x.npy --json --quiet --threads 16 >want.json || exit 1

limited() { # the option of ulimit, kilobytes, command...: its status, 124 where it hangs
    local option=$1 kb=$2
    shift 2
    (ulimit "$option" "$kb" && timeout 60 "$KSPEC" "$@")
}

# OpenBLAS's own threads and buffers once made all of these run for ever
for kb in 160000 200000 300000 500000 900000 1500000 3000000; do
    for option in -v -d; do
        limited $option $kb moments x.npy --json --quiet --threads 16 >got.json 2>"$err"
        status=$?
        case $status in
        0) expect "the same result under $option $kb" [ "$(result got.json)" = "$(result want.json)" ] ;;
        1)
            expect "one line under $option $kb" grep -qE '^kspec: OpenBLAS needs a buffer of 138.4 MB' "$err"
            expect "no other line" [ "$(wc -l <"$err")" -eq 1 ]
            expect "nothing printed" [ ! -s got.json ]
            ;;
        *) fail "status $status under ulimit $option $kb: $(head -c 300 "$err")" ;;
        esac
        expect_status 0 limited $option $kb config
        expect_status 0 limited $option $kb --version
        expect_status 2 limited $option $kb moments
    done
done
expect_error 1 'OpenBLAS needs a buffer' limited -v 160000 moments x.npy
expect_status 0 limited -v 300000 moments x.npy
expect_status 0 limited -d 160000 theory rbf --eta 4

# the number of threads that a user asks OpenBLAS for makes no difference: kspec has its own
for threads in 1 16 x ''; do
    expect_status 0 env OPENBLAS_NUM_THREADS="$threads" bash -c 'ulimit -v 400000
        timeout 60 "$0" config' "$KSPEC"
done
done_testing
