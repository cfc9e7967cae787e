#!/bin/bash
# The same command under mpirun: the same bytes at any number of ranks, one message for a failure, no rank
# left waiting, and checkpoints that go on. With each MPI that is installed and has a plugin in this build.
. "$(dirname "$0")/lib.sh"
unset KSPEC_MPI

# ranks on fewer processors, as any user, in a container
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none

# ---- a launcher without its plugin: an error, not copies ----
mkdir bare
cp "$KSPEC" bare/kspec
bare() { bare/kspec "$@"; }
OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 expect_error 2 \
    '3 processes were started together, but this installation has no libkspec_openmpi' bare theory rbf --eta 4
OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1 bare theory rbf --eta 4 >"$out" 2>"$err"
expect "the other ranks say nothing" [ $? -eq 2 -a ! -s "$out" -a ! -s "$err" ]
SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 expect_error 2 'srun started 4 processes without MPI' \
    kspec theory rbf --eta 4
KSPEC_MPI=none OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1 expect_status 0 bare theory rbf --eta 4
expect_stdout 'm\(n\)'
OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 expect_status 0 bare theory rbf --eta 4
KSPEC_MPI=foo expect_error 2 'KSPEC_MPI=foo must be openmpi, mpich or none' kspec theory rbf --eta 4

# ---- checkpoints of one process ----
expect_status 0 kspec generate rff --rows 400 --cols 300 --dim 5 -o x.npy
expect_status 0 kspec generate rff --rows 400 --cols 300 --dim 5 --seed 1 -o y.npy
expect_status 0 kspec moments x.npy --estimator path -n 6 --device cpu --json -o plain.json
same_numbers() { # the same, but also for times within, and where a page goes
    diff <(grep -vE '"(train_|measure_)?seconds"|"gfma_per_s"|"time"' "$1") \
        <(grep -vE '"(train_|measure_)?seconds"|"gfma_per_s"|"time"' "$2") >/dev/null
}
same() { # two JSON files, but for times
    diff <(grep -v '"seconds"' "$1") <(grep -v '"seconds"' "$2") >/dev/null
}
expect_status 0 kspec moments x.npy --estimator path -n 6 --device cpu --json -o kept.json --checkpoint ck
expect "a checkpoint changes nothing" same plain.json kept.json
mkdir pipe && mkfifo pipe/identity
expect_error 3 "the checkpoint's pipe/identity is not a file" \
    timeout 10 "$KSPEC" moments x.npy --checkpoint pipe
expect_error 3 "the checkpoint ck is of another run: it has 'command kspec moments x.npy.*-n 6'" \
    kspec moments x.npy --estimator path -n 5 --checkpoint ck
cp y.npy x2.npy
mv x.npy x1.npy && cp y.npy x.npy
expect_error 3 "the checkpoint ck is of another run: it has 'inputs" \
    kspec moments x.npy --estimator path -n 6 --checkpoint ck
mv x1.npy x.npy
# large enough for strips of matrices
expect_status 0 kspec generate rff --rows 620 --cols 530 --dim 5 -o z.npy
echo 1 >file
expect_error 3 'the checkpoint file' kspec moments x.npy --checkpoint file
expect_error 3 'the checkpoint no/such cannot be made' kspec moments x.npy --checkpoint no/such

# labels are a part of what it is of
seq 1 400 | awk '{ print $1 % 40 }' >of.txt
expect_status 0 kspec moments x.npy --estimator path -n 3 --groups of.txt --checkpoint gk
seq 1 400 | awk '{ print $1 % 50 }' >of.txt
expect_error 3 "the checkpoint gk is of another run: it has 'inputs" \
    kspec moments x.npy --estimator path -n 3 --groups of.txt --checkpoint gk

# a list of INPUTs knows each of them
printf 'x.npy\ny.npy\n' >list
expect_status 0 kspec dimension @list --json -o plain.json
for _ in 1 2; do
    expect_status 0 kspec dimension @list --json -o kept.json --checkpoint lk
    expect "a list with a checkpoint" same_numbers plain.json kept.json
done
expect_error 2 'wls bound takes no --checkpoint' \
    kspec wls --zeta 1 --grid 30 --learn 5 --beta 1 --checkpoint bk

# ---- under each MPI ----
kspec generate rff --rows 90 --cols 7 --dim 3 -o small.npy
seq 1 90 | awk '{ print $1 % 3 }' >labels.csv
seq 1 90 | awk '{ print $1 % 7 "," ($1 * $1) % 11 }' >two.csv
cat >commands <<'END'
norm x.npy --method lanczos,power,nystrom,rff-power,rff-debiased --sigma median --features 64
norm two.csv --method eigen --sigma 3
ridge small.npy --target two.csv --features 60 --lambda 1 --empirical 3 --test small.npy --test-target two.csv
learn --images two.csv --labels labels.csv --test-images two.csv --width 5,3 --seeds 2 --epochs 1
spectrum small.npy
spectrum x.npy --method moments --draws 5
wls theory --grid 30 --learn 4,40,17 --empirical 3
wls select --grid 20
wls --grid 30 --learn 4,40
wls bound --zeta 1 --grid 30 --learn 5 --beta 1
dimension x.npy --curve
dimension @list
compare x.npy y.npy
report small.npy -o page.html
END
tried=0
for mpi in openmpi mpich; do
    run=$(command -v mpirun.$mpi) || run=
    if [ -z "$run" ] || [ ! -e "$(dirname "$KSPEC")/libkspec_$mpi.so" ]; then
        echo "skip: no mpirun.$mpi, or no plugin for it; run 'sh scripts/setup.sh mpi' and build again"
        continue
    fi
    tried=$((tried + 1))
    # the second one has the same library to serve: what differs is its plugin
    few="2 3" some=100 killed=3
    [ $tried -eq 1 ] || few=2 some=1 killed=2
    ranks() { # how many, command...
        timeout -k 5 120 "$run" -n "$@"
    }
    # the launcher has lines of its own after a failure
    spoken() { grep '^kspec: ' "$err"; }

    for what in "x.npy --estimator path -n 6" "x.npy --estimator all -n 3 --normalize" "x.npy -n 4 --center" \
        "x.npy y.npy --estimator exact,path -n 4" "z.npy --estimator exact -n 3" "z.npy -n 2 --center" \
        "x.npy --estimator exact -n 4 --select-rows 0-0"; do
        # shellcheck disable=SC2086
        kspec moments $what --device cpu --json >alone 2>alone.err
        status=$?
        for n in $few; do
            [ "$n" = 3 ] || [ "${what%% *}" = x.npy ] || continue
            # shellcheck disable=SC2086
            ranks $n "$KSPEC" moments $what --device cpu --json >"$out" 2>"$err"
            expect "$mpi, $n ranks, moments $what: status" [ $? -eq $status ]
            expect "$mpi, $n ranks, moments $what: output" same alone "$out"
            expect "$mpi, $n ranks, moments $what: messages" diff <(cat alone.err) <(spoken)
        done
    done

    # the other commands that share their work out, with inputs of every kind
    while read -r what; do
        # shellcheck disable=SC2086
        kspec $what --json >alone 2>alone.err
        expect "$what" [ $? -eq 0 ]
        # shellcheck disable=SC2086
        ranks 3 "$KSPEC" $what --json >"$out" 2>"$err" </dev/null
        expect "$mpi, $what: status" [ $? -eq 0 ]
        expect "$mpi, $what: output" same_numbers alone "$out"
        expect "$mpi, $what: messages" diff <(cat alone.err) <(spoken)
    done < <(head -n $some commands)

    # rank 0 alone prints and writes
    ranks 3 "$KSPEC" moments x.npy -n 2 --estimator path --device cpu -o table.txt >"$out" 2>"$err"
    expect "$mpi: a table in a file" [ $? -eq 0 -a ! -s "$out" -a -s table.txt ]
    kspec moments x.npy -n 2 --estimator path --device cpu >alone 2>alone.err
    ranks 3 "$KSPEC" moments x.npy -n 2 --estimator path --device cpu >"$out" 2>"$err"
    expect "$mpi: a table without escapes" diff alone "$out"
    if command -v gnuplot >/dev/null; then
        ranks 2 "$KSPEC" moments x.npy -n 3 --estimator path --device cpu --plot p$mpi.svg >"$out" 2>"$err"
        expect "$mpi: a table and a picture" [ $? -eq 0 -a -s "$out" -a -s p$mpi.svg ]
    fi
    ranks 3 "$KSPEC" theory rbf --eta 4 >"$out" 2>"$err"
    expect "$mpi: a command that shares nothing runs once" [ $? -eq 0 -a "$(grep -c 'm(n)' "$out")" -eq 1 ]
    ranks 3 "$KSPEC" --version >"$out" 2>"$err"
    expect "$mpi: the version once" [ "$(cat "$out")" = "$("$KSPEC" --version)" ]

    # the programs that repeat something for many seeds share them out
    bench=$(dirname "$KSPEC")/bench
    if [ -x "$bench/bench_variance" ]; then
        "$bench/bench_variance" 2 >alone
        ranks 3 "$bench/bench_variance" 2 >"$out" 2>"$err"
        expect "$mpi: bench_variance: status" [ $? -eq 0 -a -s alone ]
        expect "$mpi: bench_variance: the same table" diff alone "$out"
    fi

    # a failure: one message, the right status
    ranks 3 "$KSPEC" moments missing.npy >"$out" 2>"$err"
    expect "$mpi: status of a missing file" [ $? -eq 3 ]
    expect "$mpi: one message" [ "$(spoken | grep -c 'missing.npy')" -eq 1 -a "$(spoken | wc -l)" -eq 1 ]
    ranks 3 "$KSPEC" moments x.npy --no-such-option >"$out" 2>"$err"
    expect "$mpi: status of a wrong option" [ $? -eq 2 -a "$(spoken | wc -l)" -eq 1 ]

    # one rank that cannot read its file, or has another one
    ranks 2 "$KSPEC" moments x.npy -n 3 : -n 1 "$KSPEC" moments missing.npy -n 3 >"$out" 2>"$err"
    expect "$mpi: a rank without the file" [ $? -eq 3 -a ! -s "$out" ]
    expect "$mpi: it says which rank ($(spoken))" \
        [ "$(spoken | grep -c '^kspec: rank 2: .*missing.npy')" -eq 1 ]
    ranks 2 "$KSPEC" moments x.npy -n 3 : -n 1 "$KSPEC" moments y.npy -n 3 >"$out" 2>"$err"
    expect "$mpi: a rank with another file" [ $? -eq 3 -a ! -s "$out" ]
    expect "$mpi: it says so ($(spoken))" \
        [ "$(spoken | grep -c '^kspec: rank 2: its file .*differs')" -eq 1 ]

    # labels are rank 0's for all, also from its standard input; a list must be the same
    kspec moments small.npy --estimator path -n 3 --groups labels.csv --json >alone 2>alone.err
    ranks 2 "$KSPEC" moments small.npy --estimator path -n 3 --groups - --json <labels.csv >"$out" 2>"$err"
    expect "$mpi: labels from standard input" [ $? -eq 0 ]
    expect "$mpi: labels from standard input: the same" \
        diff <(grep '"value"\|std_error' alone) <(grep '"value"\|std_error' "$out")
    printf 'y.npy\nx.npy\n' >turned
    ranks 1 "$KSPEC" dimension @list : -n 1 "$KSPEC" dimension @turned >"$out" 2>"$err"
    expect "$mpi: a rank with another list" [ $? -eq 3 -a ! -s "$out" ]
    expect "$mpi: it says so ($(spoken))" \
        [ "$(spoken | grep -c '^kspec: rank 1: its file .*differs')" -eq 1 ]

    # killed, and taken up by another number of ranks
    kspec generate rff --rows 1500 --cols 1200 --dim 5 -o big.npy
    how="--estimator path -n 8 --device cpu --json"
    # shellcheck disable=SC2086
    [ -e big.json ] || kspec moments big.npy $how --threads 2 >big.json
    rm -rf ck.$mpi
    for n in $killed; do
        before=$(find ck.$mpi -name '*.part' 2>/dev/null | wc -l)
        # shellcheck disable=SC2086
        timeout -k 5 120 "$run" -n $n "$KSPEC" moments big.npy $how --threads 1 --checkpoint ck.$mpi \
            >"$out" 2>"$err" &
        for _ in $(seq 300); do # until there is something to keep
            sleep 0.1
            [ "$(find ck.$mpi -name '*.part' 2>/dev/null | wc -l)" -le "$before" ] || break
        done
        pkill -KILL -n -x -f "$KSPEC moments big.npy.*"
        expect "$mpi, $n ranks: there is one to kill" [ $? -eq 0 ]
        wait $!
        expect "$mpi, $n ranks: a rank that is killed ends all" [ $? -ne 0 ]
        expect "$mpi, $n ranks: without a result" [ "$(grep -c schema "$out")" -eq 0 ]
    done
    ls ck.$mpi >parts
    expect "$mpi: parts are kept ($(wc -l <parts))" [ "$(grep -c part parts)" -ge 1 ]
    # shellcheck disable=SC2086
    ranks 2 "$KSPEC" moments big.npy $how --checkpoint ck.$mpi >"$out" 2>"$err"
    expect "$mpi: it goes on" [ $? -eq 0 ]
    expect "$mpi: to the same bits" same big.json "$out"
    # shellcheck disable=SC2086
    expect_status 0 kspec moments big.npy $how --checkpoint ck.$mpi
    expect "one process reads what ranks have kept" same big.json "$out"

    # a full disk under the checkpoint, and one that a rank cannot write to: in mounts of their own
    if [ $tried -gt 1 ]; then
        :
    elif ! unshare -rm mount -t tmpfs none . 2>/dev/null; then
        echo "skip: no full disk; mounts are not permitted (unshare -rm)"
    else
        # shellcheck disable=SC2016
        full='mount -t tmpfs -o size=3m none disk || exit
"$1" -n 2 "${@:2}" >alone 2>alone.err && exit 1
find disk -type f >left
mount -o remount,size=100m disk && "$1" -n 3 "${@:2}"'
        mkdir disk
        # shellcheck disable=SC2086
        timeout -k 5 120 unshare -rm bash -c "$full" full "$run" "$KSPEC" moments big.npy $how --threads 1 \
            --checkpoint disk/ck >"$out" 2>"$err"
        expect "$mpi: a full disk, and then more room: status" [ $? -eq 0 ]
        expect "$mpi: a full disk: no result" [ "$(grep -c schema alone)" -eq 0 ]
        expect "$mpi: a full disk: which rank, and why ($(grep '^kspec: ' alone.err))" \
            [ "$(grep -cE '^kspec: rank [01]: cannot write disk/ck/.*: No space left on' alone.err)" -eq 1 ]
        expect "$mpi: a full disk: nothing but whole files ($(tr '\n' ' ' <left))" \
            [ -s left -a "$(grep -cvE '/([0-9]+-[a-z]+-[0-9]+[.]part|identity)$' left)" -eq 0 ]
        expect "$mpi: a full disk: to the same bits" same big.json "$out"

        mkdir sealed
        # shellcheck disable=SC2016
        seal='mount --bind sealed sealed && mount -o remount,bind,ro sealed && exec "$@"'
        keep="$how --threads 1 --checkpoint sealed"
        # shellcheck disable=SC2086
        ranks 1 "$KSPEC" moments big.npy $keep : \
            -n 1 unshare -rm bash -c "$seal" seal "$KSPEC" moments big.npy $keep >"$out" 2>"$err"
        expect "$mpi: a rank that cannot write: status" [ $? -eq 3 -a ! -s "$out" ]
        expect "$mpi: which one, and why ($(spoken))" \
            [ "$(spoken | grep -c '^kspec: rank 1: cannot write sealed/.*: Read-only file system')" -eq 1 ]
        # shellcheck disable=SC2086
        expect_status 0 kspec moments big.npy $how --checkpoint sealed
        expect "$mpi: what the others kept is taken up" same big.json "$out"
    fi

    # Ctrl-C, once the ranks compute. Hydra, MPICH's launcher, kills a rank as soon as the other one has gone,
    # and forgets the status of one that it has killed: so each rank's own status is written down, and none
    # goes before all have. Hydra's own is then that of a rank, or 0. (40 permutations: no machine is done
    # before the signal comes.)
    rm -rf ended.$mpi && mkdir ended.$mpi
    # shellcheck disable=SC2016
    ends='trap "" INT TERM
"$@"
echo $? >$0/$$.new && mv $0/$$.new $0/$$
for _ in $(seq 100); do [ $(ls $0 | grep -vc new) -lt 2 ] || break; sleep 0.1; done
exit 1'
    # shellcheck disable=SC2086
    "$run" -n 2 bash -c "$ends" $PWD/ended.$mpi "$KSPEC" moments big.npy $how --permutations 40 \
        --threads 1 --checkpoint int.$mpi >"$out" 2>"$err" &
    launcher=$!
    for _ in $(seq 300); do
        sleep 0.1
        [ "$(find int.$mpi -name '*.part' 2>/dev/null | wc -l)" -eq 0 ] || break
    done
    kill -INT $launcher
    for _ in $(seq 100); do
        kill -0 $launcher 2>/dev/null || break
        sleep 0.1
    done
    expect "$mpi: Ctrl-C ends the launcher within ten seconds" eval '! kill -0 $launcher 2>/dev/null'
    kill -KILL $launcher 2>/dev/null
    wait $launcher
    status=$?
    ended=130
    if [ $mpi = openmpi ]; then
        ended=143 # it asks its ranks to end by SIGTERM
        expect "$mpi: its status is not 0" [ $status -ne 0 ]
    fi
    expect "$mpi: both ranks end with $ended ($(cat ended.$mpi/* | tr '\n' ' '))" \
        [ "$(cat ended.$mpi/*)" = "$(printf '%s\n%s' $ended $ended)" ]
    expect "$mpi: Ctrl-C leaves no result" [ "$(grep -c schema "$out")" -eq 0 ]
    for _ in $(seq 50); do
        pgrep -f "$KSPEC moments big.npy" >/dev/null || break
        sleep 0.1
    done
    expect "$mpi: and all ranks" [ -z "$(pgrep -f "$KSPEC moments big.npy")" ]
done
[ $tried -gt 0 ] || echo "skip: no MPI with a plugin"
done_testing
