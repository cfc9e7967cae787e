#!/bin/sh
# Usage: fuzz/pack.sh NAME FOLDER
# Makes fuzz/corpus/NAME.tar.gz of the files in FOLDER: the corpus that the fuzz target NAME starts from. The
# same files give the same bytes, whoever packs them and when.
set -eu
[ $# -eq 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$2"
mkdir -p "$root/fuzz/corpus"
find . -type f | sed 's,^\./,,' | LC_ALL=C sort |
    tar --no-recursion --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - -T - |
    gzip -9n >"$root/fuzz/corpus/$1.tar.gz"
