#!/bin/bash
# The direction of includes, as CONTRIBUTING.md draws it: a room includes only rooms below it, and a library from
# outside is named only in the rooms that it belongs to. No file is longer than 600 lines.
#
# usage: check_includes.sh SOURCE_DIR
set -u
source=$(realpath "$1")

# Which rooms may a room include? Every room may include itself; a room that is not listed may not exist.
may_include() {
    case $1 in
    base) echo "" ;;
    simd | linalg | io) echo "base" ;;
    features) echo "base simd linalg" ;;
    theory) echo "base simd linalg features" ;;
    moments | ridge | wls) echo "base simd linalg features theory" ;;
    spectrum | norm | learn) echo "base simd linalg features theory moments" ;;
    hdf5) echo "io/child.h" ;; # a program apart from the library: it shares the layout of its answer only
    *) return 1 ;;
    esac
}

# Where may a header of an outside library be named? (by room; cli counts as one)
owner() {
    case $1 in
    *cblas*.h | *lapack*.h) echo linalg ;;
    *hdf5*.h | H5*.h | matio*.h) echo hdf5 ;;
    sleef*.h | *intrin.h) echo simd ;;
    Random123/*) echo features ;;
    zlib.h) echo "io hdf5" ;;
    jansson.h) echo cli ;;
    coin/*) echo spectrum ;;
    esac
}

# Prints a line for each breach in the tree at $1.
breaches() {
    local tree=$1 file room line what owned allowed
    while read -r file; do
        room=$(dirname "${file#"$tree"/}")
        room=${room#src/} room=${room%%/*} allowed=""
        if [ "$room" != cli ] && ! allowed=$(may_include "$room"); then
            echo "${file#"$tree"/}: the room $room is not listed in check_includes.sh"
            continue
        fi
        while read -r line; do
            case $line in
            *\"*\"*) what=${line#*\"} what=${what%%\"*} ;;
            *\<*\>*) what=${line#*<} what=${what%%>*} ;;
            *) echo "${file#"$tree"/}: $line"; continue ;;
            esac
            owned=$(owner "$what")
            if [ -n "$owned" ]; then
                [[ " $owned " == *" $room "* ]] || echo "${file#"$tree"/}: $what belongs to $owned"
                continue
            fi
            case $line in *\<*) continue ;; esac # the system's
            case $room:$what in
            cli:kspec.h | cli:core/* | cli:plot/* | cli:commands/*) continue ;;
            hdf5:kspec.h) ;;
            *:kspec.h | "$room:$room"/*) continue ;;
            *) case " $allowed " in *" ${what%%/*} "* | *" $what "*) continue ;; esac ;;
            esac
            echo "${file#"$tree"/}: $room may not include $what"
        done < <(grep -E '^[[:space:]]*#[[:space:]]*include' "$file")
    done < <(find "$tree/src" "$tree/cli" -name '*.[ch]' | sort)
    # one file, one idea
    (cd "$tree" && find include src cli tests fuzz bench -name '*.[ch]' -o -name '*.sh' -o -name '*.py') 2>/dev/null |
        sort | while read -r file; do
            line=$(wc -l <"$tree/$file")
            [ "$line" -le 600 ] || echo "$file: $line lines are more than 600"
        done
}

# The check itself is checked on a tree of breaches (and of what is allowed), one per file.
self_test() {
    local tree n=0 bad
    tree=$(mktemp -d)
    put() { mkdir -p "$(dirname "$tree/$1")"; printf '#include %s\n' "$2" >"$tree/$1"; }
    put src/base/good.c '"base/error.h"'
    put src/moments/good.c '"theory/x.h"'
    put src/moments/good.h '<stdio.h>'
    put src/linalg/good.c '<cblas.h>'
    put src/hdf5/good.c '"io/child.h"'
    put cli/core/good.c '<jansson.h>'
    put cli/plot/good.h '"kspec.h"'
    while read -r file what; do
        put "$file" "$what"
        n=$((n + 1))
    done <<'END'
src/base/bad1.c "simd/simd.h"
src/simd/bad2.c "linalg/linalg.h"
src/linalg/bad3.c "features/x.h"
src/features/bad4.c "theory/x.h"
src/theory/bad5.c "moments/x.h"
src/io/bad6.c "linalg/linalg.h"
src/hdf5/bad7.c "io/array.h"
src/hdf5/bad8.c "kspec.h"
src/moments/bad9.c "io/read.h"
src/moments/bad10.c <cblas.h>
src/theory/bad11.c "lapacke.h"
src/io/bad12.c <hdf5.h>
src/io/bad13.c <matio.h>
src/features/bad14.c <sleef.h>
src/base/bad15.h "error.h"
src/other/bad16.c "base/error.h"
src/base/bad17.c WHATEVER
cli/core/bad18.c "base/error.h"
cli/plot/bad19.c <zlib.h>
src/moments/bad20.c <jansson.h>
END
    yes '' | head -n 601 >"$tree/src/base/bad21.h"
    yes '' | head -n 600 >"$tree/src/base/good.h"
    n=$((n + 1))
    bad=$(breaches "$tree")
    rm -rf "$tree"
    if [ "$(grep -c bad <<<"$bad")" -ne $n ] || grep good <<<"$bad"; then
        printf 'self-test: %d breaches expected, found:\n%s\n' $n "$bad"
        return 1
    fi
}

self_test || exit 1
found=$(breaches "$source")
[ -z "$found" ] || { echo "$found"; exit 1; }
echo "includes point downwards"
