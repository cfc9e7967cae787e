#!/bin/bash
# The man pages say what the tool does: for every command in `kspec help` there is a page whose SYNOPSIS and
# options are those of -h, whose examples run, and which names every key of the JSON output; the keys that all
# objects share are in kspec.1. All pages pass mandoc's lint.
#
# usage: check_man.sh KSPEC SOURCE_DIR
set -u
kspec=$(realpath "$1") source=$(realpath "$2")
man=$source/docs/man
if ! command -v mandoc >/dev/null; then
    echo "skip: mandoc is not installed; run 'sh scripts/setup.sh test'"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" "$dir/home"
ln -s "$kspec" "$dir/bin/kspec"
export PATH=$dir/bin:$PATH HOME=$dir/home
failures=0
fail() { echo "FAIL $*"; failures=$((failures + 1)); }

# the page as plain text without line breaks of its own; one section of that
# (without overstrikes and tabs)
render() { mandoc -T ascii -O width=1000 "$1" | sed "s/.$(printf '\b')//g" | expand; }
section() { awk -v want="$1" '/^[A-Z]/ { on = $0 == want; next } on'; }
squeeze() { sed 's/^ *//; s/ *$//; s/  */ /g; /^$/d'; }

# what -h prints: "usage: kspec ..." and the lines below that begin with kspec; the left column of the options
help_synopsis() { sed -n 's/^usage: //p; s/^       kspec/kspec/p' | squeeze; }
help_options() { sed -n 's/^  \( \{4\}\)\{0,1\}\(-.*\)$/\2/p' | sed 's/   *.*//' | sort; }
# a tag stands at the section's indentation; its text may follow on the same line after two blanks
page_options() { sed -n 's/^     \(-.*\)$/\1/p' | sed 's/   *.*//' | sort; }

same() { # what, file, file
    cmp -s "$2" "$3" && return
    fail "$1 (< tool, > page)"
    diff "$2" "$3"
}

check_page() { # name of the command
    local page=$man/kspec-$1.1
    [ -f "$page" ] || { fail "$1: no page docs/man/kspec-$1.1"; return; }
    "$kspec" "$1" --help-all >"$dir/help" || fail "$1 --help-all"
    render "$page" >"$dir/page"
    help_synopsis <"$dir/help" >"$dir/a"
    section SYNOPSIS <"$dir/page" | squeeze >"$dir/b"
    [ -s "$dir/a" ] || fail "$1: -h has no synopsis"
    same "$1: synopsis" "$dir/a" "$dir/b"
    help_options <"$dir/help" >"$dir/a"
    section OPTIONS <"$dir/page" | page_options >"$dir/b"
    [ -s "$dir/a" ] || fail "$1: -h has no options"
    same "$1: options" "$dir/a" "$dir/b"
    # a verb, which has a help of its own, has some of these options
    for verb in $(help_synopsis <"$dir/help" | sed -n "s/^kspec $1 \([a-z]*\) .*/\1/p"); do
        "$kspec" "$1" "$verb" --help-all >"$dir/verb"
        ! cmp -s "$dir/verb" "$dir/help" || continue
        help_options <"$dir/verb" | comm -23 - "$dir/b" >"$dir/a"
        [ ! -s "$dir/a" ] || fail "$1 $verb: not on the page: $(cat "$dir/a")"
    done
}

# every example runs; what it prints in JSON has keys that the page names
check_examples() { # file
    local name keys key command
    name=$(basename "$1")
    render "$1" >"$dir/page"
    section EXAMPLES <"$dir/page" | sed -n 's/^ *\$ //p' >"$dir/examples"
    [ -s "$dir/examples" ] || fail "$name: no examples"
    mkdir -p "$dir/work"
    while read -r command; do
        (cd "$dir/work" && bash -e -o pipefail -c "$command" </dev/null >"$dir/out" 2>"$dir/err") ||
            fail "$name: '$command': $(head -n 1 "$dir/err")"
        case $name:$command in kspec.1:*) continue ;; *--json*) ;; *) continue ;; esac
        [ -s "$dir/out" ] || continue
        keys=$(/usr/bin/python3 -c '
import json, sys
def keys(x):
    if isinstance(x, dict):
        return set(x) | set().union(*map(keys, x.values()))
    return set().union(*map(keys, x)) if isinstance(x, list) else set()
j = json.load(sys.stdin)
shared = "input", "doubts"
own = keys({k: v if k not in shared else None for k, v in j.items()})
print(*sorted(own), *sorted("input." + k for k in keys(j["input"])))' <"$dir/out") ||
            fail "$name: '$command' prints no JSON"
        section "JSON OUTPUT" <"$dir/page" >"$dir/described"
        for key in $keys; do
            set -- "$dir/described"
            case $key in input.*) set -- "$@" "$dir/envelope" ;; esac
            grep -qw -- "${key#input.}" "$@" || fail "$name: the JSON key $key is not described"
        done
    done <"$dir/examples"
}

# a page that differs must be noticed: the same comparison on a spoilt copy
self_test() {
    local real=$man kept=$failures
    cp -r "$man" "$dir/spoilt"
    man=$dir/spoilt
    sed -i '0,/^\.It Fl -/{/^\.It Fl -/d}' "$man/kspec-theory.1"
    sed -i '0,/^\.Cm config/s//.Cm konfig/' "$man/kspec-config.1"
    rm "$man/kspec-completion.1"
    for c in theory config completion; do
        failures=0
        check_page $c >/dev/null
        [ "$failures" -eq 1 ] && continue
        echo "FAIL self-test: a spoilt page of $c makes $failures failures"
        kept=$((kept + 1))
    done
    man=$real failures=$kept
}

commands=$("$kspec" help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 5 ] || fail "kspec help lists only: $commands"
for c in $commands; do check_page "$c"; done
render "$man/kspec.1" | section "JSON OUTPUT" >"$dir/envelope"
for page in "$man"/*.1; do
    mandoc -T lint -W warning "$page" >"$dir/lint" || { fail "lint"; cat "$dir/lint"; }
    check_examples "$page"
    c=$(basename "$page" .1)
    c=${c#kspec}
    c=${c#-}
    [ -z "$c" ] || echo "$commands" | grep -qx "$c" || fail "$page: there is no command $c"
done
for c in $commands; do
    render "$man/kspec.1" | grep -q "kspec-$c(1)" || fail "kspec.1 does not name kspec-$c(1)"
done
self_test
echo "$failures failures"
[ "$failures" -eq 0 ]
