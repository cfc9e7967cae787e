"""How often p says that data without any relation have one: `dimension --target` and `compare`'s alignment.

    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 python3 bench/chance.py [DRAWS] > table.md

Rows are x_i = sqrt(l) z_i W with Gaussian z and W, 60 x 50; targets and second matrices are independent.
"""

import sys
import warnings

import numpy as np

import kspec

LEVELS = (0.05, 0.01, 0.0013)


def matrix(rng, spectrum):
    return (rng.normal(size=(60, len(spectrum))) * np.sqrt(spectrum)) @ rng.normal(size=(len(spectrum), 50))


def chance_of_target(rng, spectrum):
    return kspec.dimension(matrix(rng, spectrum), target=rng.normal(size=(60, 1)), threads=1).targets[0]["p"]


def chance_of_alignment(rng, spectrum):
    return kspec.compare(matrix(rng, spectrum), matrix(rng, spectrum), n=2, threads=1).alignment_p


def main():
    warnings.simplefilter("ignore")
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    spectra = {"1/i²": np.arange(1, 31.0) ** -2, "1/i": 1 / np.arange(1, 31.0), "10 equal": np.ones(10)}
    print("| | eigenvalues | " + " | ".join(f"p < {level:.2%}" for level in LEVELS) + " |")
    print("|---|---|" + "---|" * len(LEVELS))
    for what, chance in (("target", chance_of_target), ("alignment", chance_of_alignment)):
        for name, spectrum in spectra.items():
            rng = np.random.default_rng(20261119)
            p = np.array([chance(rng, spectrum) for _ in range(draws)], float)
            shares = " | ".join(f"{np.mean(p < level):.2%}" for level in LEVELS)
            print(f"| {what} | {name} | {shares} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
