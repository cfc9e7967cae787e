# Ctrl-C, SIGTERM and the like: the tool ends at once, with 128 + the signal's number, and leaves no file.
. "$(dirname "$0")/lib.sh"

# Within a second; a sanitizer makes it up to ten times as slow
KSPEC_TEST_SOON=1
if sanitized; then KSPEC_TEST_SOON=8; fi
export KSPEC_TEST_SOON

# Starts a command, waits until it has begun (a temporary file is there, or a while has passed), sends the
# signal, and prints the exit status. A process that a test runner has started in the background ignores
# SIGINT, so that the default is put back first.
cat >"$work/interrupt.py" <<'END'
import os, signal, subprocess, sys, time
number, wait, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
def default():
    for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(s, signal.SIG_DFL)
before = set(os.listdir("."))
p = subprocess.Popen(command, preexec_fn=default, stdout=subprocess.DEVNULL)
begun = time.time()
while time.time() - begun < 20 and p.poll() is None:
    if set(os.listdir(".")) - before if wait == "file" else time.time() - begun > float(wait):
        break
    time.sleep(0.01)
if p.poll() is not None:
    sys.exit("it ended before the signal, with %d" % p.returncode)
sent = time.time()
p.send_signal(number)
try:
    status = p.wait(10)
except subprocess.TimeoutExpired:
    p.kill()
    sys.exit("it is still there 10 s after the signal")
if time.time() - sent > float(os.environ["KSPEC_TEST_SOON"]):
    sys.exit("it took %.1f s to end" % (time.time() - sent))
print(status)
END
interrupted() { # status wanted, signal, when, command...
    local want=$1
    shift
    expect_status 0 "$python" "$work/interrupt.py" "$@"
    expect "status $(cat "$out"), not $want" [ "$(cat "$out")" = "$want" ]
}

# half a minute of work each, were it not for the signal
csv=(generate rff --rows 100000 --cols 1000 --dim 2)
interrupted 130 2 file "$KSPEC" "${csv[@]}" -o big.csv
expect_files
interrupted 143 15 file "$KSPEC" "${csv[@]}" -o big.json
expect_files
interrupted 129 1 file "$KSPEC" "${csv[@]}" -o big.csv --threads 1
expect_files
# the limit on processor time, the warnings of batch systems, a timer that was inherited
for signal in XCPU USR1 USR2 ALRM QUIT VTALRM PROF; do
    number=$(kill -l $signal)
    interrupted $((128 + number)) $number file "$KSPEC" "${csv[@]}" -o big.npy
    expect_files
done
# kill -9 leaves a file; the next run in that directory removes it, and no other
interrupted -9 9 file "$KSPEC" "${csv[@]}" -o big.npy
expect "it is there" [ "$(ls | wc -l)" -eq 1 ]
touch other.tmp big.npy.12-3.tmp
expect_status 0 kspec theory rbf --eta 1 -o small
expect_files small other.tmp big.npy.12-3.tmp
fresh
echo older >big.csv
interrupted 130 2 file "$KSPEC" "${csv[@]}" -o big.csv
expect_files big.csv
expect "the older file is as it was" [ "$(cat big.csv)" = older ]
fresh

# while it computes: a Cholesky factor of 9000 x 9000, and moments of a matrix of that size (a sparse file of
# zeros)
interrupted 130 2 0.5 "$KSPEC" generate gaussian --rows 9000 --cols 9 --dim 5 -o x.npy
expect_files
"$python" - <<'END'
import numpy as np
with open("zeros.npy", "wb") as f:
    np.lib.format.write_array_header_1_0(f, {"descr": "<f8", "fortran_order": False, "shape": (9000, 9000)})
    f.truncate(f.tell() + 8 * 9000 * 9000)
END
interrupted 130 2 0.5 "$KSPEC" moments zeros.npy -o result
interrupted 143 15 0.5 "$KSPEC" moments zeros.npy --json -o result
expect_files zeros.npy

# while it waits for standard input
mkfifo pipe
exec 9<>pipe
interrupted 130 2 0.3 bash -c 'exec "$0" moments - <pipe' "$KSPEC"
exec 9>&-

# nohup: a terminal that goes away does not end it
expect_status 0 bash -c 'trap "" HUP; "$0" generate rff --rows 2000 --cols 500 --dim 2 -o y.csv & sleep 0.2
    kill -HUP $! 2>/dev/null; wait $!' "$KSPEC"
expect "the file is whole" [ "$(wc -l <y.csv)" -eq 2000 ]

# in the background of a script, where the shell has it ignore SIGINT, it can be interrupted all the same
rm y.csv
expect_status 130 bash -c '"$0" generate rff --rows 20000 --cols 5000 --dim 2 -o y.csv & sleep 0.3
    kill -INT $! 2>/dev/null; wait $!' "$KSPEC"
expect "no file" [ ! -e y.csv ]

# a mapped input that is overwritten in place while it is in use is an error, not a mix of old and new; one
# that is replaced is still there as it was
expect_status 0 kspec generate rff --rows 50 --cols 40 --dim 2 -o x.npy
expect_status 0 kspec generate rff --rows 50 --cols 40 --dim 2 --seed 1 -o other.npy
mkfifo second
meanwhile() { # what happens between the reading of x.npy and that of the second matrix
    "$KSPEC" compare x.npy second --quiet &
    exec 8>second # opens once the tool reads there
    eval "$1"
    cat other.npy >&8
    exec 8>&-
    wait $!
}
expect_status 0 meanwhile 'cp other.npy new.npy; mv new.npy x.npy'
expect_status 3 meanwhile 'cat other.npy >x.npy'
expect_stderr 'x.npy changed while it was in use: run again once it is complete'
rm second

# a mapped input that shrinks while it is in use is unreadable input, not a crash
expect_status 3 bash -c '"$0" moments zeros.npy --threads 1 -n 20 --estimator naive &
    sleep 0.7; : >zeros.npy; wait $!' "$KSPEC"
expect_stderr 'an input file shrank'
done_testing
