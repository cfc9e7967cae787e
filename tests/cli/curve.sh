# kspec wls fit without --learn: a smooth curve with a band, from whatever points there are.
. "$(dirname "$0")/lib.sh"

py 'r = np.random.default_rng(1); x = 2*np.pi*np.arange(64)/64
f = lambda x: np.exp(np.sin(x)) + .3*np.cos(3*x)
y = f(x) + .1*r.normal(size=64); np.savetxt("y.csv", y); np.save("truth.npy", f(x))
head = dict(delimiter=",", comments="")
np.savetxt("xy.csv", np.c_[x, y], header="time,signal", **head)
np.savetxt("many.csv", np.c_[x, y, x**2, np.ones(64)], header="time,signal,other,w", **head)
u = r.uniform(0, 2*np.pi, 64); v = f(u) + .1*r.normal(size=64)
np.savetxt("uneven.csv", np.c_[u, v], header="time,signal", **head); np.save("uneven_truth.npy", f(u))
v[5] = np.nan; np.savetxt("gap.csv", np.c_[u, v], header="time,signal", **head)
np.savetxt("at.csv", [0.1, 1, 2]); np.savetxt("far.csv", [0.1, 70]); np.savetxt("one.csv", [1.0])
np.savetxt("flat.csv", np.ones(9)); np.savetxt("same.csv", np.c_[np.ones(9), np.arange(9)], delimiter=",")
np.save("c.npy", np.exp(3j*x) + .1*(r.normal(size=64) + 1j*r.normal(size=64)))
np.save("w.npy", np.ones(64)); np.save("short.npy", np.ones(9))'
near() { # truth, most: the curve is that close to the truth
    "$python" -c 'import json, sys; import numpy as np
t = np.load(sys.argv[2]); f = json.load(open(sys.argv[1]))["fitted"]
v = [np.array([q[k] for q in f]) for k in ("value", "ci_low", "ci_high")]
assert abs(v[0] - t).max() < float(sys.argv[3]), abs(v[0] - t).max()
assert ((v[1] < t) & (t < v[2])).mean() > 0.8' "$out" "$1" "$2"
}

# ---- no options: one column, and how it was chosen ----
expect_status 0 kspec wls fit y.csv --json
expect_json 'j["mode"] == "fit" and j["basis"] == "real" and j["grid"] == 64 and j["regular"] is True'
expect_json 'len(j["fitted"]) == 64 and j["fitted"][3].keys() == {"x", "y", "value", "ci_low", "ci_high"}'
expect_json 'j["noise_ci_low"] < 0.1 < j["noise_ci_high"]'
expect_json 'j["beta_ci_low"] < j["beta"] < j["beta_ci_high"]'
expect_json 'j["p"] == len(j["theta"]) and close(sum(c["probability"] for c in j["choices"]), 1, 1e-12)'
expect_json 'j["choices"][0]["basis"] == "real" and j["error"] < j["under"]["error"] < j["over"]["error"]'
expect_json 'min(j["curve"], key=lambda q: q["error"]) == j["under"]'
expect_json 'close(j["fitted"][1]["x"], math.pi/32, 1e-15)'
expect "the curve is near the truth, in its band" near truth.npy 0.15
cp "$out" one
expect_status 0 kspec wls fit y.csv --basis auto --learn auto --beta auto --noise auto --json
expect "auto is the default" same_result "$out" one
expect_status 0 kspec wls fit xy.csv --x time --json
expect "the same with x as a column" "$python" -c 'import json, sys
a, b = (json.load(open(f))["fitted"] for f in sys.argv[1:])
assert all(abs(p["value"] - q["value"]) < 1e-9 for p, q in zip(a, b))' "$out" one
expect_status 0 kspec wls fit y.csv
expect_stdout '^64 points on an even grid'
expect_stdout '^basis real, period 6.28319; probability: real'
expect_stdout '^noise 0\.[01].*95%.*smoothness beta'
expect_stdout 'of least squares with its best p = 1[0-9]'

# ---- a periodic curve that the data cannot tell from the likeliest one ----
py 'r = np.random.default_rng([1, 2, 256, 1, 30]); x = 2*np.pi*np.arange(256)/256
t = 1/(1.3 - np.cos(x)); np.save("kernel.npy", t + .3*r.normal(size=256)); np.save("kernel_truth.npy", t)'
expect_status 0 kspec wls fit kernel.npy --json
expect_json 'j["basis"] == "real" and j["choices"][0]["basis"] == "legendre"'
expect "its error" near kernel_truth.npy 0.3
expect_status 0 kspec wls fit kernel.npy
expect_stdout '^real is in use: its curve stays in the band of legendre'
expect_status 0 kspec wls fit kernel.npy --basis legendre --json
expect_json 'j["basis"] == "legendre"'

# ---- given values are used, not estimated ----
expect_status 0 kspec wls fit xy.csv --x 0 --basis cosine --learn 9 --beta 2 --noise 0.1 --json
expect_json '(j["p"], j["beta"], j["noise"], j["basis"]) == (9, 2, 0.1, "cosine")'
expect_json 'j["beta_ci_low"] is None and j["noise_ci_high"] is None and len(j["choices"]) == 1'
expect_status 0 kspec wls fit many.csv --x time --target signal --sample-weight w --json
expect "equal weights change nothing" "$python" -c 'import json, sys
a, b = (json.load(open(f))["fitted"] for f in sys.argv[1:])
assert all(abs(p["value"] - q["value"]) < 1e-9 for p, q in zip(a, b))' "$out" one
expect_status 0 kspec wls fit y.csv --sample-weight w.npy --stop-at-noise --json
expect_json 'j["stop_at_noise"] and 5 <= j["p"] < 20'
expect_status 0 kspec wls fit y.csv --stop-at-noise
expect_stdout 'fewer leave a residual'
for basis in real cosine legendre chebyshev; do
    expect_status 0 kspec wls fit uneven.csv --x time --basis $basis --json
    expect_json "j['basis'] == '$basis' and j['regular'] is False"
    expect "$basis on uneven points" near uneven_truth.npy 0.5
done
expect_status 0 kspec wls fit uneven.csv --x time --basis real --period 12.566370614359172 --json
expect_json 'close(j["period"], 4 * math.pi, 1e-12) and j["noise"] < 0.2'

# ---- predictions, gaps, complex data ----
expect_status 0 kspec wls fit uneven.csv --x time --at at.csv --predictions f.csv --theta t.csv --json
expect_json '[q["x"] for q in j["predictions"]] == [0.1, 1, 2] and len(j["theta"]) == j["p"]'
py 'f = np.loadtxt("f.csv", delimiter=","); x = np.array([.1, 1, 2]); t = np.exp(np.sin(x)) + .3*np.cos(3*x)
assert f.shape == (3, 3) and abs(f[:, 0] - t).max() < .2
assert (f[:, 1] < f[:, 0]).all() and (f[:, 0] < f[:, 2]).all()'
expect_status 0 kspec wls fit uneven.csv --x time --at at.csv
expect_stdout '^ +2 +2 +[12]'
expect_status 0 kspec wls fit uneven.csv --x time --basis legendre --at far.csv
expect_stderr 'warning: 1 point lies? outside the data'
expect_status 0 kspec wls fit gap.csv --x time --nan omit-rows --json
expect_json 'j["fitted"][5]["y"] is None and j["fitted"][5]["ci_low"] < j["fitted"][5]["value"]'
expect_json 'j["over"]["p"] == 63'
expect_status 0 kspec wls fit c.npy --json
expect_json 'j["basis"] == "fourier" and j["complex"] is True and len(j["theta"][0]) == 2'
expect_json 'all(abs(complex(q["value"], q["value_imag"]) - __import__("cmath").exp(3j * q["x"])) < 0.2
    for q in j["fitted"])'
expect_status 0 kspec wls fit c.npy
expect_stdout ' i  ± '
expect_stdout '^ +1 +0\.0981[0-9]* +[0-9.-]+ [+-] [0-9.]+ i +[0-9.-]+ [+-] [0-9.]+ i  ± '
expect_status 0 kspec wls fit y.csv --basis fourier
expect_stderr 'warning: the data are real'
expect_status 0 kspec wls fit xy.csv --x time --plot s.gp --quiet
expect "a picture of data, curve and band" grep -q filledcurves s.gp

# ---- a number of functions: of real data those of a real basis, and the rest is estimated ----
expect_status 0 kspec wls fit y.csv --learn 11 --json
expect_json 'j["p"] == 11 == len(j["theta"]) and j["basis"] == "real" and j["noise_ci_low"] < 0.1'
expect "11 functions are near the truth, in their band" near truth.npy 0.15
cp "$out" one
expect_status 0 kspec wls fit y.csv --basis auto --learn 11 --json
expect "the basis is chosen" same_result "$out" one
kspec wls fit - --learn 11 --json <y.csv >piped
expect "from standard input, too" "$python" -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:]); assert a["theta"] == b["theta"]' piped one
expect_status 0 kspec wls fit y.csv --learn 9 --beta 2 --noise 0.1 --json
expect_json '(j["p"], j["beta"], j["noise"]) == (9, 2, 0.1) and j["basis"] == "real"'
expect_error 3 'xy.csv: 2 columns may be x and y .--x COLUMN., or real and imaginary parts .--complex.' \
    kspec wls fit xy.csv --learn 8

# ---- fits of modes e^{ikx} on the grid say what else the data may be ----
expect_status 0 kspec wls fit xy.csv --learn 8,9
expect_stderr 'the 2 columns are read as real and imaginary parts .--complex.; use --x COLUMN if one is x'
expect_status 0 kspec wls fit c.npy --learn 8 --json
expect_json 'j["points"][0]["p"] == 8 and j["points"][0]["regime"] == "under"'
expect_status 0 kspec wls fit y.csv --learn 8 --alpha 0 --json
cp "$out" one
expect_status 0 kspec wls fit y.csv --basis fourier --learn 8 --json
expect_stderr 'the data are real'
expect "--basis fourier and --alpha both select them" same_result "$out" one
expect_json 'j["p"] == 8 and len(j["fitted"]) == 64 and j["fitted"][0]["ci_low"] is None'
expect_json 'close(j["fitted"][0]["value"], sum(t[0] for t in j["points"][0]["theta"]), 1e-12)'

# ---- bad input ----
expect_error 3 'xy.csv: 2 columns may be x and y .--x COLUMN., or real and imaginary parts .--complex.' \
    kspec wls fit xy.csv
expect_error 3 'one.csv: 1 point, at least 2 are needed' kspec wls fit one.csv
expect_error 3 'flat.csv: all 9 values of y are 1' kspec wls fit flat.csv
expect_error 3 'same.csv: all 9 values of x are 1, at least 2 different' kspec wls fit same.csv --x 0
expect_error 2 "'tme' is not in the header of xy.csv; did you mean 'time'" kspec wls fit xy.csv --x tme
expect_error 3 'gap.csv: 1 missing value.*--nan omit-rows' kspec wls fit gap.csv --x time
printf 'time,signal\n0,1\nnan,2\n3,4\n' >unplaced.csv
for nan in error omit-rows; do
    expect_error 3 'unplaced.csv: row 1 .from 0. of --x time is missing; only y may have gaps' \
        kspec wls fit unplaced.csv --x time --nan $nan
done
printf 'time,name,signal\n0,a,1\n2,b,2\n3,c,4\n' >named.csv
expect_error 3 "column 1: 'a' is not a number; leave the column out .--target COLUMN." \
    kspec wls fit named.csv --x time
expect_error 3 'many.csv: 3 columns beside x; name the measured one .--target COLUMN.' \
    kspec wls fit many.csv --x time
expect_error 3 'y.csv has 64 rows, but --sample-weight short.npy has 9' \
    kspec wls fit y.csv --sample-weight short.npy
expect_error 3 'xy.csv: 2 columns, but x has 1' kspec wls fit y.csv --at xy.csv
expect_error 3 'y.csv: 1 column, but complex data have 2' kspec wls fit y.csv --complex
expect_error 2 'p = 65 exceeds 64' kspec wls fit y.csv --basis real --learn 65
expect_error 2 '--learn has 2 values' kspec wls fit y.csv --basis real --learn 3,4
expect_error 2 '--beta: -1 is not above 0' kspec wls fit y.csv --beta -1
expect_error 2 '--noise: 0 is not above 0' kspec wls fit y.csv --noise 0
expect_error 2 "--period: '0' is not above 0" kspec wls fit y.csv --period 0
expect_error 2 "--basis: 'sine' must be one of" kspec wls fit y.csv --basis sine
expect_error 2 '--alpha needs --learn' kspec wls fit y.csv --alpha 1
expect_error 2 '--x needs a curve, but --gamma needs the modes' kspec wls fit xy.csv --x 0 --gamma 1 --learn 3
expect_error 2 'standard input does not allow a choice of columns' kspec wls fit - --x 0
expect_error 2 'complex data need complex modes' kspec wls fit c.npy --basis cosine
done_testing
