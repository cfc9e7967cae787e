#!/bin/sh
# make data: fetches the public data sets into $KSPEC_DATA, or data/ of the source. A file that is there and
# right is left alone; one that is cut short or wrong is fetched anew.
#
#   sh scripts/data.sh [TABLE]          TABLE: see scripts/data.txt, the default
#
# KSPEC_DATA_URL names a mirror, for where there is no network or an original has moved (file:///folder, too).
# It has each file at its path in the table, or in that folder under the original's name; whole or already
# cut, compressed or not: MIRROR/mnist/train15k-images-idx3-ubyte.gz as well as
# MIRROR/mnist/train-images-idx3-ubyte.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
table=${1:-$root/scripts/data.txt}
data=${KSPEC_DATA:-$root/data}
mirror=${KSPEC_DATA_URL:-}

scratch=
leave() {
    [ -n "$scratch" ] || return 0
    rm -rf "$scratch"
    rmdir "$data" 2>/dev/null || true
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

complain() { echo "kspec: $*" >&2; }

# Content, whether the file is compressed or not.
content() { # file
    if [ "$(od -An -tx1 -N 2 "$1" | tr -d ' ')" = 1f8b ]; then gzip -dc "$1"; else cat "$1"; fi
}

sum_of() { # file
    content "$1" 2>/dev/null | sha256sum | cut -d ' ' -f 1
}

# The number in 4 bytes, the highest first
number_at() { # offset, file
    # shellcheck disable=SC2046 # a word for each byte
    set -- $(od -An -tu1 -j "$1" -N 4 "$2")
    [ $# -eq 4 ] || { echo 0 && return; }
    echo $((($1 << 24) + ($2 << 16) + ($3 << 8) + $4))
}

# The first rows of an idx file of bytes: 0 0 8 d, then d numbers of 4 bytes (the first counts the rows), then
# the data. Any other file is left as it is; its checksum tells.
cut_rows() { # rows, file
    kind=$(number_at 0 "$2")
    if [ "$1" = - ] || [ $((kind >> 8)) -ne 8 ] || [ "$(number_at 4 "$2")" -le "$1" ]; then
        cat "$2"
        return
    fi
    axes=$((kind & 255)) row=1 axis=1
    while [ $axis -lt $axes ]; do
        row=$((row * $(number_at $((4 + 4 * axis)) "$2"))) axis=$((axis + 1))
    done
    head -c 4 "$2"
    for shift in 24 16 8 0; do
        # shellcheck disable=SC2059 # the format is the byte
        printf "\\$(printf %03o $(($1 >> shift & 255)))"
    done
    tail -c +9 "$2" | head -c $((4 * (axes - 1) + $1 * row))
}

# Fetches from the first place that has it; says why it cannot.
download() { # original's address, path, to
    to=$3 path=$2 why=
    if [ -n "$mirror" ]; then
        own=${mirror%/}/$2 original=${mirror%/}/${2%/*}/${1##*/}
        set -- "$own" "${own%.gz}" "$original" "${original%.gz}"
    else
        set -- "$1"
    fi
    for place in "$@"; do
        curl -fsSL --connect-timeout 30 --retry 2 -o "$to" "$place" 2>"$scratch/why" && return
        [ -n "$why" ] || why="cannot fetch $place: $(tail -n 1 "$scratch/why")"
    done
    complain "$path: $why"
    return 1
}

# A folder beside the files, so that each can be put in its place by one rename
prepare() {
    if ! command -v curl >/dev/null; then
        complain "curl is not installed; run 'sh scripts/setup.sh data'"
        exit 1
    fi
    mkdir -p "$data" && scratch=$(mktemp -d "$data/.fetch.XXXXXX") || exit 1
}

store() { # path
    mkdir -p "$(dirname "$data/$1")" || return 1
    case $1 in
        *.gz) gzip -n "$scratch/kept" && mv "$scratch/kept.gz" "$data/$1" ;;
        *) mv "$scratch/kept" "$data/$1" ;;
    esac
}

# Fetches one file, cuts it, checks it, and stores it.
fetch() { # original's address, path, rows, SHA-256
    [ -n "$scratch" ] || prepare
    download "$1" "$2" "$scratch/fetched" || return 1
    content "$scratch/fetched" >"$scratch/whole" 2>/dev/null || true
    cut_rows "$3" "$scratch/whole" >"$scratch/kept"
    got=$(sum_of "$scratch/kept")
    [ "$got" = "$4" ] || { complain "$2: SHA-256 is $got, expected $4" && return 1; }
    store "$2" || { complain "$2: cannot be written to $data" && return 1; }
}

files=0 fetched=0 missing=0 absent=
while IFS='|' read -r name home path rows sum; do
    case $name in '' | \#*) continue ;; esac
    files=$((files + 1))
    [ ! -r "$data/$path" ] || [ "$(sum_of "$data/$path")" != "$sum" ] || continue
    if fetch "$home" "$path" "$rows" "$sum"; then
        echo "$name: $path"
        fetched=$((fetched + 1))
    else
        absent="$absent $path" missing=$((missing + 1))
    fi
done <"$table"

if [ -n "$absent" ]; then
    complain "$missing of $files files are missing in $data; KSPEC_DATA_URL=… names a mirror:"
    for path in $absent; do echo "         $path" >&2; done
    exit 1
fi
echo "$files files are in $data, $fetched of them new"
