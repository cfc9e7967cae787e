# Every JSON object of every command has the same envelope: schema, kspec, command, command_line, input,
# warnings, seconds.
. "$(dirname "$0")/lib.sh"

py 'r = np.random.default_rng(1)
def save(name, *shape): np.save(name, r.normal(size=shape))
save("x.npy", 12, 9); save("t.npy", 3, 8, 6); save("y.npy", 12)
np.savez("z.npz", a=r.normal(size=(7, 5)), b=np.ones((4, 4)))
np.savetxt("h.csv", r.normal(size=(9, 4)), delimiter=",", header="a,b,c,d", comments="")
g = r.normal(size=(6, 6)); np.save("g.npy", g @ g.T); np.save("s.npy", np.eye(2)); save("w.npy", 16)
np.save("images.npy", r.uniform(0, 255, size=(40, 9)).round()); np.save("labels.npy", np.arange(40) % 3)
m = r.normal(size=(12, 9)); m[3, 2] = np.nan; np.save("nan.npy", m)'
version=$(kspec --version | sed 's/kspec //')

# The command line, and what must be true of its object j and of i, its input. Every command has a line; a
# backslash continues it.
while IFS='|' read -r line truth; do
    [ -n "$line" ] || continue
    # shellcheck disable=SC2086
    expect_status 0 kspec $line --json
    expect_json "list(j)[:5] == ['schema', 'kspec', 'command', 'command_line', 'input']"
    expect_json "j['schema'] == 'kspec-' + j['command'] + '/1' and j['kspec'] == '$version'"
    expect_json "isinstance(j['input'], dict) and isinstance(j['warnings'], list)"
    expect_json "all(isinstance(w, str) for w in j['warnings'])"
    expect_json "type(j['seconds']) is float and 0 <= j['seconds'] < 600"
    expect_json "j['command_line'].startswith('kspec ${line%% *}')"
    expect_json "(lambda i: bool(${truth:-True}))(j['input'])"
    echo "${line%% *}" >>covered
done <<END
moments x.npy|i["path"] == "x.npy" and i["key"] is None and i["shape"] == [12, 9] and i["axes"] == "rows,cols"
moments x.npy --center --normalize|i["centered"] is True and i["normalized"] is True \
    and not any("column means" in w for w in j["warnings"])
moments t.npy --axes trials,rows,cols|i["shape"] == [3, 8, 6] and i["axes"] == "trials,rows,cols"
moments x.npy x.npy|i["path"] == "x.npy" and i["paths"] == ["x.npy", "x.npy"] and i["shape"] == [2, 12, 9]
moments z.npz:a|i["path"] == "z.npz" and i["key"] == "a" and i["shape"] == [7, 5]
moments h.csv --select-cols a,c --select-rows 0-6|i["select_cols"] == "a,c" and i["select_rows"] == "0-6" \
    and i["header"] is True
moments nan.npy --nan omit-rows|i["missing"] == "omit-rows" \
    and (i["omitted_rows"], i["omitted_cols"]) == (1, 0)
dimension x.npy|i["path"] == "x.npy" and i["shape"] == [12, 9] and i["centered"] is True and j["curve"] == []
dimension t.npy --no-center --curve|i["shape"] == [3, 8, 6] and i["centered"] is False \
    and len(j["curve"]) == 12
compare x.npy nan.npy --nan omit-cols|i["shape"] == [12, 9] and i["other"]["path"] == "nan.npy" \
    and i["other"]["shape"] == [12, 8] and i["other"]["centered"] is True
compare x.npy t.npy --no-center --paired none|i["other"]["shape"] == [3, 8, 6] \
    and i["other"]["centered"] is False and j["alignment"] is None
spectrum x.npy --rank 4 -n 3|i["shape"] == [12, 9] and i["centered"] is False and i["missing"] == "error"
spectrum --moments 1,0.5,0.3 --rank 4|i == {}
norm x.npy --method lanczos --sigma 2 --standardize|i["path"] == "x.npy" and i["centered"] is True \
    and i["normalized"] is True
norm g.npy --method eigen --gram|i["path"] == "g.npy" and i["centered"] is False
ridge x.npy --target y.npy --features 5 --lambda 1 --center|i["path"] == "x.npy" and i["centered"] is True \
    and i["target"]["path"] == "y.npy"
ridge x.npy --target y.npy --test x.npy --test-target y.npy --features 5 --lambda 1|\
    i["test"]["shape"] == [12, 9] and i["test_target"]["shape"] == [12, 1]
wls theory --grid 8 --learn 3,12 --gamma 1 --noise 0.1|i == {} and j["mode"] == "theory"
wls select --grid 8 --modes 16 --gamma 1|i == {} and j["mode"] == "select" and j["best"]["p"] >= 1
wls bound --zeta 1 --grid 8 --learn 1-8 --alpha 0.5 --beta 0.5 --gamma 1 --noise 0.1|\
    i == {} and j["mode"] == "bound"
wls fit w.npy --learn 3 --at w.npy|i["path"] == "w.npy" and i["shape"] == [16, 1] \
    and i["at"]["path"] == "w.npy"
wls features x.npy --target y.npy|i["path"] == "x.npy" and i["target"]["shape"] == [12, 1]
wls decay x.npy --select-rows 0-5|i["path"] == "x.npy" and i["shape"] == [6, 9] and i["select_rows"] == "0-5"
wls --grid 8 --learn 3|i == {} and j["mode"] == "theory"
learn --images images.npy --labels labels.npy --test-images images.npy --width 4 --epochs 1 -n 2|\
    i["path"] == "images.npy" and i["shape"] == [40, 9] and i["labels"]["path"] == "labels.npy" \
    and i["test_images"]["shape"] == [40, 9]
theory rbf --eta 1|i == {}
theory rbf --sigma s.npy|i["sigma"]["path"] == "s.npy" and "path" not in i
theory linear --eigenvalue 1,2|i == {}
theory sphere --kernel ntk --dim 3|i == {}
generate rff --rows 4 --cols 3 --dim 2 -o made.npy|i == {}
generate gaussian --rows 4 --cols 3 --sigma s.npy -o made.npy|i["sigma"]["shape"] == [2, 2]
estimate X[i,a]X[j,a] X=x.npy|i["path"] == "x.npy" and i["shape"] == [12, 9]
report x.npy -o report.html|i["path"] == "x.npy" and j["moments"]["input"]["centered"] is True
config|i == {}
END

# no command is missing: all but completion, which has no JSON, and plot, below
expect "a line for each command" diff <(sort -u covered) \
    <(kspec help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p' | grep -vx 'plot\|completion' | sort)

# a figure is a result, too
kspec moments x.npy --json -o m.json
expect_status 0 kspec plot m.json --json
expect_json "j['schema'] == 'kspec-figure/1' and j['command'] == 'figure'"
expect_json "j['input'] == {'path': 'm.json', 'key': None}"
expect_json "j['kspec'] == '$version' and j['warnings'] == [] and type(j['seconds']) is float"
# warnings are there with --quiet, too
py "np.save('far.npy', np.load('x.npy') + 9)"
expect_status 0 kspec moments far.npy --json --quiet
expect "nothing on standard error" [ ! -s "$err" ]
expect_json 'len(j["warnings"]) == 1 and "dominate" in j["warnings"][0]'
# a name that is not UTF-8
cp x.npy $'\xff.npy'
expect_status 0 kspec moments $'\xff.npy' --json
expect_json 'j["input"]["path"] == "?.npy"'
expect_status 0 kspec report $'\xff.npy' -n 2 -o page.html --quiet
expect "a page in UTF-8" iconv -f utf-8 -t utf-8 -o /dev/null page.html
rm page.html
done_testing
