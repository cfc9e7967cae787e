"""The dimension of rows that lie on many ranks: mpirun -n 4 python3 examples/mpi_reduce.py"""

import numpy as np
from mpi4py import MPI

import kspec

world = MPI.COMM_WORLD
rng = np.random.default_rng(world.rank)
mine = kspec.Accumulator(30, sampled="rows", threads=1)
for _ in range(5):
    mine.update(rng.normal(size=(1000, 30)) / np.arange(1, 31))
whole = world.reduce(mine, op=lambda a, b: a.merge(b))  # pickled on the way
if world.rank == 0:
    print(whole.result())
