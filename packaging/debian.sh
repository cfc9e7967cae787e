#!/bin/sh
# Builds Debian's packages from a clean copy of HEAD, and lintian looks at them.
#
#   sh packaging/debian.sh FOLDER
#
# FOLDER gets the source package, the binary packages and lintian.log. The build needs what `make setup`
# installs, debhelper, dh-python and dpkg-dev; it stops where one is missing. The maintainers' address and the
# number of the bug that asks for the package are placeholders, and lintian is not asked about them.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(realpath "$1")
version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' "$root/packaging/debian/changelog")
rm -rf "$folder/kspec-$version"
git -C "$root" archive --prefix="kspec-$version/" -o "$folder/kspec_$version.orig.tar.gz" HEAD
tar -xzf "$folder/kspec_$version.orig.tar.gz" -C "$folder"
cp -r "$root/packaging/debian" "$folder/kspec-$version/debian"
cd "$folder/kspec-$version"
dpkg-buildpackage -us -uc -j"${JOBS:-$(nproc)}"
cd ..
command -v lintian >/dev/null || exit 0
placeholder=bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs
lintian --suppress-tags $placeholder --fail-on error "kspec_$version"-*.changes >lintian.log || {
    cat lintian.log
    exit 1
}
