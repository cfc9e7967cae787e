#!/bin/sh
# Proves that the wheel needs nothing of this system: installs it into a fresh Debian 12 that has Python and
# its venv, and none of the libraries of the build, and runs the package and the command there. Needs root,
# debootstrap and the network; takes minutes.
#
#   sudo sh scripts/wheel-bare.sh dist/kspec-*.whl FOLDER
set -eu
wheel=$(realpath "$1")
root=$2
[ -e "$root/usr/bin/python3" ] ||
    debootstrap --variant=minbase --include=python3-venv bookworm "$root" >/dev/null
mkdir -p "$root/wheels"
cp "$wheel" "$root/wheels/"
python3 -m pip download -q --disable-pip-version-check --only-binary :all: --python-version 3.11 --no-deps \
    -d "$root/wheels" numpy
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
trap 'umount "$root/dev" "$root/proc"' EXIT
cat >"$root/proof.sh" <<'END'
set -eu
! ls /usr/lib/x86_64-linux-gnu | grep -E 'openblas|lapack|sleef|libClp|CoinUtils|jansson|gfortran|hdf5'
rm -rf /venv
python3 -m venv /venv
/venv/bin/pip install -q --disable-pip-version-check --no-index --find-links /wheels kspec
cd /tmp
/venv/bin/python -W error -c '
import numpy as np, kspec
x = kspec.generate.rff(60, 50, dim=3, seed=1)
np.save("x.npy", x)
print(kspec.dimension(x))
print(kspec.spectrum(x, method="moments", draws=10).eigenvalues[:3])
print(kspec.config())'
/venv/bin/kspec moments x.npy
ls /venv/lib/python3*/site-packages/kspec-*.dist-info/licenses
END
chroot "$root" sh /proof.sh
