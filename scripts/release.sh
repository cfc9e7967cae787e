#!/bin/sh
# The release checklist. Checks that every place names the same version and that the tree is clean; then runs
# CI, makes the packages, and tags. It never pushes.
#
#   sh scripts/release.sh --dry-run     # the checks alone
#   sh scripts/release.sh               # all of it
set -eu
cd "$(dirname "$0")/.."
dry=
case ${1:-} in
    --dry-run) dry=1 ;;
    "") ;;
    *)
        echo "usage: sh scripts/release.sh [--dry-run]" >&2
        exit 2
        ;;
esac
failures=0
check() { # what, command...
    what=$1
    shift
    if "$@"; then
        echo "ok    $what"
    else
        echo "FAIL  $what"
        failures=$((failures + 1))
    fi
}
number() { sed -n "s/^#define KSPEC_VERSION_$1 *\([0-9]*\)$/\1/p" include/kspec/base.h; }
version=$(number MAJOR).$(number MINOR).$(number PATCH)
echo "version $version (include/kspec/base.h)"

said() { [ "$2" = "$version" ] || { echo "      $1 says '$2'"; return 1; }; }
check "CITATION.cff names it" said CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
check "the Debian package names it" said packaging/debian/changelog \
    "$(sed -n '1s/.*(\(.*\)-.*/\1/p' packaging/debian/changelog)"
check "CHANGELOG.md begins with it" said CHANGELOG.md \
    "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -1)"
check "the paper on the methods names it" said docs/paper/index.md \
    "$(sed -n 's/.*, version \([0-9.]*\)\.\*$/\1/p' docs/paper/index.md)"
check "every reference of the citation has a title" \
    [ "$(grep -c '^  - type: ' CITATION.cff)" -eq "$(grep -c '^    title: ' CITATION.cff)" ]
[ -z "$dry" ] || { [ $failures -eq 0 ] && exit 0 || exit 1; }

check "CHANGELOG.md gives it a date" eval '! grep -q "^## $version, unreleased" CHANGELOG.md'
check "nothing is uncommitted" [ -z "$(git status --porcelain)" ]
check "there is no such tag yet" [ -z "$(git tag -l "v$version")" ]
[ $failures -eq 0 ] || exit 1
check "continuous integration passes" .ci/run
check "the wheels" make wheels
check "Debian's packages" sh packaging/debian.sh build/debian
[ $failures -eq 0 ] || exit 1
git tag -a "v$version" -m "kspec $version"
echo "tagged v$version; left to do: git push --tags, upload dist/ and build/debian/, announce"
