#!/bin/sh
# Proves that the wheels need nothing of this system: runs the package and the command in Debian roots that
# have Python, and neither a compiler nor a BLAS. Needs root, debootstrap and the network; takes minutes.
# The ARM64 wheel runs under qemu-user (qemu-aarch64-static), in a root that is unpacked but not configured.
# Its reference values need NumPy on this machine.
#
#   sudo sh scripts/wheel-test.sh FOLDER WHEEL... [-- SUITE...]
#
# FOLDER keeps the roots, SUITE-ARCH. Without suites: bullseye (glibc 2.31, Python 3.9), bookworm, trixie.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(realpath "$1")
shift
wheels=""
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    wheels="$wheels $(realpath "$1")"
    shift
done
[ $# -eq 0 ] || shift
suites=${*:-bullseye bookworm trixie}

fetch() { # suite, root, arch: a system with Python
    case $3 in
        "$(dpkg --print-architecture)")
            debootstrap --variant=minbase --include=python3 "$1" "$2" >/dev/null
            ;;
        *) # its own programs would configure it, under qemu
            debootstrap --foreign --arch="$3" --variant=minbase --include=python3 "$1" "$2" >/dev/null
            for deb in "$2"/var/cache/apt/archives/*.deb; do
                dpkg-deb --fsys-tarfile "$deb" | tar -xC "$2" --keep-directory-symlink
            done
            cp "$(command -v qemu-aarch64-static)" "$2/usr/bin/"
            ;;
    esac
}

cat >"$folder/proof.py" <<'END_OF_PROOF'
import json, os, pathlib, platform, subprocess, sys
import numpy as np, kspec
program = os.path.join(os.path.dirname(kspec.__file__), "bin", "kspec")
os.chdir("/tmp")
x = kspec.generate.rff(60, 50, dim=3, seed=1)
np.save("x.npy", x)
c = kspec.config()
print(platform.machine(), "Python", platform.python_version(), "glibc", platform.libc_ver()[1])
print("NumPy", np.__version__, c.blas, c.isa)
assert len(kspec.spectrum(x, method="moments", draws=10).eigenvalues)
command = sys.argv[1:] + [program, "dimension", "x.npy", "--json"]
by_tool = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
d = kspec.dimension(x)
print("dimension", d.dimension)
assert by_tool["dimension"] == d.dimension
pathlib.Path("x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(512))
r = subprocess.run(sys.argv[1:] + [program, "moments", "x.h5"], capture_output=True, text=True)
assert r.returncode and "h5py" in r.stderr, r.stderr
try:
    kspec.read("x.h5")
    raise SystemExit("a reader of HDF5 is not expected here")
except kspec.FileError as e:
    assert "pip install" in str(e), e
print("passed")
END_OF_PROOF
for wheel in $wheels; do
    machine=$(basename "$wheel" .whl | sed 's/.*_\(x86_64\|aarch64\)$/\1/')
    arch=$(echo "$machine" | sed 's/x86_64/amd64/; s/aarch64/arm64/')
    for suite in $suites; do
        root=$folder/$suite-$arch
        [ -e "$root/done" ] || { rm -rf "$root" && fetch "$suite" "$root" "$arch" && : >"$root/done"; }
        for what in 'bin/*gcc*' 'bin/cc' 'lib/*/libopenblas*' 'lib/*/libblas*' 'lib/*/libgfortran*'; do
            # shellcheck disable=SC2086
            ! ls "$root"/usr/$what >/dev/null 2>&1 || { echo "kspec: $root has $what" >&2; exit 1; }
        done
        version=$(basename "$(readlink "$root/usr/bin/python3")" | sed 's/python//')
        rm -rf "$root/opt/kspec"
        python3 -m pip install -q --disable-pip-version-check --target "$root/opt/kspec" --only-binary :all: \
            --python-version "$version" --implementation cp --platform "manylinux_2_28_$machine" \
            --platform "manylinux_2_17_$machine" --platform "manylinux2014_$machine" "$wheel"
        cp "$folder/proof.py" "$source/tests/cli/golden.py" "$source/tests/golden/golden.json" "$root/"
        emulator=""
        [ "$machine" = "$(uname -m)" ] || emulator=/usr/bin/qemu-aarch64-static
        mount -t proc proc "$root/proc"
        status=0
        echo "== $suite $machine: $(basename "$wheel")"
        # (an emulated root's own env could not start)
        run="env -i PATH=/usr/sbin:/usr/bin:/bin PYTHONPATH=/opt/kspec LANG=C.UTF-8"
        run="$run chroot $root $emulator /usr/bin/python3"
        $run -W error /proof.py $emulator || status=$?
        # the reference values; an emulated Python cannot start an emulated program
        printf '#!/bin/sh\nexec %s -L %s %s/opt/kspec/kspec/bin/kspec "$@"\n' "$emulator" "$root" "$root" \
            >"$folder/emulated"
        chmod +x "$folder/emulated"
        if [ "$emulator" ]; then
            env -u OPENBLAS_CORETYPE python3 "$source/tests/cli/golden.py" "$folder/emulated" \
                "$source/tests/golden/golden.json" ||
                status=$?
        else
            $run /golden.py /opt/kspec/kspec/bin/kspec /golden.json || status=$?
        fi
        umount -l "$root/proc"
        [ $status -eq 0 ] || exit $status
    done
done
