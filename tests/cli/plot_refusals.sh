# Pictures that cannot be drawn, gnuplots that fail, texts that mean harm: one line, the right status, nothing
# left behind.
. "$(dirname "$0")/lib.sh"

kspec generate rff --rows 8 --cols 9 --dim 1 -o x.npy
kspec moments x.npy -n 2 --quiet --json -o m.json
echo '{"command": "figure", "panels": [{"series": [{"label": "a", "y": [1, 2, 3]}]}]}' >f.json
files=(x.npy m.json f.json)

# ---- usage ----
for o in a.jpg a svg .svg.txt a.SVG dir.svg/a; do
    expect_error 2 "-o: '$o' must end in .svg, .png, .pdf, .html or .gp" kspec plot f.json -o $o
    # before anything is read, let alone computed
    expect_error 2 "--plot: '$o' must end in" kspec moments not-there.npy --plot $o
done
expect_error 2 '-o FILE is missing' kspec plot f.json
expect_error 2 'no INPUT given' kspec plot -o a.svg
expect_error 2 '-o and --plot are both a.svg' kspec moments x.npy -o a.svg --plot a.svg
for s in 0x0 99x200 200x99 10001x200 x 200 200x 200x200x 2e2x200 -1x200 ''; do
    expect_error 2 "--size: '$s' is not WIDTHxHEIGHT" kspec plot f.json -o a.gp --size "$s"
done
expect_error 2 "--log: 'z' must be one of x, y, xy" kspec plot f.json -o a.gp --log z
for c in config 'completion bash' 'plot f.json -o a.gp'; do
    expect_error 2 'has no picture: --plot is for other commands' kspec $c --plot a.svg
    expect "-h of $c has no --plot" bash -c '! "$0" "$1" --help-all | grep -q -- --plot' "$KSPEC" ${c%% *}
done

# ---- files that are no results ----
expect_error 3 'cannot open none.json: No such file' kspec plot none.json -o a.gp
expect_error 3 'cannot read \.: Is a directory|\. is not JSON' kspec plot . -o a.gp
bad() { # pattern, content
    printf '%s' "$2" >bad.json
    expect_error 3 "bad.json.*$1" kspec plot bad.json -o a.gp
}
bad 'is not JSON: line 1' ''
bad 'is not JSON: line 1' '{"command": "moments", "estim'
bad 'is not JSON' '{"command": "figure", "panels": [{"series": [{"y": [NaN]}]}]}'
bad 'is not JSON' $'{"command": "\xff"}'
bad 'is not a JSON object' '[1, 2]'
bad 'missing "command", expected in a kspec result' '{}'
bad 'missing "command", expected in a kspec result' '{"command": 3}'
bad "a result of kspec config has no picture" '{"command": "config"}'
bad "a result of kspec x\?y has no picture" '{"command": "x\ny"}'
for c in moments:estimates spectrum:eigenvalues theory:moments norm:results ridge:points wls:points \
    learn:runs generate:moments figure:panels compare:differences; do
    bad "missing \"${c#*:}\", expected in a kspec ${c%:*} result" "{\"command\": \"${c%:*}\"}"
    bad "\"${c#*:}\" is not a list" "{\"command\": \"${c%:*}\", \"${c#*:}\": 7}"
    bad "\"${c#*:}\" is empty" "{\"command\": \"${c%:*}\", \"${c#*:}\": []}"
done
bad 'missing "estimator" or "n" in estimate 1' '{"command": "moments", "estimates": [7]}'
bad 'missing "dimension", expected in a kspec dimension result' '{"command": "dimension", "rows": 3}'
bad 'missing "rows", expected in a kspec compare result' '{"command": "compare", "differences": [{}]}'
bad 'missing "method" in result 1' '{"command": "norm", "results": [{}]}'
bad 'missing "lambda" in every point' '{"command": "ridge", "points": [{}]}'
bad 'missing number "width" in run 1' '{"command": "learn", "runs": [{}]}'
bad 'missing "epochs" in run 1' '{"command": "learn", "runs": [{"width": 4}]}'
panel() { bad "$1" "{\"command\": \"figure\", \"panels\": [$2]}"; }
panel 'missing list "series" in a panel' '{}'
panel 'series 1: "y" is missing' '{"series": [{}]}'
panel 'series 1: "y" is not a list' '{"series": [{"y": 3}]}'
panel 'series 2: "y" has 3 values, "x" 2' '{"series": [{"y": [1]}, {"x": [1, 2], "y": [1, 2, 3]}]}'
panel 'series 1: "high" has 1 values, "x" 2' \
    '{"series": [{"x": [1, 2], "y": [1, 2], "low": [1, 2], "high": [1]}]}'
panel 'series 1: "low" without "high"' '{"series": [{"y": [1], "low": [1]}]}'
panel 'a band needs "low" and "high"' '{"series": [{"y": [1], "style": "band"}]}'
panel "\"style\" 'wavy' must be one of line, points" '{"series": [{"y": [1], "style": "wavy"}]}'
panel '"color" is not a whole number from 0 to 7' '{"series": [{"y": [1], "color": 8}]}'
panel "\"xscale\" 'root' must be one of auto, linear, log" '{"series": [], "xscale": "root"}'
panel '"yrange" is not a pair' '{"series": [], "yrange": [1]}'
panel 'mark 1 needs "axis", x or y' '{"series": [], "marks": [{"axis": "z", "at": 1}]}'
panels=$(printf ', {"series": []}%.0s' {1..65})
bad '65 panels exceed the 64' "{\"command\": \"figure\", \"panels\": [${panels#,}]}"
rm bad.json

# ---- no place for it ----
expect_error 1 'cannot write none/a.svg: No such file' kspec plot f.json -o none/a.svg
expect_error 1 'cannot write none/a.svg: No such file' kspec moments not-there.npy --plot none/a.svg
expect_error 1 'Not a directory' kspec plot f.json -o x.npy/a.svg
mkdir d.gp
expect_error 1 'Is a directory' kspec plot f.json -o d.gp
rmdir d.gp
expect_files "${files[@]}"

# ---- no gnuplot, or one that fails ----
for none in /nonexistent /etc/passwd . no-such-program; do
    export KSPEC_GNUPLOT=$none
    expect_error 1 "KSPEC_GNUPLOT=$none is not an executable program" kspec plot f.json -o a.svg
    expect_error 1 "KSPEC_GNUPLOT=$none is not an executable program" kspec moments not-there.npy --plot a.svg
    expect_status 0 kspec plot f.json -o a.gp # needs none
    expect_status 0 kspec moments x.npy --plot a.gp
done
unset KSPEC_GNUPLOT
expect_error 1 'gnuplot, which draws the pictures, is not installed: apt-get install gnuplot-nox' \
    env PATH=/nonexistent "$KSPEC" plot f.json -o a.svg
rm a.gp
fake() { # the body of a gnuplot
    printf '#!/bin/bash\n%s\n' "$1" >"$work/fake"
    chmod +x "$work/fake"
    export KSPEC_GNUPLOT=$work/fake
}
echo older >a.svg
failing() { # pattern, body
    fake "$2"
    expect_error 1 "$1" kspec plot f.json -o a.svg
    expect "the older picture stays" [ "$(cat a.svg)" = older ]
}
failing 'gnuplot failed with status 7$' 'exit 7'
failing 'gnuplot failed with status 1: line 3: bad' \
    'cat >/dev/null; printf "\ngnuplot> x\n   ^\n   line 3: bad\n" >&2; exit 1'
failing 'gnuplot was ended by signal 9' 'kill -9 $$'
failing 'gnuplot was ended by signal 11' 'echo half; kill -SEGV $$'
failing 'gnuplot drew nothing' 'cat >/dev/null'
failing 'gnuplot failed with status 1: noise' 'yes noise | head -c 3000000 >&2; exit 1'
# one that takes too long, also after its picture, or has a child that keeps the pipe
export KSPEC_GNUPLOT_TIMEOUT=0.3
for body in 'cat >/dev/null; echo half; exec sleep 30' 'cat >/dev/null; echo all; exec >&- 2>&- sleep 30' \
    'echo all; sleep 30 & exit 0' 'yes'; do
    failing 'gnuplot took longer than 0.3 s \(KSPEC_GNUPLOT_TIMEOUT\) and was stopped' "$body"
done
for bad in 0 -1 x 1,5 inf; do
    export KSPEC_GNUPLOT_TIMEOUT=$bad
    expect_error 2 "KSPEC_GNUPLOT_TIMEOUT=$bad is not a positive number of seconds" \
        kspec moments not-there.npy --plot a.svg
done
unset KSPEC_GNUPLOT_TIMEOUT
# a picture of which not all can be read is not a picture
if has_preload; then
    fake 'cat >/dev/null; for k in 1 2 3 4; do head -c 60000 /dev/zero; sleep 0.05; done'
    for n in 1 2 3; do
        export TEST_READ_FAILS=$n
        expect_error 1 'cannot read what gnuplot draws: Input/output error' preloaded plot f.json -o a.svg
        expect "the older picture stays" [ "$(cat a.svg)" = older ]
    done
    unset TEST_READ_FAILS
fi
fake 'exit 7'
# the result is printed whatever becomes of its picture
kspec moments x.npy -n 2 --quiet >want
expect_status 1 kspec moments x.npy -n 2 --quiet --plot a.svg
expect_stderr 'gnuplot failed'
expect "the table is there" cmp -s "$out" want
expect_status 1 kspec moments x.npy -n 2 --quiet --plot a.svg --json -o r.json
expect "and so is the JSON" grep -q '"estimates"' r.json
# one that reads nothing, and one that writes more than a pipe holds before it reads
py 'import json; series = [{"y": list(range(2000))}] * 9
json.dump({"command": "figure", "panels": [{"series": series}]}, open("long.json", "w"))'
fake 'exec 0<&-; echo picture'
expect_status 0 kspec plot long.json -o a.svg
expect "what it wrote" [ "$(cat a.svg)" = picture ]
fake 'head -c 1000000 /dev/zero; cat >/dev/null'
expect_status 0 kspec plot long.json -o a.png
expect "all of it" [ "$(wc -c <a.png)" -eq 1000000 ]
# it is called without a shell, with nothing of the user's settings
fake 'echo "$@"; cat >/dev/null'
expect_status 0 kspec plot f.json -o a.svg
expect "its arguments" [ "$(cat a.svg)" = '-d -' ]
rm a.svg a.png long.json r.json want

running() { grep -qs '^State:[[:space:]]*[RSD]' "/proc/$1/status"; }
# Ctrl-C while it draws: nothing stays
fake 'cat >/dev/null; echo half; echo $$ >'"$work"'/drawing; exec sleep 20'
for option in 'plot f.json -o' 'moments x.npy --plot'; do
    rm -f "$work/drawing"
    "$KSPEC" $option a.svg >"$out" 2>"$err" &
    pid=$!
    for _ in {1..500}; do [ -s "$work/drawing" ] || sleep 0.02; done
    kill -TERM $pid
    wait $pid
    expect "ended by the signal" [ $? -eq 143 ]
    for _ in {1..100}; do running "$(cat "$work/drawing")" && sleep 0.02; done
    expect "gnuplot is ended, too" bash -c "$(declare -f running); ! running $(cat "$work/drawing")"
    expect_files "${files[@]}"
done
unset KSPEC_GNUPLOT

# ---- texts that mean harm ----
name='it'"'"'s "b" $(touch pwned) `touch pwned` <script>x<!-- &amp; %s {*9 x} @y _{z} \U+0041;quit.json'
cp m.json "$name"
cp m.json $'line\nbreak\x01.json'
cp m.json $'bytes\xff.json'
odd=("$name" $'line\nbreak\x01.json' $'bytes\xff.json')
expect_status 0 kspec plot "${odd[@]}" -o a.gp --title "$name"
expect "no quote ends a string" grep -qF "it’s \"b\" \$(touch pwned) \`touch pw" a.gp
expect_status 0 kspec plot f.json -o a.gp --title "'; system 'touch pwned'"
expect "not even at its beginning" grep -qF "set label '’; system ’touch pwned’'" a.gp
if command -v gnuplot >/dev/null; then
    for s in svg png pdf html; do
        expect_status 0 kspec plot "${odd[@]}" -o a.$s --title "$name"
    done
    expect "a letter's number stays what it is" bash -c 'sed "s/<[^>]*>//g" a.svg | grep -qF "U+0041"'
    py 'import xml.dom.minidom as m; d = m.parse("a.svg"); assert not d.getElementsByTagName("script")'
    for title in 'a]]>b' ']]>' 'x^{]]>}' 'x]^{]>}' 'x]]^{>}' ']]]>>' '_{]]}>'; do
        expect_status 0 kspec plot f.json -o a.svg --title "$title"
        py 'import xml.dom.minidom as m; m.parse("a.svg")'
    done
    expect "it is there" bash -c 'sed "s/<[^>]*>//g" a.svg | grep -qF ">"'
    expect_status 0 kspec plot "${odd[@]}" -o a.svg --title "$name"
    expect "no script in the page" bash -c '! grep -qi "<script" a.html'
    expect_status 0 kspec plot f.json -o a.svg --title "'; system 'touch pwned'"
    # an INPUT's name is in the command line, and so in the page
    mkdir '<script>alert(1)<'
    cp x.npy '<script>alert(1)</script>.npy'
    expect_status 0 kspec moments '<script>alert(1)</script>.npy' -n 2 --plot c.html
    expect "nor from the command line" \
        bash -c '! grep -qi "<script" c.html && grep -q "&lt;script&gt;alert" c.html'
    rm -rf a.svg a.png a.pdf a.html c.html '<script>alert(1)<'
fi
rm a.gp
expect "nothing was run" [ ! -e pwned ]
expect_files "${files[@]}" "${odd[@]}"

# the command line in every object, as a shell takes it back
expect_status 0 kspec moments x.npy -n 2 --json --threads 1 --quiet --seed=4 --estimator 'naive'
expect_json 'j["command_line"] == "kspec moments x.npy -n 2 --seed=4 --estimator naive"'
cp x.npy "it's a \$name.npy"
expect_status 0 kspec moments -n2 --json -- "it's a \$name.npy"
"$python" - "$out" <<'END' || fail "the command line does not come back from a shell"
import json, shlex, sys
line = json.load(open(sys.argv[1]))["command_line"]
assert shlex.split(line) == ["kspec", "moments", "-n2", "--", "it's a $name.npy"]
END
done_testing
