# What pictures say of themselves: bars, data, axes, legends, titles, and words for who cannot see them.
. "$(dirname "$0")/lib.sh"
command -v gnuplot >/dev/null || skip "gnuplot is not installed; run 'sh scripts/setup.sh pictures'"

kspec generate linear --rows 60 --cols 40 --eigenvalue 3,2,1 --noise 0.5 --trials 3 --seed 2 -o rec.npy
py 'a = np.load("rec.npy"); a[2, :9] = np.nan; np.save("ragged.npy", a)
r = np.random.default_rng(1); x = r.normal(size=(50, 3))
np.save("x.npy", x); np.save("y.npy", np.sin(x[:, 0]))
np.save("twins.npy", np.repeat(x[:20], 2, axis=0))
np.save("im.npy", r.uniform(0, 255, size=(60, 9)).round()); np.save("la.npy", np.arange(60) % 3)'
has() { expect "$1 has '$2'" grep -qF -- "$2" "$1"; }
absent() { ! grep -qF -- "$2" "$1"; }
lacks() { expect "$1 has no '$2'" absent "$1" "$2"; }

# moments and dimension: bars, data, centring, trials, roots from n = 2, the interval
expect_status 0 kspec moments rec.npy -n 4 --plot m.gp --quiet
has m.gp "set title 'moments, bars: 95% intervals"
has m.gp "'dimension "
has m.gp '; rec.npy: 3 trials × 60 rows × '
has m.gp '(95%: '
has m.gp 'set logscale y'
expect "roots begin at n = 2" eval '! sed -n "/^\$p1s0/,/^END/p" m.gp | grep -q "^ 1 "'
lacks m.gp 'set key at' # one series has no legend
has m.gp ": exact'"
expect_status 0 kspec moments rec.npy -n 4 --estimator naive,exact --plot m2.gp --quiet
has m2.gp 'set key at'
for list in naive,exact exact,naive exact,path,naive; do # the colour of the matrix itself in every picture
    expect_status 0 kspec moments rec.npy -n 2 --estimator $list --plot order.gp --quiet
    expect "$list: naive is orange" grep -qE "linecolor rgb '#D55E00' .* title 'naive'" order.gp
done
expect_status 0 kspec dimension ragged.npy --nan ragged-trials --plot d.gp --quiet
has d.gp "'dimension "
has d.gp '; ragged.npy: 2 to 3 trials × 60 rows'
expect "two digits of its error" grep -qE "dimension [0-9.]{2,4} \(95%: [0-9.]{1,4} … [0-9.]{2,4}\)" d.gp
lacks d.gp "set xlabel 'rows'"
# eigenvalues: how many are resolved, and the line of the exponent
kspec generate linear --rows 300 --cols 82 --dim 13 --noise 1 --trials 2 -o flat.npy --quiet
expect_status 0 kspec spectrum flat.npy --plot s.gp --quiet
has s.gp '13 resolved'
has s.gp 'i^{−'
has d.gp '95% interval'
expect_status 0 kspec dimension rec.npy --curve --json --quiet
expect_json 'j["input"].get("row_trials") is None'
expect_status 0 kspec dimension ragged.npy --nan ragged-trials --json --quiet
expect_json 'j["input"]["row_trials"] == [2, 3]'

# ridge: one line of the kernel, one scale for both panels
expect_status 0 kspec ridge x.npy --target y.npy --test-noise 0.5 --features 5,20,80 --lambda 0.01,0.1,1 \
    --sigma median --plot r.gp --quiet
expect "one scale for training and test" [ "$(grep '^set yrange' r.gp | head -2 | sort -u | wc -l)" -eq 1 ]
expect "one line of the kernel a panel" \
    [ "$(grep -c 'dashtype 3 linecolor rgb .#000000. .*kernel alone' r.gp)" -eq "$(grep -c '^plot' r.gp)" ]
# each panel has a curve for N or lambda (solid or dashed), one dotted line of data
expect "and no other" [ "$(grep -c 'dashtype 3 .*notitle' r.gp)" -eq "$(grep -c '^plot' r.gp)" ]

# wls, decay
expect_status 0 kspec wls --grid 16 --learn 2-32:2 --modes 32 --gamma 0.3 --noise 0.2 --plot w.gp --quiet
has w.gp 'γ = 0.3, noise 0.2'
expect_status 0 kspec wls decay twins.npy --json --quiet # rows that repeat leave rounding alone
cp "$out" decay.json
expect_json 'min(j["singular_values"]) < 1e-14 * max(j["singular_values"])'
expect_status 0 kspec plot decay.json -o decay.gp
has decay.gp "'fitted'"
expect "rounding does not stretch the axis" "$python" -c '
import json, re
s = json.load(open("decay.json"))["singular_values"]
low = float(re.search(r"^set yrange \[([^:]+):", open("decay.gp").read(), re.M).group(1))
assert low > 1e-14 * max(s), low'

# norm: the kinds of bars are told apart
expect_status 0 kspec norm x.npy --method rff-power,rff-debiased --repeat 4 --features 32 --plot n.gp --quiet
for kind in '95% interval' 'spread of draws'; do has n.gp "'bar: $kind'"; done
has n.gp 'with yerrorbars linetype 1 dashtype 2'
lacks n.gp "'bar: bound'"

# learn: error bars, marks, a title
expect_status 0 kspec learn --images im.npy --labels la.npy --test-images im.npy --width 8,16 --epochs 2 \
    -n 2 --plot l.gp --quiet
has l.gp 'bars: 95% intervals of one seed'
has l.gp 'yerrorbars'
has l.gp 'with linespoints'

# two lines across a panel have their own dashes; frames of one row end at one height, a note below or not
cat >marks.json <<'END'
{"command": "figure", "panels": [
  {"series": [{"y": [1, 10, 100, -1], "style": "points"}], "yscale": "log", "note": "of our own",
   "marks": [{"axis": "y", "at": 2, "label": "two"}, {"axis": "y", "at": 30, "label": "thirty"}]},
  {"series": [{"y": [1, 2, 3], "low": [0, 1, 2], "high": [2, 3, 4], "bars": "spread"}]}]}
END
expect_status 0 kspec plot marks.json -o marks.svg
expect "the two lines differ" \
    [ "$(grep -oE "85,  85\)' stroke-dasharray='[^']*'" marks.svg | sort -u | wc -l)" -eq 2 ]
expect "and are not one path" \
    [ "$(grep -cE "85,  85\)' stroke-dasharray='[^']*' +d='M[^M]*'/>" marks.svg)" -eq 4 ]
expect_status 0 kspec plot marks.json -o marks.gp
expect "one height" [ "$(grep '^set bmargin' marks.gp | sort -u | wc -l)" -eq 1 ]
has marks.gp "'of our own; 1 value ≤ 0, not on this log axis'"
has marks.gp 'with yerrorbars linetype 1 dashtype 2'
sed 's/spread/range/' marks.json >bad.json
expect_error 3 "series 1: .bars. 'range' must be one of interval, spread, bound" kspec plot bad.json -o no.svg

# lines without names are alike; a point at 0 stands off the axis; a short logarithmic axis has ticks; a band
# ends where nothing of it is positive; two points of one matrix stand side by side
cat >small.json <<'END'
{"command": "figure", "panels": [
  {"series": [{"x": [0, 1, 2], "y": [3, 4, 12], "low": [2.9, 3, -1], "high": [4, 5, 0], "style": "band"}],
   "marks": [{"axis": "x", "at": 0.5}, {"axis": "x", "at": 1.5}], "yscale": "log", "yrange": [2.6, 10]}]}
END
expect_status 0 kspec plot small.json -o small.gp
expect "one dash" [ "$(grep -oE 'nohead back linetype 1 dashtype [0-9]' small.gp | sort -u | wc -l)" -eq 1 ]
expect "off the axis" grep -qE '^set xrange \[-' small.gp
has small.gp 'set ytics (3, 4, 5, 6, 7, 8, 9, 10)'
has small.gp '($4>0?$4:NaN)'
kspec generate linear --rows 60 --cols 30 --eigenvalue 3,2,1 --seed 2 -o other.npy
expect_status 0 kspec compare other.npy other.npy --plot c.gp --quiet
has c.gp 'other.npy (60 × 30) and other.npy (60 '
has c.gp '($1+-0.06)'

# a logarithmic axis has at least three names, whose distances show that it is logarithmic
while read -r range names; do
    printf '{"command": "figure", "panels": [{"series": [{"x": [3, 4, 12], "y": [3, 4, 5]}], "xscale": "log",
        "xrange": [%s]}]}' "$range" >names.json
    expect_status 0 kspec plot names.json -o names.gp
    has names.gp "$names"
done <<'END'
5.1,38 set xtics (6, 7, 8, 9, 10, 20, 30)
0.05,8 set xtics (0.05, 0.1, 0.2, 0.5, 1, 2, 5)
99,1001 set xtics (100, 200, 500, 1000)
12,17 set xtics (12, 13, 14, 15, 16, 17)
1,100 set format x '10^{%T}'
END

# long numbers beside an axis leave room for its name, in the whole column
cat >long.json <<'END'
{"command": "figure", "title": "t", "columns": 1, "panels": [
  {"series": [{"y": [0.3092, 0.3094, 0.3103]}], "ylabel": "a name"}, {"series": [{"y": [1, 2, 3]}]}]}
END
sed 's/0\.3092, 0\.3094, 0\.3103/1, 2, 3/' long.json >short.json
for name in long short; do expect_status 0 kspec plot $name.json -o $name.gp; done
expect "one margin a column" [ "$(grep '^set lmargin' long.gp | sort -u | wc -l)" -eq 1 ]
expect "more room than for short numbers" "$python" -c '
import re
def left(name): return float(re.search("set lmargin at screen ([0-9.]+)", open(name).read()).group(1))
assert left("long.gp") > left("short.gp")'

# words in the picture
expect_status 0 kspec moments rec.npy -n 3 --plot m.svg --quiet
lacks m.svg Gnuplot
lacks m.svg GNUPLOT
has m.svg 'role="img" aria-labelledby="title desc"'
expect "a title and a description in words" "$python" -c '
import xml.etree.ElementTree as e
root = e.parse("m.svg").getroot()
title, desc = (root.find("{http://www.w3.org/2000/svg}" + k).text for k in ("title", "desc"))
assert title.startswith("dimension ") and "; rec.npy: 3 trials" in title, title
assert "m(n) against order n" in desc and " at 2 (" in desc, desc'
done_testing
