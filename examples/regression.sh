#!/bin/sh
# How many random features, and how much ridge? Found before anything is trained: examples/regression.sh
#
# On two classes of MNIST, 150 images to train and 150 to test, or on rows that are made.
. "$(dirname "$0")/recipe.sh"

if images=$(data mnist/train15k-images-idx3-ubyte.gz); then
    folder=${images%/*}
    set -- "$images" --target "$folder/train15k-labels-idx1-ubyte.gz" --classes 8,9 --per-class 75 \
        --test "$folder/t10k-images-idx3-ubyte.gz" --test-target "$folder/t10k-labels-idx1-ubyte.gz"
else
    say "MNIST is not here; rows are made instead, and their first column is predicted from the others."
    run generate linear --rows 250 --cols 30 --dim 8 --noise 1 --quiet -o rows.csv
    head -n 150 rows.csv >train.csv
    tail -n 100 rows.csv >test.csv
    set -- train.csv --target train.csv --target-cols 0 --test test.csv --test-target test.csv \
        --select-cols 1-29
fi
set -- "$@" --center --scale --quiet

say "The best ridge for each number of features:"
run ridge "$@" --features 40,75,150 --optimize lambda
run ridge "$@" --features 150 --optimize lambda --json -o best.json
lambda=$(value lambda best.json)

say "The best number of features that costs at most 50 million multiply-adds, with the λ of N = 150:"
run ridge "$@" --optimize features --cost-limit 5e7 --lambda "$lambda"

say "Is it true? Predicted beside measured, over 10 draws of the features, with this ridge" \
    "and almost without one:"
run ridge "$@" --features 40,65,75,85,150,300 --lambda "$lambda,1e-7" --empirical 10 $(plot regression.svg)
run ridge "$@" --features 150 --lambda "$lambda" --empirical 10 --json -o regression.json
predicted=$(value test_mse regression.json)
measured=$(value empirical_test_mse regression.json)
say "test error with 150 features: $predicted predicted, $measured measured"
