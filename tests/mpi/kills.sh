# Random kills of a random rank, each followed by a run with another number of ranks that goes on, to the same
# bytes. KILLS is how many of each command.
. "$(dirname "$0")/../cli/lib.sh"
KILLS=${KILLS:-3}
kspec generate rff --rows 1400 --cols 1100 --dim 5 -o wide.npy
kspec generate rff --rows 1500 --cols 1300 --dim 5 -o other.npy
kspec generate rff --rows 2500 --cols 12 --dim 5 -o long.npy
seq 1 2500 | awk '{ print $1 % 7 "," ($1 * $1) % 11 }' >two.csv
seq 1 2500 | awk '{ print $1 % 3 }' >labels.csv
# but for times; learn's line names its checkpoint, and its runs say at which epoch they went on
numbers() { grep -vE '"((train_|measure_)?seconds|gfma_per_s|command_line|resumed)"' "$1"; }
same() { diff <(numbers "$1") <(numbers "$2") >/dev/null; }
# A rank may be killed after the result was printed, before the launcher has seen all of them end; that of
# MPICH adds words of its own.
none_or_whole() { ! grep -q schema "$out" || same whole.json <(sed '/^}$/q' "$out"); }
RANDOM=20
counts=(3 1 4 2 7 2)

while read -r what; do
    # shellcheck disable=SC2086
    kspec $what --threads 2 --json >whole.json 2>"$err" </dev/null
    expect "$what: without a launcher" [ $? -eq 0 ]
    for mpi in openmpi mpich; do
        run=$(command -v mpirun.$mpi) && [ -e "$(dirname "$KSPEC")/libkspec_$mpi.so" ] ||
            { echo "skip: no mpirun.$mpi, or no plugin for it"; continue; }
        rm -rf ck
        for ((k = 0; k <= KILLS; k++)); do
            n=${counts[k % 6]}
            # shellcheck disable=SC2086
            timeout -k 5 300 "$run" -n $n "$KSPEC" $what --threads 1 --json --checkpoint ck \
                >"$out" 2>"$err" </dev/null &
            launcher=$!
            if [ $k -lt "$KILLS" ]; then
                sleep $((RANDOM % 2 + 1)).$((RANDOM % 10))
                # the ranks are children of the launcher, or of its proxy
                victim=$(pgrep -f "^$KSPEC $what" | sort -R --random-source=<(yes $k) | head -n 1)
                [ -z "$victim" ] || { kill -KILL $victim && killed=$((killed + 1)); }
            fi
            wait $launcher
            status=$?
            [ $status -ne 0 ] || break
            expect "$mpi, $what, kill $k: no result, or all of it" none_or_whole
        done
        [ $status -eq 0 ] || spoken=$(grep '^kspec: ' "$err")
        expect "$mpi, $what: goes on after kills ($status $spoken)" [ $status -eq 0 ]
        expect "$mpi, $what: to the same bits" same whole.json "$out"
        echo "$mpi, $what: $k runs before it, $(ls ck | wc -l) files kept"
    done
done <<'END'
moments wide.npy --estimator path -n 8 --device cpu
moments other.npy --estimator exact -n 4 --device cpu
norm long.npy --method power,lanczos,nystrom,rff-debiased --sigma 1 --features 600 --device cpu
ridge long.npy --target two.csv --features 400,300 --lambda 1,0.1 --empirical 8
learn --images two.csv --labels labels.csv --test-images two.csv --width 20,12 --seeds 6 --epochs 20
END
echo "${killed:-0} kills"
expect "there was something to kill" [ "${killed:-0}" -ge 5 ]
done_testing
