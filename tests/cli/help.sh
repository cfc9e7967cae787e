# Help, version, and what is said to a word that the tool does not know.
. "$(dirname "$0")/lib.sh"

commands=$(kspec help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p')
for c in moments theory generate config completion; do
    expect "$c is listed" grep -qx $c <<<"$commands"
done
expect_status 0 kspec help
expect_stdout '^usage: kspec COMMAND'
cp "$out" all
for way in -h --help; do
    expect_status 0 kspec $way
    expect "$way is help" cmp -s "$out" all
done
for c in $commands; do
    expect_status 0 kspec help "$c"
    cp "$out" one
    expect_stdout "^usage: kspec $c"
    expect_stdout "man kspec-$c"
    for way in -h --help; do
        expect_status 0 kspec "$c" $way
        expect "$c $way is help $c" cmp -s "$out" one
    done
done

verbs=('wls theory' 'wls select' 'wls bound' 'wls fit' 'wls features' 'wls decay')
# -h: at most five options and the two examples, --help-all: every option; each command and verb has an entry
for c in $commands "${verbs[@]}"; do
    # shellcheck disable=SC2086
    kspec $c -h >few
    # shellcheck disable=SC2086
    kspec $c --help-all >every
    expect "$c -h has one to five options" eval \
        'n=$(grep -cE "^  .{0,4}--?[a-z]" few); [ $n -ge 1 ] && [ $n -le 5 ]'
    expect "$c -h names --help-all" grep -qE "^All [0-9]+ options: kspec $c --help-all$" few
    expect "and counts them" \
        [ "$(sed -n 's/^All \([0-9]*\) .*/\1/p' few)" -eq "$(grep -cE '^  .{0,4}--?[a-z]' every)" ]
    expect "$c -h has two examples" [ "$(sed -n '/^Try:/,/^$/p' few | grep -c '^  kspec ')" -eq 2 ]
done

# the examples work as typed, on files with these names
py 'r = np.random.default_rng(1); x = r.normal(size=(60, 5)) @ r.normal(size=(5, 40))
n = lambda: r.normal(size=x.shape)
np.save("y.npy", r.normal(size=(300, 4)) @ r.normal(size=(4, 30)))
np.save("trial1.npy", x + n()); np.save("trial2.npy", x + n())
t = r.normal(size=(60, 3)); t = np.column_stack([t, np.sin(t[:, 0])])
np.savetxt("table.csv", t, delimiter=",", header="a,b,c,quality", comments="")
np.savetxt("signal.csv", np.exp(np.sin(np.arange(64) / 64 * 2 * np.pi)) + 0.1 * r.normal(size=64))
np.savetxt("y.csv", r.normal(size=300))
import gzip, struct
pixels, labels = r.integers(0, 256, 640, "u1").tobytes(), (np.arange(40) % 10).astype("u1").tobytes()
with gzip.open("images.gz", "wb") as f: f.write(struct.pack(">4i", 0x803, 40, 4, 4) + pixels)
with gzip.open("labels.gz", "wb") as f: f.write(struct.pack(">2i", 0x801, 40) + labels)'
kspec generate rff --rows 300 --cols 200 --dim 3 -o x.npy
kspec dimension x.npy --curve --json -o result.json
for c in $commands "${verbs[@]}"; do
    # shellcheck disable=SC2086
    kspec $c -h | sed -n '/^Try:/,/^$/s/^  kspec //p' >examples
    while read -r example; do
        case $example in *plot* | report*) command -v gnuplot >/dev/null || continue ;; esac
        expect_status 0 bash -c "'$KSPEC' $example --quiet" </dev/null
    done <examples
done

# without a command the overview goes to standard error, and it is wrong usage
kspec >"$out" 2>"$err"
expect "status 2 without a command" [ $? -eq 2 ]
expect "a greeting on standard error" grep -q '^How many dimensions' "$err"
expect "nothing on standard output" [ ! -s "$out" ]

version=$(sed -n 's/^#define KSPEC_VERSION_[MP][A-Z]* *//p' "$KSPEC_SOURCE/include/kspec/base.h" | paste -sd.)
expect_status 0 kspec --version
expect "the version is the header's" [ "$(cat "$out")" = "kspec $version" ]

# the nearest word is suggested
expect_error 2 "unknown command 'momets'; did you mean moments\?" kspec momets
expect_error 2 "unknown command 'mom'; did you mean moments\?" kspec mom
expect_error 2 "unknown command 'teory'; did you mean theory\?" kspec teory
expect_error 2 "unknown command 'hlep'; did you mean help\?" kspec hlep
expect_error 2 "unknown command 'frobnicate'; 'kspec help' lists them" kspec frobnicate
expect_error 2 "unknown command '--frobnicate'" kspec --frobnicate
expect_error 2 "unknown command ''" kspec ''
expect_error 2 "unknown command 'x'" kspec help x
expect_error 2 "unexpected argument 'x'" kspec help moments x
expect_error 2 "unexpected argument 'x'" kspec --version x
expect_error 2 "unknown option '--seeed'; did you mean --seed\?" kspec theory rbf --seeed 1
expect_error 2 "unknown option '--select-col=1'; did you mean --select-cols\?" kspec moments x --select-col=1
expect_error 2 "unknown option '--nn'; did you mean -n\?" kspec moments x --nn 1
expect_error 2 "unknown option '--frobnicate'; 'kspec theory -h' lists them" kspec theory rbf --frobnicate
expect_error 2 "unknown option '-x'" kspec theory rbf -x
expect_error 2 "unknown option '--select-cols'" kspec theory rbf --select-cols 1 # it reads no INPUT

# a message is one line whatever is in the words that it repeats
expect_error 2 "unknown command 'a\?b'" kspec $'a\nb'
expect_error 2 "unknown option '--a\?\[31m" kspec config $'--a\e[31m\n\n'
expect_error 3 'cannot open a\?b' kspec moments $'a\nb'
long=$(printf 'x%.0s' {1..5000})
expect_status 2 kspec "$long"
expect_status 2 kspec config "--$long"
expect_status 2 kspec theory rbf --eta "$long"
expect_status 3 kspec moments "$long"

# nowhere to write the help to
expect_status 1 bash -c '"$0" help >/dev/full' "$KSPEC"
expect_status 1 bash -c '"$0" --version >/dev/full' "$KSPEC"
expect_status 1 bash -c '"$0" moments -h >/dev/full' "$KSPEC"
for c in $commands; do expect_status 1 bash -c '"$0" help '$c' >/dev/full' "$KSPEC"; done # one write or two
expect_status 1 bash -c '"$0" help >&-' "$KSPEC"
done_testing
