# Every input format, selections, axes, missing values: all files here hold the same 6 x 4 matrix.
. "$(dirname "$0")/lib.sh"

"$python" - <<'END' || exit 1
import gzip, h5py, numpy as np, scipy.io, struct
a = np.arange(24).reshape(6, 4) * 37 % 23 % 11.0
np.save("a.npy", a)
np.save("a_fortran.npy", np.asfortranarray(a))
np.save("a_big.npy", a.astype(">f8"))
np.save("a_f4.npy", a.astype("f4"))
np.save("a_u1.npy", a.astype("u1"))
np.save("a_i8.npy", a.astype("i8"))
np.savez("one.npz", a=a)
np.savez_compressed("two.npz", a=a, b=2 * a)
for name, sep in (("a.csv", ","), ("a.tsv", "\t"), ("semi", ";"), ("blank.dat", " ")):
    np.savetxt(name, a, delimiter=sep, fmt="%g")
np.savetxt("header.csv", a, delimiter=",", fmt="%g", header="w,x,y,z", comments="")
open("crlf.csv", "wb").write(open("header.csv", "rb").read().replace(b"\n", b"\r\n"))
with h5py.File("a.h5", "w") as f:
    f["g/a"] = a
    f["b"] = 2 * a
with h5py.File("one.h5", "w") as f:
    f["a"] = a
scipy.io.savemat("a.mat", {"a": a, "b": 2 * a})
scipy.io.savemat("one.mat", {"a": a}, do_compression=True)
idx = struct.pack(">HBBII", 0, 8, 2, 6, 4) + a.astype("u1").tobytes()
open("a-idx2-ubyte", "wb").write(idx)
gzip.open("a-idx2-ubyte.gz", "wb").write(idx)
images = struct.pack(">HBBIII", 0, 8, 3, 6, 2, 2) + a.astype("u1").tobytes()
open("a-idx3-ubyte", "wb").write(images)
END

expect_status 0 kspec moments a.npy --json
result "$out" >want
expect_json '(j["trials"], j["rows"], j["cols"]) == (1, 6, 4)'
for input in a.npy a_fortran.npy a_big.npy a_f4.npy a_u1.npy a_i8.npy one.npz one.npz:a two.npz:a \
    a.csv a.tsv semi blank.dat header.csv crlf.csv a.h5:/g/a a.h5:g/a one.h5 one.h5:/a \
    a.mat:a one.mat one.mat:a a-idx2-ubyte a-idx2-ubyte.gz a-idx3-ubyte; do
    expect_status 0 kspec moments $input --json
    expect "$input gives the same numbers" cmp -s <(result "$out") want
    expect_status 0 kspec moments $input
    case $input in header.csv | crlf.csv) header=' \(header: first row\)' ;; *) header= ;; esac
    expect_stdout "^$input: 6 rows × 4 columns$header\$"
done

# a row is not taken for a header on account of one odd field, nor lost without a word
{ echo 3,None,1,2 && cat a.csv; } >odd.csv
{ echo 0,1,2,3 && sed 's/$/.5/' a.csv; } >numbered.csv
expect_error 3 "odd.csv: line 1, column 1: 'None' is not a number" kspec moments odd.csv
expect_status 0 kspec moments odd.csv --select-cols 0,2-3
expect_stdout '^odd\.csv: 7 rows × 3 columns$'
expect_status 0 kspec moments numbered.csv --select-cols 3,1
expect_stdout '^numbered\.csv: 6 rows × 2 columns \(header: first row\)$'

# the bytes tell the format, not the name
cp a.npy x.csv
cp header.csv x.npy
cp one.h5 x.txt
for input in x.csv x.npy x.txt; do
    expect_status 0 kspec moments $input --json
    expect "$input is told by its content" cmp -s <(result "$out") want
done

# standard input
for input in a.npy a.csv header.csv; do
    expect_status 0 bash -c '"$0" moments - --json <"$1"' "$KSPEC" $input
    expect "$input on standard input" cmp -s <(result "$out") want
    expect_status 0 bash -c 'cat "$1" | "$0" moments - --json' "$KSPEC" $input
    expect "$input through a pipe" cmp -s <(result "$out") want
done
expect_error 2 'given twice' kspec moments - -
expect_error 3 'is an HDF5 file, which kspec reads from files only' bash -c '"$0" moments - <a.h5' "$KSPEC"

# parts of a file
expect_error 3 'a.*b' kspec moments two.npz
expect_error 3 'two.npz:c' kspec moments two.npz:c
expect_error 3 'a.h5' kspec moments a.h5
expect_error 3 'a.h5:/none' kspec moments a.h5:/none
expect_error 3 'a.mat:none' kspec moments a.mat:none
expect_error 2 "has no named arrays; leave out ':key'" kspec moments a.npy:key
cp a.npy 'odd:name.npy'
expect_status 0 kspec moments odd:name.npy --json
expect "a colon in a file's name" cmp -s <(result "$out") want

# a name is printed in one line that is not too long, by its end
long=$(printf 'd%.0s' {1..190}).npy
odd=$(printf 'a\nb\033[31m.npy')
cp a.npy "$long"
cp a.npy "$odd"
expect_status 0 kspec moments "$long"
expect_stdout '^…d{156}\.npy: 6 rows × 4 columns$'
expect_status 0 kspec moments "$odd"
expect_stdout '^a\?b\?\[31m\.npy: 6 rows × 4 columns$'

# selections are told by m(1), the mean of the squares
py "a = np.load('a.npy')**2
print(*[repr(float(v)) for v in (a[:, 1].mean(), a[2:5].mean(), a[[5, 0]][:, [3, 1, 0]].mean())])" >means
read -r col1 rows24 part <means
first() { # value, arguments: m(1) of the selection
    local want=$1
    shift
    expect_status 0 kspec moments "$@" --estimator naive --json -n 1 --quiet
    expect_json "close(m('naive', 1), $want, 1e-14)"
}
for input in a.npy a.csv header.csv a.h5:/g/a a-idx2-ubyte.gz; do
    first "$col1" $input --select-cols 1
    expect_json '(j["rows"], j["cols"]) == (6, 1)'
    first "$rows24" $input --select-rows 2-4
    expect_json '(j["rows"], j["cols"]) == (3, 4)'
    first "$part" $input --select-rows 5,0 --select-cols 3,0-1
    expect_json '(j["rows"], j["cols"]) == (2, 3)'
done
first "$col1" header.csv --select-cols x
first "$part" header.csv --select-cols z,x,w --select-rows 5,0
expect_error 2 "'q'" kspec moments header.csv --select-cols q
expect_error 2 "'x'" kspec moments a.npy --select-cols x
expect_error 2 '4' kspec moments a.npy --select-cols 4
expect_error 2 '6' kspec moments a.npy --select-rows 0-6
expect_error 2 '--select-rows|rows?' kspec moments a.npy --select-rows 3-1
expect_status 2 kspec moments a.npy --select-rows ''
expect_status 2 kspec moments a.npy --select-cols 1,,2
expect_error 2 '--select-cols needs a value' kspec moments a.npy --select-cols

# axes
py "a = np.load('a.npy'); np.save('t.npy', a.T); np.savetxt('t.csv', a.T, delimiter=',')
np.save('c.npy', np.stack([a, a]).transpose(2, 1, 0))"
for input in t.npy t.csv; do
    expect_status 0 kspec moments $input --axes cols,rows --json
    expect "$input with its axes named" cmp -s <(result "$out") want
done
expect_status 0 kspec moments c.npy --axes cols,rows,trials --json
expect_json '(j["trials"], j["rows"], j["cols"]) == (2, 6, 4)'
expect_error 3 'c.npy is 4 x 6 x 2, which would mean 4 trials of 6 x 2' kspec moments c.npy
expect_status 0 kspec moments c.npy --axes trials,rows,cols
expect_stdout '^c\.npy: 4 trials × 6 rows × 2 columns$'
py "np.save('many.npy', np.ones((9, 3, 2)))"
expect_error 3 'would mean 9 trials of 3 x 2' kspec moments many.npy
expect_status 0 kspec moments many.npy --axes trials,rows,cols --quiet
expect_error 2 'axes' kspec moments a.npy --axes rows
expect_error 2 'axes' kspec moments a.npy --axes rows,rows
expect_error 2 'axes' kspec moments a.npy --axes rows,x
expect_error 2 'axes' kspec moments a.npy --axes trials,rows,cols

# missing values
py "a = np.load('a.npy'); b = a.copy(); b[1, 2] = np.nan; b[4, 2] = np.nan; np.save('nan.npy', b)
np.savetxt('nan.csv', b, delimiter=',')
np.save('rows.npy', a[[0, 2, 3, 5]]); np.save('cols.npy', a[:, [0, 1, 3]])"
sed 's/nan//' nan.csv >gaps.csv
for input in nan.npy nan.csv gaps.csv; do
    expect_error 3 'missing value.*row 1, column 2' kspec moments $input
    expect_error 3 'missing value.*row 1, column 2' kspec moments $input --nan error
    for side in rows cols; do
        kspec moments $side.npy --json >part.json
        result part.json >part
        expect_status 0 kspec moments $input --nan omit-$side --json
        expect "$input --nan omit-$side" cmp -s <(result "$out") part
    done
done
for input in nan.npy nan.csv; do # where the file has it, whatever is selected
    expect_error 3 'row 4, column 2 \(from 0\)' kspec moments $input --select-rows 3-5 --select-cols 2-3
done
expect_status 0 kspec moments nan.csv --nan omit-rows
expect_stdout '4 rows × 4 columns \(2 rows with missing values left out\)'
expect_status 0 kspec moments nan.csv --select-cols 0-1 # the missing ones are not looked at
expect_status 3 kspec moments nan.npy --nan ragged-trials
py "np.save('all.npy', np.full((3, 3), np.nan))"
expect_error 3 '' kspec moments all.npy --nan omit-rows
expect_error 3 '' kspec moments all.npy --nan omit-cols
done_testing
