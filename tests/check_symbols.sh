#!/bin/bash
# Names: the shared library exports what the public headers declare, and nothing else; every global of the
# static library starts with kspec_ or ks_, so that it cannot clash with a program's own.
#
# usage: check_symbols.sh BUILD_DIR SOURCE_DIR
set -u
build=$1 source=$2

names() { nm "$@" --defined-only -g 2>/dev/null | awk 'NF == 3 { print $3 }' | sed 's/@.*//' | sort -u; }

# Prints a line for each breach: shared library, static library, header.
breaches() {
    local exported globals declared
    exported=$(names -D "$1" | grep -vE '^(__|lprof)') # a build that counts lines adds its own
    globals=$(names "$2")
    declared=$(tr '\n' ' ' <"$3" | grep -oE 'KSPEC_API [^;(]*\(' |
        grep -oE 'kspec_[a-z0-9_]+ *\($' | tr -d '( ' | sort -u)
    comm -23 <(echo "$declared") <(echo "$exported") | sed 's/$/ is declared but not exported/'
    comm -13 <(echo "$declared") <(echo "$exported") | sed 's/$/ is exported but not declared/'
    # a sanitizer adds names that begin with two underscores, and the one file of C++ references of its own
    grep -vE '^(kspec_|ks_|__|DW\.ref\.)' <<<"$globals" |
        sed 's/$/ in the static library starts with neither kspec_ nor ks_/'
    echo "$(wc -w <<<"$declared") functions, $(wc -w <<<"$globals") globals" >&2
}

self_test() {
    local dir bad
    dir=$(mktemp -d)
    cat >"$dir/x.h" <<'END'
KSPEC_API int kspec_here(void);
KSPEC_API const char *kspec_lacking(int,
                                    int);
END
    echo 'int kspec_here(void) { return 0; } int stray; int ks_inner(void) { return 1; }' >"$dir/x.c"
    (cd "$dir" && cc -fPIC -c x.c && ar rc libx.a x.o && cc -shared x.o -o libx.so) || return 1
    bad=$(breaches "$dir/libx.so" "$dir/libx.a" "$dir/x.h" 2>/dev/null | sort)
    rm -rf "$dir"
    [ "$bad" = "ks_inner is exported but not declared
kspec_lacking is declared but not exported
stray in the static library starts with neither kspec_ nor ks_
stray is exported but not declared" ] || { echo "self-test: $bad"; return 1; }
}

self_test || exit 1
found=$(breaches "$build/libkspec.so" "$build/libkspec.a" <(cat "$source"/include/kspec/*.h))
[ -z "$found" ] || { echo "$found"; exit 1; }
