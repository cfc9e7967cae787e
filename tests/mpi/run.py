"""make mpi-full: the tool's tests with every command that shares work run under mpirun, too.

run.py KSPEC SOURCE [--each] [TEST ...]: the tests of tests/cli by name, `odd` (sizes) or `kills`; without
any, those two and the tests with reference values. With --each, a command is tried with one MPI and one
number of ranks, which follow from the command; otherwise with all of them.
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

RANKS = [1, 2, 3, 4, 7]
TESTS = ["odd", "kills", "golden", "centred", "ridge_golden", "dimension", "compare", "wls"]
# ranks on fewer processors, as any user, in a container
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_MCA_hwloc_base_binding_policy": "none"}


def one(source, folder, stand_in, how, test):
    """A test with the tool's stand-in: what was compared, of how many commands, and how the test failed"""
    log, session = os.path.join(folder, test), os.path.join(folder, "mpi-" + test)
    os.mkdir(log)
    os.mkdir(session)
    path = os.path.join(source, "tests", "mpi" if test in ("odd", "kills") else "cli", test + ".sh")
    run = subprocess.run(["bash", path], capture_output=True, text=True, env={
        **os.environ, **OPEN_MPI, "KSPEC_SOURCE": source,
        # one launcher's end removes the folder that another one is about to make
        "OMPI_MCA_orte_tmpdir_base": session,
        "KSPEC": how["kspec"] if test == "kills" else stand_in,
        "KSPEC_SAME": json.dumps({**how, "log": log})})
    names = os.listdir(log)
    lines = [line for name in names for line in open(os.path.join(log, name))]
    failed = run.returncode not in (0, 77)
    said = run.stdout.splitlines()
    return test, lines, len(names), "\n".join(said[-10:] or ["it says nothing"]) if failed else ""


def main(kspec, source, *arguments):
    each = "--each" in arguments
    tests = [a for a in arguments if a != "--each"] or TESTS
    launchers = []
    for mpi in "openmpi", "mpich":
        launcher = shutil.which("mpirun." + mpi)
        if launcher and os.path.exists(os.path.join(os.path.dirname(kspec), f"libkspec_{mpi}.so")):
            launchers.append(launcher)
        else:
            print(f"skip: no mpirun.{mpi}, or no plugin for it; "
                  "run 'sh scripts/setup.sh mpi' and build again")
    if not launchers:
        return 77
    total = commands = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        stand_in = os.path.join(folder, "kspec")
        with open(stand_in, "w") as f:
            f.write(f'#!/bin/sh\nexec /usr/bin/python3 "{source}/tests/mpi/same.py" "$@"\n')
        os.chmod(stand_in, 0o755)
        rest = os.path.join(folder, "rest.so")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", f"{source}/tests/mpi/rest.c",
                        "-o", rest, "-ldl"], check=True)
        how = {"kspec": kspec, "launchers": launchers, "ranks": RANKS, "each": each, "rest": rest}
        # two at a time: a launcher mostly waits
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda t: one(source, folder, stand_in, how, t), tests)
            for test, lines, tried, failed in results:
                differ = sum(line.startswith("differ") for line in lines)
                done = differ + sum(line.startswith("same") for line in lines)
                print(f"{test}: {tried} commands, {done} comparisons, {differ} differ")
                for line in lines:
                    if not line.startswith("same"):
                        print("  " + line.rstrip())
                if failed:
                    print(f"  {test}.sh failed: {failed}")
                sys.stdout.flush()
                failures += differ + bool(failed)
                total += done
                commands += tried
    print(f"{commands} commands, {total} comparisons with "
          f"{' and '.join(map(os.path.basename, launchers))} at "
          f"{', '.join(map(str, RANKS))} ranks, {failures} failed")
    return failures > 0 or total == 0


if __name__ == "__main__":
    sys.exit(main(*map(os.fspath, sys.argv[1:])))
