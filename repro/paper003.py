"""What the figures of the paper on weighted least squares share with docs/measurements/wls.md: the singular
values of the weighted modes, and those of kernel matrices of MNIST.
"""
import array
import functools
import math
import os
import struct
import zlib

IMAGES = "mnist/t10k-images-idx3-ubyte.gz"
PAPER = "A Generalized Weighted Optimization Method for Computational Learning and Inversion"


def npy(figure, name, rows, values):
    """A matrix as a file. The file's name says what is in it, and it is written once: results made from it
    stay cached"""
    shape = (rows, len(values) // rows)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
               + array.array("d", values).tobytes())
    path = (figure.cache / f"003-1a-{name}-{zlib.crc32(content):08x}.npy").resolve()
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(path)
    return path


@functools.cache
def real_modes(figure, N, modes):
    """Psi_jk = e^(2 pi i jk/N) over the last modes, as a real matrix.

    kspec takes real features. Turning row j by e^(-2 pi i j m/N), m the middle of the modes, and turning each
    pair of columns e^(if), e^(-if) into sqrt(2) cos f, sqrt(2) sin f is unitary: the real matrix has the same
    singular values, with any weights on the rows."""
    wave = [math.sqrt(2) * f(math.pi * m / N) for m in range(2 * N) for f in (math.cos, math.sin)]
    # frequencies 1/2, 3/2, ...
    pairs = (wave[2 * (j * odd % (2 * N)):][:2] for j in range(N) for odd in range(1, modes, 2))
    return npy(figure, "psi", N, [x for pair in pairs for x in pair])


def singular_values(figure, N, modes, alpha):
    """Of L^alpha Psi over the last modes, L = diag(1 ... N)"""
    weights = npy(figure, f"weights-{alpha}", N, [(1 + j) ** alpha for j in range(N)])
    noise = npy(figure, "ones", N, [1] * N)  # --features needs it; it plays no part here
    r = figure.kspec("wls", "--features", real_modes(figure, N, modes), "--data-weights", weights,
                     "--noise-covariance", noise, "--threads", 1)
    return r["points"][0]["singular_values"]


def decay(figure, images, rows, *kernel):
    """The result of kspec wls --decay: the singular values of the kernel matrix of the first images, each of
    length 1"""
    return figure.kspec("wls", "--decay", images, "--select-rows", f"0-{rows - 1}", "--unit",
                        "--kernel", *kernel, "--threads", 1)
