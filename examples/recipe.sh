# What the recipes share. They are run as examples/NAME.sh, in a folder in which they may leave their files;
# KSPEC is the tool (by default the one built here, or the one on the path), KSPEC_DATA the folder with the
# data sets.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kspec=${KSPEC:-$here/../build/kspec}
[ -x "$kspec" ] || kspec=kspec

say() { printf '\n%s\n' "$*"; }

run() { # a kspec command, shown as one would type it
    printf '\n$ kspec'
    printf ' %s' "$@" | sed "s,${KSPEC_DATA:-/nowhere}/,\$KSPEC_DATA/,g"
    printf '\n'
    "$kspec" "$@"
}

data() { # file: where it is, or failure
    for folder in "${KSPEC_DATA:-}" "$here/../data" "$here/../../shared/data"; do
        [ -z "$folder" ] || [ ! -r "$folder/$1" ] || { echo "$folder/$1" && return; }
    done
    return 1
}

value() { # key, JSON file: the first number of that name, to four digits
    printf '%.4g' "$(sed -n "s/^ *\"$1\": \([^,]*\),\{0,1\}$/\1/p" "$2" | sed 1q)"
}

plot() { # FILE: the option that draws the result, where pictures can be drawn
    ! command -v "${KSPEC_GNUPLOT:-gnuplot}" >/dev/null || echo "--plot $1"
}
