# kspec-bench: its answers are right, and speed is reported, whatever it is.
. "$(dirname "$0")/lib.sh"

bench=$(dirname "$KSPEC")/bench/kspec-bench
if [ ! -x "$bench" ]; then
    echo "skip: kspec-bench is not built; run 'make bench'"
    exit 77
fi
results() { # part, lines of its table, options...
    local part=$1 lines=$2
    shift 2
    expect_status 0 "$bench" "$part" "$@" --repeat 1 --json
    expect_json "j['schema'] == 'kspec-bench/1' and j['what'] == '$part' and len(j['results']) == $lines"
    expect_json "j['command_line'].startswith('kspec-bench $part --')"
    expect_json 'all(e["name"] and e["seconds"] > 0 and e["dgemm_gfma_per_s"] > 0 for e in j["results"])'
    expect_json 'all(close(e["ratio"], e["gfma_per_s"] / e["dgemm_gfma_per_s"], 1e-9) for e in j["results"])'
}
results moments 5 --rows 16 --cols 16
results exact 3 --rows 16 --cols 16
results ridge 9 --rows 64
results norm 8 --rows 200
expect_json 'all(e["of_product_and_pass"] > 0 for e in j["results"])'
results features 4 --rows 200 --cols 20
expect_json 'all(e["of_product_and_pass"] > 0 for e in j["results"])'
results dimension 2 --rows 40 --cols 30
expect_status 0 "$bench" dimension --rows 40 --cols 30 --repeat 1
expect_stdout '^dimension, 1 thread '
expect_status 0 "$bench" -h
expect_stdout '^usage: kspec-bench \[moments\|exact\|ridge\|norm\|features\|dimension\] '
expect_error 2 "unknown option '--zzzzzzzz'; 'kspec-bench -h' lists them" "$bench" --zzzzzzzz
expect_error 2 "'moment' must be one of moments, exact, .*dimension" "$bench" moment
expect_error 2 'no GPU can be used' "$bench" moments --device gpu
expect_error 2 "unknown command 'bench'" kspec bench
done_testing
