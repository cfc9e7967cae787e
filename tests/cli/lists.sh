# A list of INPUTs, @FILE: the same numbers as one by one, in one table.
. "$(dirname "$0")/lib.sh"

for k in 1 2 3; do kspec generate linear --rows 30 --cols 20 --eigenvalue 3,2,1 --seed $k -o x$k.npy; done
kspec generate linear --rows 30 --cols 20 --eigenvalue 3,2,1 --noise 1 --trials 2 --seed 4 -o t.npy
py 't = np.load("t.npy"); np.save("t1.npy", t[0]); np.save("t2.npy", t[1])'
printf '# a comment\nx1.npy\n\nboth\tt1.npy\tt2.npy\r\nsecond <b>\tx2.npy\n' >list.txt
printf 'x1.npy\nx2.npy\nx3.npy\n' >plain.txt

for command in 'moments --seed 3 -n 3' 'spectrum --count 4' 'dimension'; do
    expect_status 0 kspec $command @list.txt --json --quiet
    expect_json '[r["label"] for r in j["results"]] == ["x1.npy", "both", "second <b>"]'
    expect_json '[m["label"] for m in j["input"]["matrices"]] == ["x1.npy", "both", "second <b>"]'
    expect_json 'j["input"]["matrices"][1]["paths"] == ["t1.npy", "t2.npy"]'
    cp "$out" list.json
    for k in 0 1 2; do
        case $k in 0) input=x1.npy ;; 1) input='t1.npy t2.npy' ;; 2) input=x2.npy ;; esac
        kspec $command $input --json --quiet >one.json
        expect "$command: line $k" "$python" -c '
import json, sys
a, b = json.load(open("list.json"))["results"][int(sys.argv[1])], json.load(open("one.json"))
envelope = {"schema", "kspec", "command", "command_line", "input", "doubts", "warnings", "seconds", "label"}
assert len(a) > 5 and {k: v for k, v in a.items() if k not in envelope} == \
    {k: v for k, v in b.items() if k not in envelope}' $k
    done
    expect_status 0 kspec $command @list.txt --quiet
    expect_stdout '^x1.npy  +30 +20'
    expect_stdout '^both  +30 +20 +2 '
done
expect_status 0 kspec norm @plain.txt --seed 2 --json --quiet -o n.json
expect "nothing is printed" [ ! -s "$out" ]
cp n.json "$out"
expect_json 'len(j["results"]) == 3 and j["results"][2]["results"][0]["method"] == "lanczos"'
expect_status 0 kspec norm @plain.txt
expect_stdout 'rows +columns +sigma +method +norm$'
expect_stdout '^x3.npy +30 +20 +[0-9.]+ +lanczos +[0-9.]+$'

# a warning has the name of its matrix; a failure is one line, and leaves nothing
py 'np.save("few.npy", np.random.default_rng(5).normal(size=(6, 5)))'
echo few.npy >>plain.txt
expect_status 0 kspec moments @plain.txt
expect_stderr '^kspec: warning: few.npy: m\([0-9]\)'
echo none.npy >>plain.txt
expect_error 3 'cannot open none.npy' kspec moments @plain.txt -o none.txt
expect "nothing is written" [ ! -e none.txt ]
expect_error 3 'both: norm takes one matrix, not 2 trials' kspec norm @list.txt
expect_error 3 'cannot open nothing.txt' kspec moments @nothing.txt
expect_error 2 '--plot draws one matrix' kspec moments @list.txt --plot x.svg
: >empty.txt
expect_error 3 'empty.txt lists no recording' kspec spectrum @empty.txt
cp x1.npy @x
expect_status 0 kspec moments ./@x --quiet # a file of that name

# the words of a line are names of files: no options, and no list in a list, which might be itself
echo '@self' >self && printf '@b\n' >a && printf 'one\tx1.npy\t@a\n' >b
for list in self a b; do
    expect_error 3 "$list: line 1: @[a-z]+: a list cannot contain a list" kspec dimension @$list
done
printf 'x1.npy --no-center\n' >options
expect_error 3 'cannot open x1.npy --no-center' kspec dimension @options
printf 'x1.npy\t-o\tx.txt\n' >options
expect_error 3 'cannot open -o' kspec dimension @options
expect "nothing is written" [ ! -e x.txt ]
done_testing
