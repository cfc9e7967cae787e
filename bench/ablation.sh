#!/bin/sh
# What each constant of src/fit/tuning.h does: a row per change, by bench_fit (docs/measurements/spectrum.md).
#     cmake --preset release -B build-ablation -DCMAKE_C_FLAGS=-DKSPEC_ABLATION
#     cmake --build build-ablation --target bench_fit
#     bench/ablation.sh build-ablation/bench/bench_fit --seeds 1 2 --cell 100x100 ...
bench=${1:?usage: ablation.sh BENCH_FIT [OPTIONS OF BENCH_FIT]}
shift
echo "| | error: no noise | noise 0.1 | noise 0.5 | first covered | first ten | dimension | width |"
echo "|---|---|---|---|---|---|---|---|"
row() {
    name=$1
    change=$2
    shift 2
    printf '| %s ' "$name"
    # shellcheck disable=SC2086 # several changes are several words
    env $change "$bench" "$@" --brief
}
row "as it is" A=A "$@"
row "levels to 1e-3 of the trace" KS_SHARE=1e-3 "$@"
row "groups grow by 20%" KS_FINE=1.2 "$@"
row "nodes beyond grow by a half" KS_COARSE=1.5 "$@"
row "leverages' correction up to 5%" KS_CUT=0.05 "$@"
row "… up to a half" KS_CUT=0.5 "$@"
row "variance between levels 0.3 away" KS_DIAGONAL=0.3 "$@"
row "path at half a turn less" KS_PATH_ANGLE=0.7 "$@"
row "3 points of the path" KS_PATH_POINTS=3 "$@"
row "no error of the model" KS_MODEL_ERROR=0.002 "$@"
row "… 0.06" KS_MODEL_ERROR=0.06 "$@"
row "no error of the tail" KS_TAIL_ERROR=0.001 "$@"
row "leverages' errors alike over 2" KS_SHIFT_LENGTH=2 "$@"
row "variance of the share once" KS_TAIL_VARIANCE=1 "$@"
row "nodes to 3 min(P,Q)" KS_EXTENT=3 "$@"
row "short-range term over 0.2" KS_ROUGHNESS_LENGTH=0.2 "$@"
row "… over 0.8" KS_ROUGHNESS_LENGTH=0.8 "$@"
row "slope 0 ± 4" KS_SLOPE=0 "$@"
row "slope -2 ± 2" KS_SLOPE_SD=2 "$@"
row "steps of 0.75" KS_STEP_SD=0.75 "$@"
row "kinks of 1" KS_KINK_SD=1 "$@"
row "constant to 0.05" KS_FLAT_JITTER=2.5e-3 "$@"
row "moves cost 1" KS_MOVE_COST=1 "$@"
row "moves cost 5" KS_MOVE_COST=5 "$@"
row "constant, no weight where the rank is seen" KS_FLAT_WEIGHT=0 "$@"
row "constant, first end at 3" KS_FLAT_END=3 "$@"
row "noise's mean lower by e" KS_NOISE_MEAN=0 "$@"
row "… higher by e" KS_NOISE_MEAN=2 "$@"
row "noise's deviation 4" KS_NOISE_SD=4 "$@"
row "intervals not widened" "KS_WIDER=1 KS_WIDER_SUMS=1" "$@"
