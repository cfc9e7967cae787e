#!/usr/bin/env python3
"""The fault sweeps: make faults (every case, minutes to hours) and make faults-quick (a sample, two minutes).

usage: run.py KSPEC LIBRARY [--stride N] [--only NAME] [--jobs N (all processors)]

Allocations and system calls that fail (faults.c), limits on resources, kill -9 with a resume, two writers
and a full disk. Each sweep prints how many cases it ran. The exit status is 1 where a case was wrong: another
output with status 0, a crash, a hang, a file that is not complete, or more than one message.
"""
import argparse, concurrent.futures, glob, os, random, re, resource, shutil, signal, subprocess, sys
import tempfile, time

args = argparse.ArgumentParser()
args.add_argument("kspec")
args.add_argument("library")
args.add_argument("--stride", type=int, default=1)
args.add_argument("--only", default="")
args.add_argument("--jobs", type=int, default=os.cpu_count())
args = args.parse_args()
KSPEC, LIBRARY = os.path.realpath(args.kspec), os.path.realpath(args.library)
LIMIT = 60  # seconds until a command counts as hung
cases = wrong = 0
started = time.monotonic()

# no restart, and so one process per run; the core is the one that a restart would choose
advice = subprocess.run([KSPEC, "config"], capture_output=True, text=True).stdout
core = re.search(r"^BLAS +OpenBLAS \S+ (\S+)", advice, re.M)
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("KSPEC_", "FAULT_"))}
ENV.update(OPENBLAS_NUM_THREADS="1", KSPEC_THREADS="1", OPENBLAS_CORETYPE=core.group(1) if core else "",
           KSPEC_LIBEXEC=os.path.dirname(KSPEC))


def run(words, timeout=LIMIT, **more):
    """(status, standard output, standard error); the status is None where it hangs."""
    try:
        p = subprocess.run([KSPEC] + words.split(), capture_output=True, timeout=timeout, env=ENV,
                           stdin=subprocess.DEVNULL, **more)
        return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None, b"", ""


def complain(text):
    global wrong
    wrong += 1
    print("FAIL " + text[:600])


def report(name, count, began, note=""):
    global cases
    cases += count
    print("%-34s %7d cases %6.0f s%s" % (name, count, time.monotonic() - began, note), flush=True)


# ---- inputs -------------------------------------------------------------------------------------------
# in memory where that is possible: every file is flushed to its disk
ROOM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
INPUTS = tempfile.mkdtemp(prefix="faults-", dir=ROOM)
MADE = [
    "generate rff --rows 9 --cols 8 --dim 2 --seed 1 -o x.npy",
    "generate rff --rows 9 --cols 7 --dim 2 --seed 2 -o v.csv",
    "generate rff --rows 9 --cols 8 --dim 2 --noise 1 --trials 3 --seed 3 -o t.npy",
    "generate linear --rows 9 --cols 1 --dim 1 --seed 4 -o y.npy",
    "generate linear --rows 60 --cols 50 --dim 10 --seed 5 -o wide.npy",
    "moments x.npy -n 2 --json -o m.json",
    "theory rbf --eta 4 -n 4 --json -o truth.json",
    "wls theory --grid 6 --learn 3,8 --json -o w.json",
]
os.chdir(INPUTS)
for line in MADE:
    status, _, err = run(line)
    if status:
        sys.exit("cannot make the inputs: kspec %s: %s" % (line, err))
with open("labels.csv", "w") as f:
    f.write("\n".join(str(i % 3) for i in range(9)) + "\n")
with open("bad.csv", "w") as f:
    f.write("1,2\n3\n")
shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/hdf5/single.h5"), "h.h5")

# ---- allocations and system calls -----------------------------------------------------------------------
COMMANDS = [
    "moments x.npy -n 3",
    "moments x.npy -n 3 --json -o out.json",
    "moments t.npy -n 2 --json",
    "moments v.csv -n 2 --estimator naive,path --plot out.gp",
    "dimension x.npy --json",
    "dimension t.npy --curve",
    "compare x.npy v.csv --no-center --json",
    "compare t.npy t.npy --splits 2 -n 2 --no-center",
    "estimate X[i,a]X[j,a]X[j,b]X[i,b] X=x.npy --json",
    "spectrum x.npy --rank 4 -n 3 --draws 3 --json",
    "spectrum --moments 2,1,0.5 --rank 4 --upper 1",
    "spectrum --moments truth.json --rank 4 --json -o out.json",
    "norm x.npy --method eigen,power,lanczos,rff-power,nystrom,rff-nystrom --sigma 1 --features 20 "
    "--sample 5 --json",
    "norm x.npy --method lanczos --sigma median",
    "ridge x.npy --target y.npy --features 4 --lambda 1 --empirical 2",
    "ridge x.npy --target y.npy --test x.npy --test-target y.npy --features 3,4 --lambda 1,0.1 --json",
    "wls theory --grid 6 --learn 3,8 --json",
    "wls theory --grid 6 --learn 3,8 --plot out.gp",
    "wls fit y.npy --basis fourier --learn 4 --theta theta.npy --json",
    "wls features x.npy --target y.npy --learn 1-3",
    "wls select --grid 6 --modes 12 --gamma 1 --noise 0.5 --json",
    "wls theory --grid 6 --learn 3,8 --empirical 5",
    "learn --images x.npy --labels labels.csv --test-images x.npy --width 4 --epochs 2 --json",
    "learn --images x.npy --labels labels.csv --test-images x.npy --width 4 --epochs 2 --checkpoint ck",
    "theory rbf --eta 4,1 -n 3 --eigenvalues 5 --json",
    "theory sphere --kernel ntk --dim 3 --degree 5 -n 2",
    "theory linear --eigenvalue 2,1 -n 3",
    "generate rff --rows 9 --cols 8 --dim 2 -o out.npy",
    "generate gaussian --rows 9 --cols 8 --dim 2 -o out.csv",
    "generate linear --rows 5 --cols 4 --dim 2 -o out.json",
    "plot m.json -o out.gp",
    "plot w.json --json",
    # not config, which says what the HDF5 reader may do where it runs: under a filter of calls, other things
    "completion bash -o out.bash",
    "completion zsh",
    "moments -h",
    "--version",
    "help spectrum",
]
# with a program of their own beside them: a filter of system calls would follow it there
WITH_CHILDREN = ["moments h.h5 -n 2 --json", "plot m.json -o out.svg",
                 "moments x.npy -n 2 --json --plot out.html"]
# that keep what they compute: the faults strike while parts are written, and a run without faults goes on
# from what is left; then while the parts of a whole checkpoint are read
KEPT = [line + " --checkpoint ck" for line in [
    "moments x.npy -n 3 --estimator naive,path,exact",
    "moments t.npy -n 2 --json",
    "dimension x.npy",
    "compare x.npy v.csv --no-center",
    "norm x.npy --method eigen,power,lanczos,rff-power,nystrom --sigma 1 --features 20 --sample 5 --json",
    "ridge x.npy --target y.npy --features 4 --lambda 1 --empirical 2",
    "spectrum x.npy --rank 4 -n 3 --draws 3",
    "wls theory --grid 6 --learn 3,8 --empirical 5",
    "learn --images x.npy --labels labels.csv --test-images x.npy --width 4 --epochs 2 --json"]]
ALLOCATIONS = "alloc-once,alloc-ever"
CALLS = "kill,short,EIO,ENOSPC,EINTR,EACCES,EMFILE,ENOMEM"


def sweep_line(line, plan, stride, first, folder):
    """The report of the server for one command line: every stride-th case from the first"""
    with tempfile.TemporaryDirectory(prefix="faults-", dir=ROOM) as d:
        for f in os.listdir(INPUTS):
            shutil.copy(os.path.join(INPUTS, f), d)
        env = dict(ENV, LD_PRELOAD=LIBRARY, FAULT_PLAN=plan, FAULT_STRIDE=str(stride),
                   FAULT_FIRST=str(first), FAULT_FOLDER=folder,
                   FAULT_TICK="0" if folder == "drop" else "2")
        return subprocess.run([KSPEC] + line.split(), capture_output=True, text=True, env=env, cwd=d,
                              errors="replace")


def sweep(name, lines, plan, stride, folder="drop"):
    began, count, notes = time.monotonic(), 0, [0, 0]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        slices = args.jobs if stride == 1 else 1  # some lines have more cases than all others together
        parts = [(line, plan, stride * slices, (number % stride) + k, folder)
                 for number, line in enumerate(lines) for k in range(slices)]
        for (line, *_), p in zip(parts, pool.map(lambda part: sweep_line(*part), parts)):
            m = re.search(r"^cases (\d+) wrong (\d+) crashes (\d+) hangs (\d+) .* excused (\d+)$", p.stdout,
                          re.M)
            for fail in re.findall(r"^FAIL .*", p.stdout, re.M):
                complain("kspec %s: %s" % (line, fail[5:]))
            if m:
                count += int(m.group(1))
                notes[0] += sum(int(m.group(k)) for k in (2, 3, 4))
                notes[1] += int(m.group(5))
            if not m and "FAIL" not in p.stdout:
                complain("kspec %s: the server ended with %d: %s" % (line, p.returncode, p.stdout + p.stderr))
    untried = ", %d allocations inside OpenBLAS not tried" % notes[1] if notes[1] else ""
    report(name, count, began, ", %d wrong%s" % (notes[0], untried))


# ---- limits ---------------------------------------------------------------------------------------------
def one_line(err):
    lines = [l for l in err.splitlines() if not l.startswith("kspec: warning: ")]
    return len(lines) == 1 and lines[0].startswith("kspec: ")


def limits():
    began, count, kb = time.monotonic(), 0, 1024
    lines = ["moments wide.npy -n 3 --threads 16 --json", "moments h.h5 -n 1 --json", "config", "--version",
             "norm wide.npy --method lanczos --sigma 1 --threads 16",
             "spectrum wide.npy --rank 10 --draws 3 --threads 4",
             "generate rff --rows 300 --cols 200 --dim 2 -o out.npy"]
    space = (70, 90, 120, 160, 200, 250, 300, 400, 600, 900, 1500, 2500)
    matrix = [("AS", [v * 1000 * kb for v in space]),
              ("DATA", [v * 1000 * kb for v in (2, 20, 80, 160, 300, 600, 1500)]),
              ("NOFILE", [3, 4, 5, 6, 8, 12]), ("FSIZE", [0, 1, 1000, 100000]), ("NPROC", [1, 4]),
              ("STACK", [v * kb for v in (256, 1024, 8192)]), ("CPU", [30])]
    for line in lines:
        want = run(line)
        for f in glob.glob("out*"):
            os.unlink(f)
        for name, values in matrix:
            for value in values[args.stride % 3::3] if args.stride > 1 else values:
                which = getattr(resource, "RLIMIT_" + name)
                count += 1
                status, out, err = run(line, preexec_fn=lambda: resource.setrlimit(which, (value, value)))
                what = "kspec %s under %s=%d: " % (line, name, value)
                strip = lambda b: re.sub(rb'"seconds": [-0-9.e]+', b"", b)
                loader = "error while loading shared libraries" in err or "OpenBLAS blas_thread_init" in err
                if status is None:
                    complain(what + "it hangs")
                elif (status == 0 and strip(out) != strip(want[1])
                      and not line.startswith(("config", "norm"))):
                    complain(what + "another output with status 0")
                elif status < 0 and not (loader or status == -signal.SIGXCPU):
                    complain(what + "signal %d: %s" % (-status, err))
                elif status > 0 and not loader and not one_line(err):
                    complain(what + "status %d without one line: %s" % (status, err))
                left = [f for f in os.listdir(".") if f.startswith(("out", ".")) or ".tmp" in f]
                if status != 0 and left:
                    complain(what + "it leaves %s" % left)
                for f in left:
                    os.unlink(f)
    report("limits on resources", count, began)


# ---- kill -9, then resume ---------------------------------------------------------------------------------
def kills():
    began, count, rng = time.monotonic(), 0, random.Random(1)
    line = ("learn --images x.npy --labels labels.csv --test-images x.npy --width 4,6 --seeds 2 --epochs 400"
            " --json")
    epochs = lambda out: re.sub(rb'"(\w*seconds|gfma_per_s|resumed|command_line)": [^\n]*', b"", out)
    t = time.monotonic()
    status, want, err = run(line)
    seconds = time.monotonic() - t
    if status:
        return complain("kspec %s: %s" % (line, err))
    for trial in range(max(2, 60 // args.stride)):
        shutil.rmtree("ck", ignore_errors=True)
        for attempt in range(50):
            p = subprocess.Popen([KSPEC] + (line + " --checkpoint ck").split(), env=ENV,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            count += 1
            try:
                out, err = p.communicate(timeout=rng.uniform(0.2, 1) * seconds if attempt < 6 else LIMIT)
            except subprocess.TimeoutExpired:
                p.kill()
                p.communicate()
                continue
            if p.returncode != 0:
                complain("resume: status %d: %s" % (p.returncode, err.decode()))
            elif epochs(out) != epochs(want):
                complain("resume: another result than without a kill")
            elif [f for f in os.listdir("ck") if not f.endswith(".ckpt")]:
                complain("resume: it leaves %s" % os.listdir("ck"))
            break
        else:
            complain("resume: not finished after 50 attempts")
    shutil.rmtree("ck", ignore_errors=True)
    report("kill -9 and resume", count, began)


# ---- two writers, a full disk -----------------------------------------------------------------------------
def writers():
    began, count = time.monotonic(), 0
    lines = ["generate rff --rows 200 --cols 100 --dim 2 --seed %d -o both.%s" % (s, f)
             for f in ("npy", "csv") for s in (1, 2)]
    for k in (0, 2):
        wants = []
        for line in lines[k:k + 2]:
            run(line)
            name = line.split()[-1]
            wants.append(open(name, "rb").read())
        for trial in range(max(4, 200 // args.stride)):
            count += 1
            both = [subprocess.Popen([KSPEC] + l.split(), env=ENV, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE) for l in lines[k:k + 2]]
            errors = [p.communicate(timeout=LIMIT)[1] for p in both]
            if any(p.returncode for p in both):
                complain("two writers: %s" % errors)
            if open(name, "rb").read() not in wants:
                complain("two writers: %s is neither's" % name)
            left = [f for f in os.listdir(".") if "both" in f and f != name]
            if left:
                complain("two writers leave %s" % left)
        os.unlink(name)
    report("two writers of one file", count, began)


def full_checkpoint():
    """Disks on which a checkpoint's parts have no room; then there is room, and it goes on."""
    script = r'''mount -t tmpfs -o size=$2 tmpfs "$1" || exit
        ck=$1/ck && room=$1 && shift 2
        "$@" --checkpoint "$ck"
        s=$?
        ls -A "$ck" >&2
        mount -o remount,size=40m "$room" && "$@" --checkpoint "$ck" && exit $s
        echo "no second run" >&2'''
    line = "moments tall.npy -n 8 --estimator path --permutations 2"
    # each permutation takes longer than the tenth of a second that is not worth a part
    run("generate rff --rows 1500 --cols 600 --dim 2 --seed 6 -o tall.npy")
    want = run(line)[1]
    for size in ("4k", "8k"):
        d = tempfile.mkdtemp(prefix="faults-")
        p = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", d, size, KSPEC] + line.split(),
                           env=ENV, capture_output=True, text=True)
        os.rmdir(d)
        said = [l for l in p.stderr.splitlines() if l.startswith("kspec: ")]
        there = [l for l in p.stderr.splitlines() if not l.startswith("kspec: ")]
        if p.returncode != 3 or len(said) != 1 or p.stdout.encode() != want or there != ["identity"]:
            complain("kspec %s --checkpoint on a disk of %s: status %d, %s" %
                     (line, size, p.returncode, p.stderr))
    return 2


def full_disk():
    began, count = time.monotonic(), 0
    script = r'''mount -t tmpfs -o size=40k tmpfs "$1" && cd "$1" && shift && "$@"; s=$?; ls -A; exit $s'''
    mount = lambda: tempfile.mkdtemp(prefix="faults-")
    probe = subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=40k tmpfs /tmp"],
                           capture_output=True)
    for line in ["theory rbf --eta 4", "moments x.npy -n 2 --json", "completion bash"]:
        count += 1
        with open("/dev/full", "w") as full:
            p = subprocess.run([KSPEC] + line.split(), env=ENV, stdout=full, stderr=subprocess.PIPE,
                               text=True)
        if p.returncode != 1 or not one_line(p.stderr):
            complain("kspec %s >/dev/full: status %d: %s" % (line, p.returncode, p.stderr))
    if probe.returncode == 0:
        large = "generate rff --rows 100 --cols 100 --dim 2 -o out."
        for line in [large + "npy", large + "csv", large + "json",
                     "theory rbf --eta 1 --eigenvalues 50000 -o out.csv", "completion bash -o out"]:
            count += 1
            d = mount()
            p = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", d, KSPEC] + line.split(), env=ENV,
                               capture_output=True, text=True)
            os.rmdir(d)
            refused = p.returncode == 1 and one_line(p.stderr)
            ok = p.returncode == 0 if line.startswith("completion") else refused
            if not ok or (p.returncode and p.stdout.strip()):
                complain("kspec %s on a full disk: status %d, leaves '%s': %s" %
                         (line, p.returncode, p.stdout, p.stderr))
        count += full_checkpoint()
    note = "" if probe.returncode == 0 else "; no small disk without user namespaces"
    report("full disk", count, began, note)


try:
    for name, go in [
            ("allocations", lambda: sweep("allocations that fail", COMMANDS, ALLOCATIONS, args.stride)),
            ("children", lambda: sweep("the same, with programs beside", WITH_CHILDREN, ALLOCATIONS,
                                       4 * args.stride)),
            ("calls", lambda: sweep("system calls that fail", COMMANDS, CALLS, max(1, args.stride // 8))),
            ("kept", lambda: sweep("both while a checkpoint is written", KEPT, ALLOCATIONS + "," + CALLS,
                                   args.stride, "resume")),
            ("found", lambda: sweep("both while a checkpoint is read", KEPT, ALLOCATIONS + "," + CALLS,
                                    args.stride, "keep")),
            ("limits", limits), ("kills", kills), ("writers", writers), ("full", full_disk)]:
        if args.only in ("", name):
            go()
finally:
    shutil.rmtree(INPUTS, ignore_errors=True)
print("faults: %d cases, %d wrong, %.0f s" % (cases, wrong, time.monotonic() - started))
sys.exit(1 if wrong or not cases else 0)
