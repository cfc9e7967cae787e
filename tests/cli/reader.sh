# The program kspec-hdf5: where it is looked for, what it may do, what a hostile file costs.
. "$(dirname "$0")/lib.sh"
build=$(dirname "$KSPEC")
single=$fixtures/hdf5/single.h5

# it is shut in, and config says so
expect_status 0 kspec config --json
sanitized || expect_json 'j["hdf5_sandbox"] == "seccomp"'
expect_status 0 kspec config
sanitized || expect_stdout '^HDF5 reader +sandboxed \(seccomp\)$'
expect_status 0 env KSPEC_LIBEXEC=/nonexistent "$KSPEC" config --json
expect_json 'j["hdf5_sandbox"] is None'

# a filter that the library lacks does not have it load whatever lies in HDF5_PLUGIN_PATH
rm -f "$build/tests/plugin-was-loaded"
expect_error 3 'filter 32000 \(lzf\), which this HDF5 library lacks' \
    env HDF5_PLUGIN_PATH="$build/tests/plugins" "$KSPEC" moments "$fixtures/hdf5/unfit.h5:lzf"
expect "no plugin was loaded" [ ! -e "$build/tests/plugin-was-loaded" ]

# 3,000 groups in each other, and a hard link from the innermost back to the root
"$build/tests/make_nested" deep.h5 3000
expect_status 0 env KSPEC_READER_TIMEOUT=30 "$KSPEC" moments deep.h5 -n 1 --json
expect_json 'j["rows"] == 2 and j["cols"] == 2'

# a small file does not get the memory of the whole machine: 1 GiB, and 8256 bytes for each of its own
expect_error 1 'needs 17592186.0 MB, 1[0-9]{3}\.[0-9] MB are available' \
    kspec moments "$fixtures/hdf5/huge.h5:y"

# nor more than the limits of who reads it leave
sanitized || expect_error 1 'needs 17592186.0 MB, [3-6][0-9]{2}\.[0-9] MB are available' \
    bash -c 'ulimit -v 700000; "$0" moments "$1"' "$KSPEC" "$fixtures/hdf5/huge.h5:y"

# by absolute paths alone
mkdir near
cp "$build/kspec-hdf5" near
for where in near ./near near/../near; do
    expect_error 3 "KSPEC_LIBEXEC=$where is not an absolute path" \
        env KSPEC_LIBEXEC=$where "$KSPEC" moments "$single"
done
expect_status 0 env KSPEC_LIBEXEC="$PWD/near" "$KSPEC" moments "$single" -n 1 --quiet
chmod o+w near/kspec-hdf5
expect_error 3 'everybody can write to it' env KSPEC_LIBEXEC="$PWD/near" "$KSPEC" moments "$single"
chmod o-w near/kspec-hdf5
if [ "$(id -u)" -eq 0 ]; then # a stranger's program is not run, wherever it stands
    chown 12345 near/kspec-hdf5
    expect_error 3 'kspec-hdf5 belongs neither to root nor to this user' \
        env KSPEC_LIBEXEC="$PWD/near" "$KSPEC" moments "$single"
    cp "$KSPEC" near
    expect_error 3 'neither next to this program nor in' near/kspec moments "$single"
else
    echo "skip: a stranger's program; run the tests as root"
fi

# a library loaded by a relative path, and a directory changed to one where a program of that name waits
if ! sanitized; then
    mkdir home trap
    cp "$build/libkspec.so" home
    cp "$build/libkspec.so" trap # so that its owner can be asked, too
    printf '#!/bin/sh\ntouch "%s/sprung"\n' "$PWD" >trap/kspec-hdf5
    chmod +x trap/kspec-hdf5
    cp "$single" x.h5
    cat >trap.py <<'END'
import ctypes, os, sys
os.chdir("home")
lib = ctypes.CDLL("./libkspec.so")
os.chdir("../trap")
class error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("msg", ctypes.c_char * 512)]
e, out = error(), ctypes.c_void_p()
paths = (ctypes.c_char_p * 1)(sys.argv[1].encode())
lib.kspec_read(paths, ctypes.c_size_t(1), None, ctypes.byref(out), ctypes.byref(e))
print(e.code, e.msg.decode())
END
    expect_status 0 "$python" trap.py "$PWD/x.h5"
    expect_stdout '(^0 $|neither next to this program nor in)'
    expect "the trap was not sprung" [ ! -e sprung ]
fi
done_testing
