# Completions: bash's are run, those of zsh and fish must name every command and option.
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
    expect_status 0 kspec completion $shell
    cp "$out" kspec.$shell
done
expect "bash accepts it" bash -n kspec.bash
expect "zsh's begins as zsh wants" grep -qx '#compdef kspec' <(head -n 1 kspec.zsh)
if command -v zsh >/dev/null; then expect "zsh accepts it" zsh -n kspec.zsh; fi
if command -v fish >/dev/null; then expect "fish accepts it" fish -n kspec.fish; fi

# what bash offers for the words given, the last of which is being typed
complete_words() {
    bash -c 'source ./kspec.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _kspec
        printf "%s\n" "${COMPREPLY[@]}"' - kspec "$@" |
        sort | tr '\n' ' '
}
offers() { # words offered (all of them), words typed...
    local want=$1
    shift
    checks=$((checks + 1))
    local have
    have=$(complete_words "$@")
    [ "$have" = "$want " ] || fail "'kspec $*' is completed by '$have', not '$want'"
}
offers moments mom
offers theory t
offers 'help' he
offers 'compare completion config' co
offers '--estimator' moments x.npy --est
offers '--select-cols --select-rows' moments --select
offers '--json' theory rbf --j
offers 'ragged-trials' moments --nan rag
offers 'kv-col kv-row' moments --estimator kv
offers 'bash' completion ba
offers '--eigenvalue' generate --eig
touch data.npy
offers 'data.npy' moments da

# every option of every command, as -h has them
for c in $(kspec help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p'); do
    kspec "$c" --help-all | grep -oE '^ {2}.{0,4}--?[a-z-]+' | grep -oE -- '--?[a-z-]+' | sort -u >options
    expect "$c has options" [ "$(wc -l <options)" -ge 6 ]
    expect "fish knows $c" grep -q -- "-a $c -d" kspec.fish
    expect "zsh knows $c" grep -q -- "'$c:" kspec.zsh
    for o in $(grep -- '^--' options) $(grep -x -- '-n' options); do
        expect "bash: $c $o" grep -q -- " $o[ ']" <(grep "^        $c) " kspec.bash)
        expect "zsh: $c $o" grep -q -- "^        '$o\(=-\)\{0,1\}\[" \
            <(sed -n "/^    $c) _arguments/,/;;/p" kspec.zsh)
        case $o in
        --*) expect "fish: $c $o" grep -q -- "seen_subcommand_from $c' .*-l ${o#--} " kspec.fish ;;
        *) expect "fish: $c $o" grep -q -- "seen_subcommand_from $c' .*-s ${o#-} " kspec.fish ;;
        esac
    done
done
# fish's quotes are closed on each line
expect "fish's quotes" "$python" -c '
for line in open("kspec.fish"):
    assert line.replace("\\\x27", "").count("\x27") % 2 == 0, line'
expect_error 2 'completion has no JSON output' kspec completion bash --json
expect_status 0 kspec completion bash -o there
expect "-o" cmp -s there kspec.bash
done_testing
