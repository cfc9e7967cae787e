# What files hold besides plain arrays: gzipped text, MATLAB's structs, cells and sparse matrices, SciPy's and
# AnnData's sparse matrices; and what the tool leaves to Python.
. "$(dirname "$0")/lib.sh"

"$python" - <<'END' || exit 1
import gzip, h5py, numpy as np, pickle, scipy.io, scipy.sparse as sp, zipfile
rng = np.random.default_rng(4)
a = np.round(rng.normal(size=(7, 5)), 3) * (rng.random((7, 5)) < 0.6)
a[6] = 0                                                   # an empty line
stack = np.round(rng.normal(size=(3, 7, 5)), 3)
vectors = np.round(rng.normal(size=(7, 5)), 3)
np.save("a.npy", a); np.save("stack.npy", stack); np.save("vectors.npy", vectors)
np.savetxt("a.csv", a, delimiter=",", fmt="%g")
text = open("a.csv", "rb").read()
gzip.open("a.csv.gz", "wb").write(b"p,q,r,s,t\n" + text)
open("two.csv.gz", "wb").write(gzip.compress(text[:20]) + gzip.compress(text[20:]))   # two members
gzip.open("a.npy.gz", "wb").write(open("a.npy", "rb").read())
gzip.open("big.csv.gz", "wb").write(b"0,0,0,0,1\n" * 200000)                           # 1000 to 1
gzip.open("labels.txt.gz", "wb").write(b"a\na\nc\nd\ne\nf\ng\n")
open("cut.csv.gz", "wb").write(gzip.compress(text)[:-12])
gzip.open("empty.csv.gz", "wb").write(b"")

cells = np.empty(3, object); uneven = np.empty(2, object); lists = np.empty((7, 1), object)
for k in range(3): cells[k] = stack[k]
for k in range(7): lists[k, 0] = vectors[k]
uneven[0], uneven[1] = a, a[:4]
many = np.zeros((2,), dtype=[("x", object), ("name", object)])
many[0], many[1] = (stack[0], "first"), (a, "second")
content = {"exp": {"spikes": a, "info": {"rate": 2 * a, "note": "text"}, "half": a.astype("f4"),
                   "int": (1000 * a).astype("i4"), "runs": cells},
           "runs": cells, "lists": lists, "uneven": uneven, "many": many, "sparse": sp.csc_matrix(a)}
scipy.io.savemat("v5.mat", content)
scipy.io.savemat("v7.mat", content, do_compression=True)

# the same as MATLAB writes v7.3: HDF5 behind a header, transposed, cells as references into #refs#
with h5py.File("v73.mat", "w", userblock_size=512) as f:
    refs = f.create_group("#refs#")
    def put(group, name, x, cls=b"double"):
        d = group.create_dataset(name, data=np.asarray(x, "f8").T)
        d.attrs["MATLAB_class"] = np.bytes_(cls)
        return d
    def put_cells(group, name, items, cls=b"cell"):
        r = [put(refs, "%s%s%d" % (group.name.strip("/"), name, k), x).ref for k, x in enumerate(items)]
        d = group.create_dataset(name, (len(r), 1), dtype=h5py.ref_dtype)
        d[:, 0] = r
        if cls: d.attrs["MATLAB_class"] = np.bytes_(cls)
    def put_struct(group, name):
        g = group.create_group(name)
        g.attrs["MATLAB_class"] = np.bytes_("struct")
        return g
    exp = put_struct(f, "exp")
    put(exp, "spikes", a)
    put(put_struct(exp, "info"), "rate", 2 * a)
    put_cells(exp, "runs", stack)
    put_cells(f, "runs", stack); put_cells(f, "lists", [v[None] for v in vectors])
    put_cells(f, "uneven", [a, a[:4]])
    put_cells(put_struct(f, "many"), "x", [stack[0], a], None)
    c = sp.csc_matrix(a)
    g = f.create_group("sparse")
    g.attrs["MATLAB_class"], g.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(7)
    g["data"], g["ir"], g["jc"] = c.data, c.indices.astype("u8"), c.indptr.astype("u8")
head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(116) + bytes(8) + b"\0\2IM"
with open("v73.mat", "r+b") as f: f.write(head)

for kind, m in ("csr", sp.csr_matrix(a)), ("csc", sp.csc_matrix(a)):
    sp.save_npz(kind + ".npz", m)
    sp.save_npz(kind + "_stored.npz", m, compressed=False)
sp.save_npz("coo.npz", sp.coo_matrix(a))
twice = sp.csr_matrix((np.array([1.0, 2, 4]), np.array([0, 0, 1]), np.array([0, 2, 3])), (2, 3))
sp.save_npz("twice.npz", twice)
def broken(name, **change):
    m = sp.csr_matrix(a)
    parts = dict(indices=m.indices, indptr=m.indptr, format=np.array(b"csr"), shape=np.array(m.shape),
                 data=m.data)
    parts.update(change)
    np.savez(name, **{k: v for k, v in parts.items() if v is not None})
m = sp.csr_matrix(a)
broken("b1.npz", indices=m.indices + 5); broken("b2.npz", indptr=m.indptr[:-1])
broken("b3.npz", indptr=m.indptr[::-1]); broken("b4.npz", data=m.data[:3]); broken("b5.npz", indices=None)
broken("b6.npz", shape=np.array([7, -5])); broken("b7.npz", indices=m.indices - 9)
broken("b8.npz", shape=np.array([10**9, 10**9]), indptr=np.zeros(10**6))
np.savez("named.npz", format=a, other=a)
with h5py.File("sparse.h5", "w") as f:
    for kind, m in ("csr", sp.csr_matrix(a)), ("csc", sp.csc_matrix(a)):
        g = f.create_group("ann/" + kind)
        g.attrs["encoding-type"], g.attrs["shape"] = kind + "_matrix", m.shape
        g["data"], g["indices"], g["indptr"] = m.data, m.indices, m.indptr
    g = f.create_group("tenx")
    m = sp.csc_matrix(a)
    g["data"], g["indices"], g["indptr"], g["shape"] = m.data, m.indices, m.indptr, np.array(m.shape)
    g = f.create_group("bad")
    g["data"], g["indices"], g["indptr"], g["shape"] = m.data, m.indices + 7, m.indptr, np.array(m.shape)
    g = f.create_group("square")
    g["data"], g["indices"], g["indptr"], g["shape"] = [1.0], [0], [0, 1, 1], [2, 2]

open("x.parquet", "wb").write(b"PAR1" + bytes(40) + b"PAR1")
with zipfile.ZipFile("x.pt", "w") as z: z.writestr("x/data.pkl", b"\x80\2.")
with zipfile.ZipFile("x.xlsx", "w") as z: z.writestr("[Content_Types].xml", "<Types/>")
pickle.dump([a], open("x.pkl", "wb"))
import os
os.mkdir("x.zarr"); open("x.zarr/.zarray", "w").write("{}")
END

same() { # file of the wanted array, input, more options
    local want=$1
    shift
    kspec moments "$want" --estimator naive -n 2 --json --quiet >want.json
    expect_status 0 kspec moments "$@" --estimator naive -n 2 --json --quiet
    expect "$* is $want" same_result "$out" want.json
}

# gzipped text
for input in a.csv.gz two.csv.gz a.npy.gz; do same a.npy $input; done
expect_status 0 bash -c '"$0" moments - <a.csv.gz' "$KSPEC"
expect_stdout '7 rows × 5 columns \(header: first row\)'
expect_status 0 kspec moments a.csv.gz --select-cols r,t --quiet
expect_stdout 'a.csv.gz: 7 rows × 2 columns'
expect_status 0 kspec moments big.csv.gz -n 1 --estimator naive --quiet
expect_stdout '200000 rows × 5 columns'
expect_status 0 kspec dimension a.csv.gz --groups labels.txt.gz --quiet
expect_stdout '6 groups of rows'
expect_error 3 'cut.csv.gz: the compressed data is truncated' kspec moments cut.csv.gz
expect_error 3 'empty.csv.gz unpacks to nothing' kspec moments empty.csv.gz
gzip -c v5.mat >v5.mat.gz
expect_error 3 'v5.mat.gz:exp is a MATLAB file inside gzip; unpack it first' kspec moments v5.mat.gz:exp

# structs, cells and sparse matrices by path
for file in v5.mat v7.mat v73.mat; do
    same a.npy $file:exp.spikes
    same a.npy $file:sparse
    same a.npy "$file:many(2).x"
    same stack.npy $file:runs
    same stack.npy $file:exp.runs
    same vectors.npy $file:lists
    same a.npy "$file:uneven{1}"
    expect_error 3 "$file:exp.spike: exp.spike is not there; (variable|data set)s: .*exp.spikes \(7 x 5\)" \
        kspec moments $file:exp.spike
    expect_error 3 "exp is a MATLAB struct; .*exp.info.rate \(7 x 5\)" kspec moments $file:exp
    expect_error 3 "exp.info is a MATLAB struct; .*: exp.info.rate \(7 x 5\)" kspec moments $file:exp.info
    expect_error 3 'uneven is a MATLAB cell array whose cells differ in shape; name one as in c\{1\}' \
        kspec moments $file:uneven
    for wrong in 'uneven{3}' 'uneven{0}' 'uneven{x}' 'many(3).x' 'many(2)' 'exp.' 'exp..spikes' \
        'exp.spikes.x' 'runs{1}x' 'exp{1}'; do
        expect_status 3 kspec moments "$file:$wrong"
    done
    expect_error 3 '(runs \(3 x 7 x 5\))|,' kspec moments $file
done
py 'a = np.load("a.npy"); np.save("half.npy", a.astype("f4")); np.save("int.npy", (1000 * a).astype("i4"))'
same half.npy v5.mat:exp.half
same int.npy v7.mat:exp.int
expect_error 3 'exp.info.note is a MATLAB char array' kspec moments v7.mat:exp.info.note
expect_error 3 'many is a MATLAB struct array of 2; name one as in s\(1\)' kspec moments v5.mat:many

# sparse matrices of SciPy and in HDF5
for input in csr.npz csc.npz csr_stored.npz csc_stored.npz sparse.h5:/ann/csr sparse.h5:/ann/csc \
    sparse.h5:/tenx; do
    same a.npy $input
done
py 'np.save("twice.npy", [[3.0, 0, 0], [0, 4, 0]])'
same twice.npy twice.npz
expect_status 0 kspec moments named.npz:format --quiet
expect_error 3 "coo.npz is a sparse matrix of format 'coo'; only csr and csc can be read" \
    kspec moments coo.npz
for k in 1 2 3 4 5 6 7 8; do expect_error 3 "b$k.npz is a sparse matrix" kspec moments b$k.npz; done
expect_error 3 'named.npz holds 2 arrays' kspec moments named.npz
expect_error 3 'bad is a sparse matrix with an index outside its shape' kspec moments sparse.h5:/bad
expect_error 3 'does not say whether it is by rows or by columns' kspec moments sparse.h5:/square
expect_error 3 '/ann/csc \(7 x 5\), /ann/csr \(7 x 5\)' kspec moments sparse.h5:/ann

# what stays with Python
expect_error 3 'x.parquet is a Parquet file, which the tool does not read; in Python' kspec moments x.parquet
expect_error 3 'x.pt is a PyTorch file, .*package kspec' kspec moments x.pt
expect_error 3 'x.zarr is a Zarr store, .*numpy.save' kspec moments x.zarr
expect_error 3 'x.xlsx is an Excel file' kspec moments x.xlsx
expect_error 3 'x.pkl is a Python pickle' kspec moments x.pkl
expect_status 0 kspec moments -h
expect_stdout '--axes NAMES .*or cols,rows'
done_testing
