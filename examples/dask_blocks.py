"""The dimension of a dask array: an accumulator for each block of rows, merged as they are done."""

import dask
import dask.array as da
import numpy as np

import kspec

rows = np.random.default_rng(1).normal(size=(20000, 30)) / np.arange(1, 31)
x = da.from_array(rows, chunks=(2500, 30))


@dask.delayed
def take(block):
    return kspec.Accumulator(30, sampled="rows", threads=1).update(block)


@dask.delayed
def merge(accumulators):
    first, *others = accumulators
    for other in others:
        first.merge(other)
    return first


blocks = [take(block) for block in x.to_delayed().ravel()]
print(merge(blocks).compute(scheduler="threads").result())
