# Numbers are rounded to their uncertainty in tables and titles, which begin with the answer.
. "$(dirname "$0")/lib.sh"

kspec generate linear --rows 80 --cols 60 --dim 6 --noise 0.5 --trials 2 --seed 3 -o a.npy
kspec generate linear --rows 80 --cols 50 --dim 6 --noise 0.5 --trials 2 --seed 4 -o b.npy
py 'r = np.random.default_rng(1); t = np.linspace(0, 6, 40)
np.save("y.npy", np.sin(t) + 0.1 * r.normal(size=40))
x = np.load("a.npy")[0]; np.save("x.npy", x); np.save("z.npy", x[:, 0] + r.normal(size=80))'

# An estimate and the ends of its interval: the second digit of the distance is the last that is shown
cat >check.py <<'END'
import json, math, re, sys
text, o = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
def shown(text, x, error):
    number = float(text)
    decimals = len(text.split("e")[0].partition(".")[2]) - (int(text.split("e")[1]) if "e" in text else 0)
    assert abs(number - x) <= 0.051 * error, (text, x, error)
    assert "." not in text or 10.0 ** -decimals >= 0.0099 * error, (text, x, error)
def line(numbers, x, low, high):
    shown(numbers[0], x, math.sqrt((x - low) * (high - x)))
    shown(numbers[1], low, x - low), shown(numbers[2], high, high - x)
of = r"(-?[\d.e+-]+)"
if o["command"] == "dimension":
    line(re.search(rf"{of} \(95% interval {of} … {of}\)", text).groups(), o["dimension"], o["ci_low"],
         o["ci_high"])
elif o["command"] == "compare":
    line(re.search(rf"{of} \(95% interval {of} … {of}\)", text).groups(), o["alignment"],
         o["alignment_ci_low"], o["alignment_ci_high"])
elif o["command"] == "moments":
    for e in o["estimates"]:
        cells = re.search(rf"^ *{e['n']}  {e['estimator']} +(.*)$", text, re.M).group(1).split()
        shown(cells[0], e["value"], e["stderr"]), shown(cells[2], e["ci_low"], e["value"] - e["ci_low"])
        shown(cells[3], e["ci_high"], e["ci_high"] - e["value"])
elif o["command"] == "spectrum":
    for i, x in enumerate(o["eigenvalues"][:o["resolved"]]):
        cells = re.search(rf"^ *{i + 1}  +(.*)$", text, re.M).group(1).split()
        line(cells[:3], x, o["ci_low"][i], o["ci_high"][i])
else:
    raise SystemExit("unknown")
END
for line in 'dimension a.npy' 'moments a.npy -n 3' 'spectrum a.npy' 'compare a.npy b.npy'; do
    kspec $line --quiet >table.txt
    kspec $line --quiet --json >result.json
    expect "$line is rounded to its intervals" "$python" check.py table.txt result.json
done
expect "JSON has all digits" "$python" -c '
import json
assert len(repr(json.load(open("result.json"))["alignment"])) > 12'
sed 's/"alignment": -\{0,1\}[0-9.]*/"alignment": 0.777777/' result.json >spoilt.json
expect "another number is noticed" eval '! "$python" check.py table.txt spoilt.json 2>/dev/null'

# A dimension that the data do not tell has an interval from 1 on, and no end of it becomes 0.
for seed in 32 39 43; do
    kspec generate linear --rows 80 --cols 60 --dim 1 --eigenvalue 0 --noise 1 --seed $seed -o noise.npy
    for line in 'dimension noise.npy' 'moments noise.npy --center -n 2'; do
        kspec $line --quiet >noise.txt 2>/dev/null
        expect "$line, seed $seed: no end is 0" grep -qE '[1-9][0-9.e+]*.* \(95% interval 1 … [1-9]' noise.txt
    done
    printf 'noise.npy\nx.npy\n' >list.txt
    kspec dimension @list.txt --quiet 2>/dev/null >noise.txt
    expect "a table, seed $seed: no end is 0" \
        grep -qE '^noise.* [1-9][0-9]+ +1 +[1-9][0-9.]*e\+[0-9]+ ' noise.txt
    kspec dimension noise.npy --quiet --plot noise.gp >noise.txt 2>/dev/null
    expect "a title, seed $seed: no end is 0" \
        grep -qE "set label 'dimension [1-9][0-9]+ \(95%: 1 … [1-9]" noise.gp
    kspec report noise.npy --quiet -o noise.html >noise.txt 2>/dev/null
    expect "a report, seed $seed: no end is 0" grep -qF '(95% interval 1 to ' noise.html
done

# titles begin with the answer
title() { # words, then a command
    local words=$1
    shift
    expect_status 0 kspec "$@" --quiet --plot t.gp
    expect "$1: the title begins with $words" grep -qE "^set label '$words" t.gp
}
title 'dimension [0-9.]+ \(95%: ' dimension a.npy
title 'dimension [0-9.]+ \(95%: ' moments a.npy -n 2
title '[0-9]+ eigenvalues? resolved' spectrum a.npy
title 'largest eigenvalue [0-9.]+' spectrum a.npy --method moments
title 'alignment -?[0-9.]+ \(95%: .*, p ' compare a.npy b.npy
cp b.npy c.npy
title 'most alike: b.npy and c.npy ' compare a.npy b.npy c.npy
title 'spectral norm [0-9.]+' norm x.npy
title 'least test error [0-9.]+ at N = ' ridge x.npy --target z.npy --test-fraction 0.3 --features 5,20 \
    --lambda 0.1
title 'recommended: N = ' ridge x.npy --target z.npy
title 'least error [0-9.]+ at p = ' wls --grid 16 --learn 2-32:2 --modes 32 --gamma 0.3 --noise 0.2
title 'curve known to ± [0-9.]+' wls fit y.npy
title 'dimension [0-9.]+; rbf kernel' theory rbf --dim 3 --eta 1 --eigenvalues 9
# and a long name does not push it out
cp a.npy "$(printf 'long%.0s' {1..30}).npy"
title 'dimension [0-9.]+ \(95%: ' dimension "$(printf 'long%.0s' {1..30}).npy"

# one norm is not drawn against its time; names below an axis stand upright where they fit
kspec norm x.npy --method lanczos --quiet --plot n.gp
expect "no axis of times" eval '! grep -q "time in seconds" n.gp'
expect "upright" grep -q '^set xtics norotate' n.gp
# powers of ten of a narrow panel leave each other room
kspec ridge x.npy --target z.npy --quiet --plot r.gp
expect "not every power" grep -qE "^set xtics \(1e-?[0-9]+, 1e" r.gp
done_testing
