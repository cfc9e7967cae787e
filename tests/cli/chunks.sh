# Blocks of rows (--chunk) and several files as rows of one matrix (--concat), against one call with all rows.
. "$(dirname "$0")/lib.sh"

py 'n = np.random.default_rng(5).normal
x = n(size=(300, 6)) @ n(size=(6, 12)) + 0.4 * n(size=(300, 12)) + 50
y = x @ n(size=(12, 9)) + n(size=(300, 9))
f = x.astype("f4"); i = np.round(10 * x).astype(">i2")
np.save("x.npy", x); np.save("y.npy", y); np.save("f.npy", f); np.save("i.npy", i)
np.save("wide.npy", f.astype("f8")); np.save("whole.npy", i.astype("f8"))
np.save("fortran.npy", np.asfortranarray(x)); np.save("ffortran.npy", np.asfortranarray(f))
np.save("turned.npy", np.ascontiguousarray(f.T))
for k in range(3): np.save(f"p{k}.npy", x[100 * k : 100 * k + 100])
np.savez("x.npz", a=x)
np.savetxt("x.csv", x, delimiter=",", header=",".join("abcdefghijkl"), comments="", fmt="%.17g")
h = x.copy(); h[7, 3] = np.nan; np.save("holes.npy", h)
h[7, 3] = -999; np.save("fill.npy", h); np.save("less.npy", np.delete(x, 7, 0))
np.save("narrow.npy", x[:, :5]); np.save("short.npy", y[:200]); np.save("cube.npy", x.reshape(3, 100, 12))'
gzip -k x.csv

same='close(j["dimension"], a["dimension"], 1e-9) and close(j["ci_low"], a["ci_low"], 1e-6)'
same+=' and close(j["ci_high"], a["ci_high"], 1e-6) and j["rows"] == a["rows"] and j["cols"] == a["cols"]'
alike() { # a command in one piece; then in blocks
    expect_status 0 kspec $1 --json
    cp "$out" one.json
    expect_status 0 kspec $2 --json
    expect_json "(lambda a: $same)(json.load(open('one.json')))"
}
for rows in 1 7 300 1000; do alike "dimension x.npy" "dimension x.npy --chunk $rows"; done
alike "dimension wide.npy --sampled rows" "dimension f.npy --chunk 64 --sampled rows"
alike "dimension whole.npy --no-center" "dimension i.npy --chunk 64 --no-center"
for f in fortran.npy x.npz:a x.csv x.csv.gz; do alike "dimension x.npy" "dimension $f --chunk 11"; done
alike "dimension wide.npy" "dimension ffortran.npy --chunk 64"
alike "dimension wide.npy" "dimension turned.npy --axes cols,rows --chunk 64"
for f in x.npy x.csv fortran.npy; do
    alike "dimension x.npy --select-cols 2-6" "dimension $f --chunk 50 --select-cols 2-6"
done
alike "dimension wide.npy --select-cols 2-6" "dimension f.npy --chunk 50 --select-cols 2-6"
alike "dimension x.npy --select-cols 1,4,5" "dimension x.csv --chunk 50 --select-cols b,e,f"
alike "dimension x.npy" "dimension p0.npy p1.npy p2.npy --concat"
alike "dimension x.npy" "dimension p0.npy p1.npy p2.npy --concat --chunk 33"
alike "dimension less.npy" "dimension holes.npy --chunk 33 --nan omit-rows"
alike "dimension less.npy" "dimension fill.npy --chunk 33 --nan omit-rows --fill -999"
expect "standard input" eval 'kspec dimension - --chunk 20 --json <x.csv >in.json'
expect_json '(lambda b: close(b["dimension"], j["dimension"], 1))(json.load(open("in.json")))'
# two matrices with the same rows
expect_status 0 kspec compare x.npy y.npy --sampled rows --json
cp "$out" two.json
expect_status 0 kspec compare x.npy y.npy --sampled rows --chunk 70 --json
expect_json '(lambda a: all(close(j[k], a[k], 1e-7)
             for k in ("alignment", "alignment_ci_low", "dimension", "other_dimension")))(
             json.load(open("two.json")))'
# a file of 200 MB, of which at no time more than a block is this process's memory
py 'np.lib.format.open_memmap("large.npy", "w+", "f4", (500000, 100))[:] = \
    np.tile(np.random.default_rng(1).normal(size=(5000, 100)).astype("f4"), (100, 1))'
least='import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20)))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)'
if sanitized; then
    echo "skip: sanitizers need all of the address space; run the tests without them"
else
    "$python" -c "$least" "$KSPEC" dimension large.npy --chunk 2000 --threads 1 >peak
    expect "bounded memory: $(cat peak) MB" test "$(cat peak)" -lt 160
fi
rm large.npy
# what is refused
expect_error 2 '2 INPUTs would be trials; use --concat if they are rows of one matrix' \
    kspec dimension p0.npy p1.npy --chunk 10
expect_error 3 'narrow.npy has 5 columns, p0.npy has 12: they are not rows of one matrix' \
    kspec dimension p0.npy narrow.npy --concat
expect_error 3 'cube.npy holds 3 trials; one matrix is expected' kspec dimension cube.npy --chunk 10
expect_error 3 'holes.npy: row 7, column 3 \(from 0\) is missing' kspec dimension holes.npy --chunk 5
expect_error 3 'different numbers of rows' kspec compare x.npy short.npy --chunk 30
expect_error 2 'checkpoint and --chunk cannot be combined' kspec dimension x.npy --chunk 9 --checkpoint here
for o in '--curve' '--target y.npy' '--standardize' '--block 2' '--label a' '--device gpu' \
    '--population-rows 999'; do
    expect_status 2 kspec dimension $o x.npy --chunk 9
    expect_stderr 'and --chunk cannot be combined'
done
expect_status 2 kspec dimension x.npy --chunk 9 --select-rows 1-20
expect_stderr 'blocks of rows'
expect_status 2 kspec dimension x.npy --chunk 9 --nan pairwise
expect_stderr 'in blocks of rows, missing values are errors or omit-rows'
expect_status 2 kspec dimension x.npy --chunk 9 --center=cols
expect_status 2 kspec dimension x.npy --chunk 0
done_testing
