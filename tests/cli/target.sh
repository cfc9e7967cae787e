# Targets, the signal share and the chance of an alignment: values, files and columns, names, bad input.
. "$(dirname "$0")/lib.sh"

py 'r = np.random.default_rng(3)
f = r.normal(size=(60, 3)); x = f @ r.normal(size=(3, 40)) + 0.5 * r.normal(size=(60, 40))
y = f[:, 0] + 0.3 * r.normal(size=60)
np.save("x.npy", x); np.save("y.npy", y); np.save("short.npy", y[:50])
np.save("noise.npy", r.normal(size=(60, 2))); np.save("alone.npy", r.normal(size=(60, 30)))
np.save("other.npy", f @ r.normal(size=(3, 30)) + r.normal(size=(60, 30)))
np.savetxt("t.csv", np.c_[x[:, :5], y], delimiter=",", header="a,b,c,d,e,label", comments="")
np.save("five.npy", x[:, :5]); np.save("again.npy", x + 2 * r.normal(size=x.shape))'

# one of three eigenfunctions that are alike: a share of a third, seen at a glance
expect_status 0 kspec dimension x.npy --target y.npy --json

expect_json 'j["targets"][0]["share_ci_low"] < 1 / 3 < j["targets"][0]["share_ci_high"]'
expect_json 'j["targets"][0]["p"] < 1e-6 and j["targets"][0]["name"] == "y.npy"'
expect_json '[a["n"] for a in j["targets"][0]["alignments"]] == [1, 2]'
expect_json 'all(a["ci_low"] < a["value"] < a["ci_high"] for a in j["targets"][0]["alignments"])'
expect_json 'j["input"]["target"]["path"] == "y.npy"'
# against a plain sum: <y, T y> of centred data is the mean over four different rows
py 'import json
x, y = np.load("x.npy"), np.load("y.npy"); n = len(y)
K = x @ x.T / x.shape[1]; L = np.outer(y, y)
np.fill_diagonal(K, 0); np.fill_diagonal(L, 0)
h = (np.sum(K * L) + K.sum() * L.sum() / (n - 1) / (n - 2) - 2 / (n - 2) * K.sum(0) @ L.sum(0)) / n / (n - 3)
json.dump(h, open("plain", "w"))'
expect_json 'close(j["targets"][0]["alignments"][0]["value"], json.load(open("plain")), 1e-10)'
expect_status 0 kspec dimension x.npy --target y.npy
expect_stdout '^target y\.npy  alignment, std\. error, 95% interval from … to$'
expect_stdout '^  <y, T\^2 y> +[0-9]'
expect_stdout '^  p [0-9.e-]+, if the target were unrelated to the rows$'
# two targets of noise
expect_status 0 kspec dimension x.npy --target noise.npy --json
expect_json '[t["name"] for t in j["targets"]] == ["0", "1"] and all(t["p"] > 1e-3 for t in j["targets"])'
# a column of the table, which is not a feature then
expect_status 0 kspec dimension five.npy --target y.npy --json
cp "$out" five
expect_status 0 kspec dimension t.csv --target label --json
expect_json 'j["cols"] == 5 and j["targets"][0]["name"] == "label"'
expect_json 'close(j["targets"][0]["share"], json.load(open("five"))["targets"][0]["share"], 1e-9)'
expect_status 0 kspec dimension t.csv --target 5 --select-cols 0-2 --json
expect_json 'j["cols"] == 3 and j["targets"][0]["name"] == "label"'
expect_status 0 kspec dimension x.npy --target y.npy --select-rows 0-39 --json
expect_json 'j["rows"] == 40 and len(j["targets"]) == 1'
expect_status 0 kspec dimension x.npy --target y.npy --no-center --json
expect_json 'j["targets"][0]["p"] is None and j["targets"][0]["share"] is not None'
# bad input
expect_error 3 '60 rows, but its target short\.npy has 50' kspec dimension x.npy --target short.npy
expect_error 2 'nope' kspec dimension t.csv --target nope
expect_error 2 'standard input' kspec dimension - --target label <t.csv
expect_error 2 'with 2 INPUTs, the target must be a file' kspec dimension x.npy again.npy --target 3
expect_error 2 'for one matrix' kspec dimension --label a x.npy --label b again.npy --target y.npy
expect_error 2 'centred over rows only' kspec dimension x.npy --target y.npy --center=cols

# the signal share: all columns have 3.25 of variance, the second trial 4 of noise on top
expect_status 0 kspec dimension x.npy again.npy --json
expect_json 'len(j["signal_columns"]) == 40'
expect_json '0.4 < j["signal_share_ci_low"] and j["signal_share_ci_high"] < 0.8'
expect_json 'j["signal_share_ci_low"] < j["signal_share"] < j["signal_share_ci_high"]'
py 'import json
a, b = (np.load(f) - np.load(f).mean(0) for f in ("x.npy", "again.npy"))
json.dump(2 * np.sum(a * b) / np.sum(a * a + b * b), open("plain", "w"))'
expect_json 'close(j["signal_share"], json.load(open("plain")), 1e-12)'
expect_status 0 kspec dimension x.npy again.npy
expect_stdout '^signal share 0\.[0-9]+ \(95% interval .*\): this part of a trial.s variance repeats;'
expect_status 0 kspec dimension x.npy --json
expect_json '"signal_share" not in j and "targets" not in j'

# is the alignment zero?
expect_status 0 kspec compare x.npy other.npy --json
expect_json 'j["alignment_p"] < 1e-6'
expect_status 0 kspec compare x.npy alone.npy --json
expect_json '0.001 < j["alignment_p"] < 1'
expect_status 0 kspec compare x.npy alone.npy
expect_stdout '^p [0-9.e-]+, if they had nothing in common$'
expect_status 0 kspec compare x.npy alone.npy --no-center --json
expect_json 'j["alignment_p"] is None'

done_testing
