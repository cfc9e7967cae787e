# Inputs that cannot be read or are unfit: status 3 and one line, whatever is wrong with them.
. "$(dirname "$0")/lib.sh"
bad() { # pattern, input
    expect_error 3 "$1" kspec moments "$2" --json -o result
    expect "nothing is written" [ ! -e result ]
}

"$python" - <<'END' || exit 1
import h5py, numpy as np
a = np.arange(12.0).reshape(3, 4)
np.save("good.npy", a)
np.save("complex.npy", a + 1j)
np.save("complex_vector.npy", np.arange(5) + 1j)
np.save("text.npy", np.array(["a", "b"]))
np.save("object.npy", np.array([None, 1]), allow_pickle=True)
np.save("none.npy", np.zeros((0, 4)))
np.save("four.npy", np.zeros((2, 2, 2, 2)))
np.save("scalar.npy", np.float64(3))
a[1, 2] = np.inf
np.save("inf.npy", a)
a[1, 2] = -np.inf
np.savetxt("inf.csv", a, delimiter=",")
a[1, 2] = np.nan
np.save("nan.npy", a)
with h5py.File("good.h5", "w") as f:
    f["a"] = np.ones((3, 4))
    f["s"] = "text"
END

bad 'cannot open missing.npy: No such file' missing.npy
bad 'Is a directory' .
bad 'empty' empty
: >empty
bad 'empty is empty' empty
bad 'empty' /dev/null
for n in 1 5 8 9 20 60 127 128 129 200; do
    head -c $n good.npy >cut.npy
    bad 'cut.npy' cut.npy
done
bad 'complex.npy' complex.npy
bad 'complex numbers are not supported' complex_vector.npy
bad 'text.npy' text.npy
bad 'object.npy' object.npy
bad 'none.npy' none.npy
bad 'four.npy' four.npy
expect_status 3 kspec moments scalar.npy
bad 'row 1, column 2 \(from 0\) is infinite' inf.npy
bad 'row 1, column 2.*(minus )?infinite' inf.csv
bad 'missing value.*row 1, column 2' nan.npy

# text that is no matrix
printf '1,2\n3\n' >ragged.csv
bad 'ragged.csv' ragged.csv
printf 'a,b\nc,d\n' >words.csv
bad 'words.csv' words.csv
printf '1,2\n3,x\n' >word.csv
bad 'word.csv.*(x|line|row)' word.csv
printf 'a,b\n' >header.csv
bad 'header.csv' header.csv
printf '\n\n' >blank.csv
bad 'blank.csv' blank.csv
printf '\1\2\177garbage\0\0' >garbage
bad 'garbage is not text' garbage
head -c 100000 /dev/urandom >noise
bad noise noise

# archives and compressed files
printf 'PK\3\4 no archive' >x.npz
bad 'x.npz' x.npz
printf '\37\213 no gzip' >x.gz
bad 'x.gz' x.gz
head -c 30 "$fixtures/binary/u1-idx3.gz" >y.gz
bad 'y.gz' y.gz
printf '\0\0\10\2\0\0\0\3\0\0\0\3abc' >short-idx2-ubyte
bad 'short-idx2' short-idx2-ubyte

# HDF5 and MATLAB
bad 'good.h5:/b' good.h5:/b
bad 'good.h5:/s' good.h5:/s
head -c 900 good.h5 >cut.h5
bad 'cut.h5' cut.h5
bad 'bad_chunk.h5' "$fixtures/hdf5/bad_chunk.h5:/damaged"
bad 'only_complex.h5' "$fixtures/hdf5/only_complex.h5"
head -c 200 "$fixtures/hdf5/single_v5.mat" >cut.mat
bad 'cut.mat' cut.mat
for file in bad.h5 bad.mat bad.npz; do
    head -c 4 good.h5 >$file
    bad "$file is not an npz, HDF5 or MATLAB \(v5 or later\) file, so it has no array '/x'" $file:/x
    bad 'it is not an? .* file, whatever its suffix says' $file
done

# a reader that crashes, ends without an answer, hangs or is not there: the file is at fault, the tool goes on
# to say so
mkdir helper
reader() { printf '#!/bin/sh\n%s\n' "$1" >helper/kspec-hdf5; chmod +x helper/kspec-hdf5; }
helped() {
    expect_error 3 "$1" \
        env KSPEC_LIBEXEC="$PWD/helper" KSPEC_READER_TIMEOUT=1 "$KSPEC" moments good.h5:/a
}
reader 'kill -SEGV $$'
helped 'reader crashed \(signal 11\)'
reader 'kill -ABRT $$'
helped 'reader crashed \(signal 6\)'
reader 'kill -KILL $$'
helped 'killed \(signal 9\)'
reader 'exit 5'
helped 'exit status 5'
reader 'exit 0'
helped 'ended without an answer'
reader 'printf lies >&3'
helped 'good.h5'
reader 'exec sleep 20'
helped 'made no progress for 1 s'
rm helper/kspec-hdf5
helped 'no program kspec-hdf5 in KSPEC_LIBEXEC'
expect_status 0 kspec moments good.h5:/a --quiet
expect_error 2 'KSPEC_READER_TIMEOUT=x' env KSPEC_READER_TIMEOUT=x "$KSPEC" moments good.h5:/a

# one bad input among good ones, and names that are no names
expect_error 3 'missing.npy' kspec moments good.npy missing.npy
expect_error 2 'input 1 has no name' kspec moments ''
if [ "$(id -u)" -ne 0 ]; then
    chmod 0 good.npy
    bad 'Permission denied' good.npy
fi
done_testing
