# A report: one page that needs nothing else, whose numbers are those of the commands.
. "$(dirname "$0")/lib.sh"

kspec generate linear --rows 80 --cols 60 --eigenvalue 3,2,1,0.5 --noise 0.5 --trials 3 --seed 3 -o rec.npy
export SOURCE_DATE_EPOCH=86400

expect_status 0 kspec report rec.npy -o rec.html --json
expect_json 'j["output"] == "rec.html" and j["time"] == "1970-01-02 00:00 UTC"'
expect_json 'j["input"]["path"] == "rec.npy"'
cp "$out" rec.json
for part in 'dimension --curve' 'moments --estimator auto,naive --center' 'spectrum -n 2'; do
    kspec $part rec.npy --json --quiet >part.json
    expect "$part is that of the command" "$python" -c '
import json, sys
strip = lambda o: {k: v for k, v in o.items() if k not in ("command_line", "seconds")}
a, b = json.load(open("rec.json"))[sys.argv[1]], json.load(open("part.json"))
assert strip(a) == strip(b)' ${part%% *}
done
expect_status 0 kspec report rec.npy -o again.html
expect "nothing is printed" [ ! -s "$out" ]
expect "the same page but for its name" cmp -s <(sed s/again.html/rec.html/ again.html) rec.html
page() { expect "the page has '$1'" grep -qF -- "$1" "${2:-rec.html}"; }
page '<html lang="en">'
page 'kspec report rec.npy -o rec.html'
page 'kspec moments --estimator auto,naive --center -- rec.npy'
page "kspec $(kspec --version | cut -d' ' -f2), 1970-01-02 00:00 UTC"
page '95% interval'
expect "a picture of each panel" [ "$(grep -o '<svg' rec.html | wc -l)" -eq 5 ]
expect "numbers under the pointer are those of the JSON" "$python" -c '
import json, math, re
j = json.load(open("rec.json"))
page = open("rec.html").read()
said = re.findall(r"<title>(exact|naive): ([^ ]+) at ([0-9]+) \(([^ ]+) to ([^)]+)\)</title></use>", page)
for e in j["moments"]["estimates"]:
    assert any(name == e["estimator"] and int(n) == e["n"]
               and math.isclose(float(m), e["value"], rel_tol=6e-4)
               and math.isclose(float(low), e["ci_low"], rel_tol=6e-3) for name, m, n, low, _ in said), e
for p in j["dimension"]["curve"][:-1]:
    assert "<title>of the matrix itself: %.4g at %d</title>" % (p["naive"], p["rows"]) in page, p'
expect "groups without a name have no title" [ -z "$(grep -F '<title>gnuplot_plot' rec.html)" ]

# real names, labels and warnings are escaped
odd='a<b>&"c'\''.npy'
"$python" - "$odd" <<'END'
import numpy as np, sys
np.save(sys.argv[1], np.random.default_rng(5).normal(size=(8, 6)))
with open("h.csv", "w") as f:
    f.write('"<script>alert(1)</script> trial",b,c\n')
    f.writelines("%d,%g,%g\n" % (i // 3, i * i % 7, i % 5) for i in range(20))
END
expect_status 0 kspec report "$odd" -o odd.html
page 'a&lt;b&gt;&amp;&quot;c'\''.npy' odd.html
expect "no name is HTML" [ -z "$(grep -F 'a<b>' odd.html)" ]
expect_stderr 'the least that a kernel has'
page 'the least that a kernel has' odd.html
expect_status 0 kspec report h.csv -o h.html
expect "no name is a script" [ -z "$(grep -F '<script' h.html)" ]
page '&lt;script&gt;' h.html

# what can be told is told, of whatever there is
py 'r = np.random.default_rng(1); np.save("small.npy", r.normal(size=(5, 4)))
x = r.normal(size=(30, 20)); x[3, 4] = np.nan; np.save("holes.npy", x)'
expect_status 0 kspec report small.npy -o small.html --quiet
expect_status 0 kspec report holes.npy --nan pairwise -o holes.html --quiet
page 'Not computed: ' holes.html
how='--nan omit-rows --select-cols 2- --no-center --seed 4'
expect_status 0 kspec report holes.npy $how -o left.html --quiet
page 'kspec dimension --curve --no-center --select-cols 2- --nan omit-rows --seed 4 -- holes.npy' left.html
page '<td>1</td>' left.html # the row left out
printf 'a\n%.0s' {1..6} >groups.txt
printf 'b%s\n' {1..24} >>groups.txt
expect_status 0 kspec report holes.npy --nan omit-cols --groups groups.txt -o grouped.html --quiet
page 'groups of rows' grouped.html
# labels are not a feature of any part, be they words or numbers
"$python" - <<'END'
import numpy as np
x = np.random.default_rng(2).normal(size=(80, 4)) @ np.random.default_rng(3).normal(size=(4, 9))
for name, label in (("words", "m%d"), ("numbers", "%d000")):
    with open(name + ".csv", "w") as f:
        f.write("a,b,who," + ",".join("cdefghi") + "\n")
        for i, row in enumerate(x):
            cells = ["%.9g" % v for v in row]
            f.write(",".join([*cells[:2], label % (i // 4), *cells[2:]]) + "\n")
END
for name in words numbers; do
    expect_status 0 kspec report $name.csv --groups-column who -o who.html --quiet --json
    expect_json '[j[part]["cols"] for part in ("dimension", "moments", "spectrum")] == [9, 9, 9]'
    expect_json 'j["moments"]["groups"] == 20 and j["spectrum"]["eigenvalues"][0] < 20'
    expect "nothing is missing, nor an empty column" [ -z "$(grep -E 'Not computed|>naive<' who.html)" ]
done
expect_status 0 kspec report holes.npy --nan pairwise -o holes.html --quiet --json
expect_json 'j["moments"]["missing"] == 1 and j["spectrum"] is None'
expect_status 0 env KSPEC_GNUPLOT= PATH=/nowhere "$KSPEC" report small.npy -o bare.html
expect_stderr 'gnuplot is not installed .*: the report has no pictures'
expect "a page without pictures" grep -q '<table>' bare.html
expect_status 0 bash -c '"$0" report small.npy -o - --quiet | grep -q "</html>"' "$KSPEC"

# several files
expect_status 0 kspec report small.npy small.npy -o pair.html --quiet
page '<th scope="row">file 2</th><td>small.npy</td>' pair.html

# repeats that were not made; eigenvalues that are not told from 0
py 'a = np.load("rec.npy"); a[2, :30] = np.nan; np.save("ragged.npy", a)'
expect_status 0 kspec report ragged.npy --nan ragged-trials -o ragged.html --quiet
page '<td>2 to 3</td>' ragged.html
page 'A matrix of this size does not distinguish' rec.html
expect "no rows of zeros" [ -z "$(grep -E '</th><td>0</td><td>0</td><td>0</td>' rec.html)" ]

# a large matrix ends at order 3, unless more is asked for
kspec generate linear --rows 1001 --cols 1000 --eigenvalue 2,1 --seed 1 -o large.npy
expect_status 0 kspec report large.npy -o large.html --quiet
page 'kspec moments --estimator auto,naive --center -n 3 -- large.npy' large.html
page 'Higher orders of a matrix this large' large.html
expect_status 0 kspec report large.npy -o two.html --quiet -n 2
page 'kspec moments --estimator auto,naive --center -n 2 -- large.npy' two.html
expect "which is not the size's doing" [ -z "$(grep -F 'Higher orders of a matrix' two.html)" ]
expect_status 0 kspec report rec.npy -n 2 -o two.html --quiet
page 'kspec moments --estimator auto,naive --center -n 2 -- rec.npy' two.html

# what is wrong is said in one line, and nothing is written
rm -f x.html
expect_error 2 'report: -o FILE is missing' kspec report rec.npy
expect_error 2 "'x.pdf' must end in .html" kspec report rec.npy -o x.pdf
expect_error 2 'would both write' kspec report rec.npy -o - --json
expect_error 3 'cannot open none.npy' kspec report none.npy -o x.html
expect_error 3 'missing value' kspec report holes.npy -o x.html
expect_error 2 'report has no picture' kspec report rec.npy -o x.html --plot y.svg
expect_error 1 'cannot|No such file' kspec report rec.npy -o none/x.html
expect "nothing is written" [ ! -e x.html ]

# as a reader sees it
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
    seen=${KSPEC_SCREENSHOTS:-$work/screenshots}
    for name in rec odd; do
        input=$([ $name = odd ] && echo "$odd" || echo rec.npy)
        kspec report "$input" -o $name.html --json --quiet >$name.json
        expect "$name.html in Chromium" "$python" "$KSPEC_SOURCE/tests/cli/report_page.py" "$browser" \
            $name.html $name.json "$seen/$name"
    done
else
    echo "skip: no chromium, which looks at the pages of kspec report; run 'sh scripts/setup.sh browser'"
fi
done_testing
