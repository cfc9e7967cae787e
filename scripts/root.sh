#!/bin/sh
# A newcomer's commands in a bare Debian: makes a root with git and make alone, clones HEAD into it and runs
# make's targets there (demo, test), which install the rest. Needs root, debootstrap and the network.
#
#   sudo sh scripts/root.sh FOLDER SUITE [TARGET...]
#
# SUITE: bookworm, trixie, testing; or bullseye, whose CMake is too old: it gets PyPI's, and `product` alone.
# FOLDER/SUITE is the root; it is kept, and used again. KSPEC_DEBIAN names another mirror.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
suite=$2 root=$(realpath "$1")/$2
shift 2
targets=${*:-demo test}
mirror=${KSPEC_DEBIAN:-http://deb.debian.org/debian}
[ -e "$root/usr/bin/dpkg" ] ||
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >/dev/null
cp /etc/resolv.conf /etc/hosts "$root/etc/"
# (a proxy's certificate, where this machine has one)
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
rm -rf "$root/kspec" "$root/kspec.git"
git clone -q --bare --no-hardlinks "$source" "$root/kspec.git"

ended() {
    umount "$root/dev/pts" "$root/dev/shm" "$root/dev" "$root/proc" 2>/dev/null || true
}
trap ended EXIT
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
cat >"$root/newcomer.sh" <<END_OF_NEWCOMER
set -eu
apt-get update -qq
apt-get install -y -qq --no-install-recommends git make >/dev/null
if [ $suite = bullseye ]; then
    apt-get install -y -qq --no-install-recommends gcc g++ libc6-dev pkg-config python3 python3-pip \\
        libopenblas-dev liblapacke-dev libsleef-dev librandom123-dev coinor-libclp-dev zlib1g-dev \\
        libjansson-dev libhdf5-dev libmatio-dev >/dev/null
    python3 -m pip install -q cmake
    export KSPEC_NO_SETUP=1
fi
git clone -q /kspec.git /kspec
cd /kspec
for target in $targets; do
    begun=\$(date +%s)
    make \$target
    echo "root: $suite: make \$target took \$((\$(date +%s) - begun)) s"
done
build/kspec config
END_OF_NEWCOMER
chroot "$root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive ${JOBS:+JOBS="$JOBS"} sh /newcomer.sh
