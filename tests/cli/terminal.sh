# What reaches a terminal: letters. A name may hold escape sequences, the control characters of C1 (U+0080 to
# U+009F, which some terminals obey as they do those) and bytes that are not UTF-8.
. "$(dirname "$0")/lib.sh"
kspec generate rff --rows 8 --cols 9 --dim 1 -o x.npy
clean() { # files: UTF-8 without control characters but line breaks
    "$python" -c 'import sys
for name in sys.argv[1:]:
    for c in open(name, "rb").read().decode("utf-8"):
        if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160:
            sys.exit("%s holds U+%04X" % (name, ord(c)))' "$@"
}
csi=$(printf '\302\233') byte=$(printf '\233') del=$(printf '\177') esc=$(printf '\033')
for name in "c1${csi}31m.npy" "byte${byte}31m.npy" "del$del.npy" "esc${esc}[31m.npy" "Größe × 2….npy"; do
    cp x.npy "$name"
    expect_status 0 kspec moments "$name" -n 2
    expect "the table of $name" clean "$out" "$err"
    expect_status 0 kspec moments "$name" -n 2 --center --json
    expect "the JSON" clean "$out" "$err"
    expect_json 'j["rows"] == 8 and isinstance(j["input"]["path"], str)'
    expect_status 2 kspec moments "$name:key"
    expect "the message" clean "$err"
    expect_status 3 kspec moments "no$name"
    expect "of a file that is not there" clean "$err"
    expect_status 2 kspec moments x.npy "--estimator=$name"
    expect "of a wrong value" clean "$err"
    expect_status 1 kspec theory rbf --eta 1 -o "none/$name"
    expect "of a place that is not there" clean "$err"
    expect_status 0 kspec plot <(kspec moments x.npy -n 2 --json --quiet) -o x.gp --title "$name"
    expect "the script of a picture" clean x.gp
done
# JSON gives the name back
expect_status 0 kspec moments "c1${csi}31m.npy" -n 2 --json
expect_json 'j["input"]["path"] == "c1\x9b31m.npy"'
expect_status 0 kspec moments "del$del.npy" -n 2 --json
expect_json 'j["input"]["path"] == "del\x7f.npy"'
expect_status 0 kspec moments "Größe × 2….npy" -n 2
expect_stdout '^Größe × 2….npy: 8 rows'
# names of columns, and fields that are shown
printf 'a%s31m,b\n1,2\n3,x%s31m\n' "$csi" "$csi" >c1.csv
expect_status 3 kspec moments c1.csv
expect "a field in a message" clean "$err"
expect_status 2 kspec moments c1.csv --select-cols a9
expect "a name in a message" clean "$err"
done_testing
