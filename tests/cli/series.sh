# Rows that follow each other (--block, --groups) and columns of one weight (--standardize), in every command.
. "$(dirname "$0")/lib.sh"
py 'r = np.random.default_rng(4)
z = r.normal(size=(300, 30))
for i in range(1, 300): z[i] = 0.9 * z[i - 1] + np.sqrt(1 - 0.81) * z[i]
np.save("series.npy", z @ r.normal(size=(30, 60)))
np.save("other.npy", z @ r.normal(size=(30, 40)))
x = r.normal(size=(300, 30)) @ r.normal(size=(30, 60)); np.save("rows.npy", x)
np.save("scaled.npy", x * 10.0 ** r.uniform(-3, 3, 60) + 100)
np.save("standard.npy", x / x.std(axis=0, ddof=1))
np.save("short.npy", np.cumsum(r.normal(size=(60, 30)), axis=0))
np.savetxt("blocks.txt", np.arange(300) // 20, fmt="%d")'

# a block is a group
for command in "dimension series.npy" "moments series.npy -n 2" "compare series.npy other.npy" \
    "spectrum series.npy -n 3"; do
    for how in "--block 20" "--groups blocks.txt"; do
        expect_status 0 kspec $command $how --quiet --json
        "$python" - "$out" <<'END' >>same.txt
import json, sys
j = json.load(open(sys.argv[1]))
keys = "dimension ci_low alignment participation_ratio eigenvalues groups"
print([j.get(k) for k in keys.split()])
END
    done
    expect "$command: --block 20 is --groups" test "$(tail -n 2 same.txt | uniq | wc -l)" -eq 1
done
expect_status 0 kspec dimension series.npy --block 20
expect_stdout '^15 blocks of 20 rows$'

# auto: as long as rows are alike; then nothing is doubted. The truth, 30, is in the interval.
expect_status 0 kspec dimension series.npy --json
expect_json 'j["ci_high"] < 28 and any("neighbours" in d["code"] for d in j["doubts"])'
expect_stderr 'a time series, or a sorted table\?.*--block auto'
expect_status 0 kspec dimension series.npy --block auto --json
expect_json 'j["ci_low"] < 30 < j["ci_high"] and 15 <= j["block"] <= 40 and j["groups"] == 300 // j["block"]'
expect_json 'not [d for d in j["doubts"] if "neighbours" in d["code"]]'
expect_status 0 kspec dimension rows.npy --block auto
expect_stdout 'not alike, so each row is a block'
expect_error 3 'rows are correlated over .*fewer than 5 blocks.*--block' \
    kspec dimension short.npy --block auto
expect_error 2 'blocks of 100 rows: 300 rows make 3 of them, 5 are needed' \
    kspec moments series.npy --block 100
expect_error 2 'cannot be combined' kspec moments series.npy --block 20 --groups blocks.txt
for bad in 0 -3 x 2.5 ''; do
    expect_error 2 '--block: .* is not a whole number from 1, or auto' \
        kspec dimension series.npy --block "$bad"
done
expect_error 2 '--groups labels the rows that the matrices share' \
    kspec compare series.npy other.npy --groups blocks.txt --paired none
expect_status 0 kspec compare series.npy other.npy --block auto --paired none --json
expect_json 'j["groups"] == 300 // j["block"]'
expect_error 2 '--block needs --method moments' kspec spectrum series.npy --method fit --block 20
expect_status 0 kspec spectrum series.npy --block 20 -n 2
expect_stdout 'method moments \(as --block implies\)'
expect_status 0 kspec report series.npy --block auto -n 2 --quiet -o page.html

# the table says what p is of
expect_status 0 kspec compare series.npy other.npy --quiet -n 2
expect_stdout '^p tests the difference of logarithms'
expect_status 0 kspec compare rows.npy rows.npy --quiet
expect_stdout '^p <1e-16, if they had nothing in common'
expect_status 0 kspec compare rows.npy rows.npy --json
expect_json 'j["alignment_p"] < 1e-16'

# standardized: the columns' scales and means do not matter; a column of 10^6 times the rest decides nothing
for command in dimension "moments --center -n 3" "spectrum --count 5" "compare series.npy"; do
    for x in rows scaled standard; do
        expect_status 0 kspec $command $x.npy --standardize --quiet --json
        "$python" - "$out" <<'END' >>same.txt
import json, sys
def rounded(x):
    if isinstance(x, dict): return {k: rounded(v) for k, v in x.items() if k in keys}
    if isinstance(x, list): return [rounded(v) for v in x[:4]]
    return round(float("%.6g" % x), 12) if isinstance(x, float) else x
keys = "dimension ci_low ci_high value estimates alignment alignment_ci_low p eigenvalues".split()
print(json.dumps(rounded(json.load(open(sys.argv[1])))))
END
    done
    expect "$command --standardize: scales do not matter" test "$(tail -n 3 same.txt | uniq | wc -l)" -eq 1
done
expect_status 0 kspec moments scaled.npy --center --standardize -n 1 --json
expect_json 'close(m("exact", 1), 1, 1e-12)'
expect_status 0 kspec report scaled.npy --standardize --quiet -n 2 -o page.html
done_testing
