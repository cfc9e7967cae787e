# Two classes of MNIST, as published: the prediction within 3 standard errors of the mean of 30 draws away
# from 2N = n, the training error within 15%, the peak at 2N = n, and Newton's steps there. Fixed seed: no
# false alarms once it passes.
. "$(dirname "$0")/lib.sh"

find_data mnist/{train15k,t10k}-{images-idx3,labels-idx1}-ubyte.gz || exit 77
m=$data/mnist
mnist="$m/train15k-images-idx3-ubyte.gz --target $m/train15k-labels-idx1-ubyte.gz --center --scale"
expect_status 0 kspec ridge $mnist --classes 8,9 --per-class 250 \
    --test "$m/t10k-images-idx3-ubyte.gz" --test-target "$m/t10k-labels-idx1-ubyte.gz" \
    --features 50,100,200,250,300,500,1000,2000 --lambda 1e-7 --empirical 30 --json
expect_json '(j["rows"], j["test_rows"], j["cols"]) == (500, 500, 784)'
expect_json 'all(abs(p["test_mse"] - p["empirical_test_mse"]) <= 3 * p["empirical_test_sd"] / 30 ** .5
    for p in j["points"] if p["features"] != 250)'
expect_json 'all(close(p["train_mse"], p["empirical_train_mse"], .15)
    for p in j["points"] if p["features"] != 250)'
expect_json 'all(max(j["points"], key=lambda p: p[e])["features"] == 250
    for e in ("test_mse", "empirical_test_mse"))'
expect_json 'all(p["iterations"] <= 20 for p in j["points"])'
# the training error of 1 v 7: predicted, where the kernel is far off
expect_status 0 kspec ridge $mnist --classes 1,7 --per-class 512 --features 512 --lambda 1e-3,1 \
    --empirical 10 --json
expect_json 'all(close(p["train_mse"], p["empirical_train_mse"], .05) for p in j["points"])'
expect_json 'j["points"][0]["kernel_train_mse"] < j["points"][0]["empirical_train_mse"] / 10'
done_testing
