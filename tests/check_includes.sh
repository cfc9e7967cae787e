#!/bin/bash
# The direction of includes, as CONTRIBUTING.md draws it: a room includes only rooms below it, and a library
# from outside is named only in the rooms that it belongs to. No file is longer than 600 lines.
#
# usage: check_includes.sh SOURCE_DIR
set -u
source=$(realpath "$1")

# Which rooms may a room include? Every room may include itself; a room that is not listed may not exist.
may_include() {
    case $1 in
    base) echo "" ;;
    names) echo "base moments norm" ;;
    simd | formats | write) echo "base" ;;
    io) echo "base formats write" ;;
    team) echo "base write" ;;
    linalg) echo "base simd" ;;
    features) echo "base simd linalg" ;;
    device) echo "base simd linalg team" ;;
    theory) echo "base simd linalg features" ;;
    wls) echo "base simd linalg team features theory" ;;
    engine) echo "base linalg team device" ;;
    exact) echo "base linalg team device engine" ;;
    ridge | path | pairs) echo "base simd linalg team device features theory" ;;
    checks) echo "base linalg" ;;
    moments) echo "base simd linalg team device features theory engine exact path pairs checks" ;;
    dimension)
        echo "base simd linalg team device features theory engine exact path pairs checks moments einsum" ;;
    fit | norm | learn | einsum)
        echo "base simd linalg team device features theory engine exact path pairs checks moments" ;;
    lp) echo "base linalg team" ;;
    spectrum) echo "base linalg team device moments fit lp" ;;
    bench)
        echo "base simd linalg team device features theory engine exact path pairs checks moments ridge wls" \
            "fit lp spectrum norm learn dimension einsum core kspec.h" ;;
    core) echo "kspec.h" ;;
    plot) echo "core kspec.h" ;;
    commands) echo "core plot kspec.h" ;;
    main.c) echo "core plot kspec.h" ;; # of the tool: its table names the commands
    hdf5) echo "formats/child.h formats/sparse.h" ;; # a program apart: it shares what stands on nothing
    include) echo "" ;;
    *) return 1 ;;
    esac
}

# Which parts of the public header? A room sees those of the rooms below it and its own, never all of kspec.h.
# Every room may define or call what hosts need, kspec/host.h; kspec.h itself never includes it.
parts() { # room, or include/kspec/NAME.h
    case $1 in
    base | doubt | simd | linalg | device | team | engine | kernel | theory | generate | moments | ridge | \
        wls | unbiased)
        echo "base" ;;
    host) echo "base files generate" ;;
    names) echo "base moments norm" ;;
    files) echo "base" ;;
    exact | path | pairs | checks) echo "base moments" ;;
    io | formats | write) echo "base files" ;;
    features) echo "base kernel generate" ;;
    norm | spectrum | learn | dimension) echo "base kernel moments" ;;
    fit | einsum) echo "base moments" ;;
    lp) echo "base spectrum" ;;
    esac
    case $1 in theory | moments | ridge | wls | norm | spectrum | learn | dimension) echo "$1" ;; esac
    case $1 in einsum | dimension) echo "unbiased" ;; esac
    case $1 in ridge) echo "kernel" ;; esac
    case $1 in team) echo "team" ;; esac
    echo "doubt"
}

# Where may a header of an outside library be named? (by room)
owner() {
    case $1 in
    *cblas*.h | *lapack*.h) echo "linalg bench" ;;
    *hdf5*.h | H5*.h | matio*.h) echo hdf5 ;;
    sleef*.h | *intrin.h) echo simd ;;
    Random123/*) echo features ;;
    zlib.h) echo "formats hdf5" ;;
    jansson.h) echo "core plot commands" ;;
    coin/*) echo lp ;;
    esac
}

# The room of a file: src/ROOM/x.c, cli/ROOM/x.c, cli/main.c, bench/x.c, include/kspec/x.h
room_of() {
    case $1 in
    src/* | cli/*) room=${1#*/} room=${room%%/*} ;;
    include/*) room=include ;;
    *) room=${1%%/*} ;;
    esac
}

# May this file include that header of our own?
allowed() { # file, room, header
    local part name
    case $3 in
    kspec/*)
        name=$2
        [ "$2" != include ] || name=$(basename "$1" .h)
        [ "$3" != kspec/host.h ] || { [ "$2" != include ] && [ "$2" != hdf5 ] && return 0 || return 1; }
        [ "$1" != include/kspec.h ] || return 0
        part=${3#kspec/} part=${part%.h}
        [[ " $(parts "$name" | tr '\n' ' ') " == *" $part "* ]] ;;
    "$2"/*) true ;;
    *) [[ " $(may_include "$2") " == *" ${3%%/*} "* || " $(may_include "$2") " == *" $3 "* ]] ;;
    esac
}

# Prints a line for each breach in the tree at $1.
breaches() {
    local tree=$1 file room line what owned
    local -A owners fine # what was asked once
    local list
    list=$(mktemp)
    while read -r file; do
        file=${file#"$tree"/}
        room_of "$file"
        if ! may_include "$room" >/dev/null; then
            echo "$file: the room $room is not listed in check_includes.sh"
            continue
        fi
        while read -r line; do
            case $line in
            *\"*\"*) what=${line#*\"} what=${what%%\"*} ;;
            *\<*\>*) what=${line#*<} what=${what%%>*} ;;
            *) echo "$file: $line"; continue ;;
            esac
            [[ -v owners[$what] ]] || owners[$what]=$(owner "$what")
            owned=${owners[$what]}
            if [ -n "$owned" ]; then
                [[ " $owned " == *" $room "* ]] || echo "$file: $what belongs to $owned"
                continue
            fi
            case $line in *\<*) continue ;; esac # the system's
            [[ ! -v fine["$room $what"] ]] || continue
            if ! allowed "$file" "$room" "$what"; then
                echo "$file: $room may not include $what"
            elif [ "$room" != include ]; then # there each file has rules of its own
                fine["$room $what"]=1
            fi
        done < <(grep -E '^[[:space:]]*#[[:space:]]*include' "$tree/$file")
    done < <(find "$tree/include" "$tree/src" "$tree/cli" "$tree/bench" -name '*.[ch]' | sort)
    # random numbers come from streams of the registry: every call names ks_stream() or passes a stream on
    (cd "$tree" && find src -name '*.c' ! -name random.c) | sort | while read -r file; do
        tr '\n' ' ' <"$tree/$file" | grep -oE 'ks(pec)?_random_[a-z]+\)?\([^;]*;' |
            grep -vE 'ks_stream\(|ks_learn_stream\(|, stream,' |
            sed "s,^,$file: a stream without ks_stream(): ,"
    done
    # jansson ends the process where its scanner has no memory: one file parses, with a reserve
    (cd "$tree" &&
        grep -nE 'json_load(s|b|f|fd|_file|_callback)\(' $(find cli -name '*.c' ! -name memory.c)) |
        sed 's,^\([^:]*\):.*,\1: JSON is parsed by cli_json_parse() alone,'
    # a message of the library names fields of options; the tool adds its flags (srun has flags of its own)
    (cd "$tree" && grep -rnE '^([^"]*"[^"]*")*[^"]*"[^"]*--[a-z]' src | grep -v -e '--mpi=') |
        sed -E 's,^([^:]*:[0-9]+):.*,\1: a flag of the tool in a string,'
    # one file, one idea; lines that fit a window
    (cd "$tree" && find . -name build\* -prune -o -path ./.git -prune -o -path ./data -prune -o \
        \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \) -print0) | sed -z 's,^\./,,' |
        sort -z >"$list"
    (cd "$tree" && xargs -0 wc -l <"$list") |
        awk '$1 > 600 && $2 != "total" { print $2 ": " $1 " lines are more than 600" }'
    (cd "$tree" && LC_ALL=C.UTF-8 xargs -0 grep -HnE '^.{111,}$' <"$list") |
        sed -E 's,^([^:]*:[0-9]+):.*,\1: a line of more than 110 characters,'
    rm -f "$list"
}

# The check itself is checked on a tree of breaches (and of what is allowed), one per file.
self_test() {
    local tree n=0 bad
    tree=$(mktemp -d)
    put() { mkdir -p "$(dirname "$tree/$1")"; printf '#include %s\n' "$2" >"$tree/$1"; }
    put src/base/good.c '"base/error.h"'
    put src/base/good1.h '"kspec/base.h"'
    put src/moments/good.c '"theory/x.h"'
    put src/moments/good.h '<stdio.h>'
    put src/moments/good1.h '"kspec/moments.h"'
    put src/linalg/good.c '<cblas.h>'
    put src/hdf5/good.c '"formats/child.h"'
    put src/norm/good.h '"kspec/kernel.h"'
    put cli/core/good.c '<jansson.h>'
    put cli/plot/good.h '"kspec.h"'
    put cli/plot/good.c '"core/cli.h"'
    put cli/commands/good.c '"plot/plot.h"'
    put cli/main.c '"plot/plot.h"'
    put bench/good.c '"path/path.h"'
    put cli/core/good1.c '"kspec/host.h"'
    put src/team/good.c '"kspec/host.h"'
    put include/kspec.h '"kspec/norm.h"'
    put include/kspec/norm.h '"kspec/kernel.h"'
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
src/hdf5/bad7.c "formats/array.h"
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
src/moments/bad22.c "kspec.h"
src/features/bad23.c "kspec/norm.h"
src/base/bad24.h "kspec/kernel.h"
src/ridge/bad25.c "kspec/wls.h"
cli/core/bad32.c "plot/plot.h"
cli/core/bad33.c "commands/wls.h"
cli/commands/bad35.c "bench/lib/rates.h"
cli/plot/bad34.c "commands/wls.h"
bench/bad26.c "formats/array.h"
bench/bad27.c <coin/x.h>
include/kspec/bad28.h "kspec/base.h"
include/kspec/bad32.h "kspec/host.h"
END
    printf '    kspec_random_normal(seed,\n   3, 0, n, x);\n' >"$tree/src/moments/bad29.c"
    printf 'kspec_random_normal(seed,\n  ks_stream(KS_STREAM_X, 0), 0, n, x);\n' >"$tree/src/moments/good2.c"
    printf '/* %0105d */\n' 0 >"$tree/src/moments/bad30.c"
    printf '/* %0104d */\n' 0 >"$tree/src/moments/good3.c"
    printf 'ks_fail(err, st, "use --normalize");\n' >"$tree/src/moments/bad33.c"
    printf 'ks_fail(err, st, "scale the data -- or x--;"); /* --normalize */\n' >"$tree/src/moments/good4.c"
    printf 'x = json_loads(text, 0, &where);\n' >"$tree/cli/core/bad31.c"
    printf 'x = json_load_callback(next, &r, 0, where);\n' >"$tree/cli/core/memory.c"
    n=$((n + 4))
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
