"""The model of docs/explanation/scale.md, for large square matrices. usage: python3 bench/scale.py

A node has 64 cores, and one rank with 64 threads. docs/measurements/scale.md has the rates of 16 cores.
"""

CORES = 64
PATH = 22e9  # multiply-adds a second of a core, order 8
EXACT = 18e9  # of a core, in products and what lies between them
NETWORK = 10e9  # bytes a second into a node: 100 Gbit/s, nearly
NODES = (1, 16, 256)


def duration(seconds):
    for size, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


def size(number):
    return f"{number / 1e12:.1f} TB" if number >= 1e12 else f"{number / 1e9:.0f} GB"


def path(N, nodes, bars):
    work = 7 * N**3 * (7 if bars else 1)
    received = 64 * 8 * 2 * N * 8 if bars else N * 8
    return work / (nodes * CORES * PATH) + received / NETWORK, 8 * N**2


def exact(N, nodes, bars):
    work = (19.7 if bars else 6.6) * N**3
    received = 8 * N**2 * (14 if bars else 7) * (nodes > 1)
    held = 8 * N**2 * ((15 if bars else 6) / nodes + 1)
    return work / (nodes * CORES * EXACT) + received / NETWORK, held


for name, model in (("path, n = 8", path), ("exact, n ≤ 4", exact)):
    for bars in (0, 1):
        for N in (100_000, 1_000_000):
            cells = []
            for nodes in NODES:
                seconds, memory = model(N, nodes, bars)
                cells.append(f"{duration(seconds)}, {size(memory)}")
            what = f"{name}{', error bars' if bars else ''}"
            print(f"| {what} | {N:,} | " + " | ".join(cells) + " |")
