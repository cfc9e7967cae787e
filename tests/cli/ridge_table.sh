# kspec ridge on a table: the target as a column, the split, the recommendation, and what it refuses.
. "$(dirname "$0")/lib.sh"

py "
rng = np.random.default_rng(3)
x = rng.standard_normal((90, 4)) * [1, 30, 1, 2]
y = np.sin(x[:, 0]) + x[:, 1] / 30 + .2 * rng.standard_normal(90) + 40
t = np.c_[x, y, -y]
def save(name, t, names): np.savetxt(name, t, delimiter=',', header=names, comments='', fmt='%.17g')
save('t.csv', t, 'size,weight,age,price,quality,other')
save('u.csv', t[:20], 'size,weight,age,price,quality,other')
np.save('x.npy', x); np.save('y.npy', y); np.save('n.npy', t[:, :5])
words = ['size,kind,quality'] + [f'{a},white,{b}' for a, b in t[:, [0, 4]]]
open('words.csv', 'w').write('\n'.join(words) + '\n')
save('same.csv', np.ones((9, 3)), 'a,b,c')
save('flat.csv', np.c_[x[:, :3], np.full(90, .3)], 'a,b,c,d')
noise = rng.standard_normal((300, 4)); save('noise.csv', noise, 'a,b,c,d')
"

# a column is the file of that column, by name or number
one="--features 7 --lambda 0.1 --json --quiet"
expect_status 0 kspec ridge x.npy --target y.npy --center-target $one
cp "$out" file.json
for target in 'n.npy --target 4' 't.csv --select-cols 0-4 --target quality' \
    't.csv --select-cols 0-3 --target 4' 't.csv --select-cols !other --target quality'; do
    expect_status 0 kspec ridge $target $one
    expect_json 'j["points"] == json.load(open("file.json"))["points"] and j["target_centered"]'
    expect_json 'j["cols"] == 4'
done
expect_status 0 kspec ridge t.csv --target quality,other $one
expect_json 'j["targets"] == 2 and j["cols"] == 4'
expect_json 'close(*j["points"][0]["train_mse_columns"], 1e-8)'
expect_status 0 kspec ridge t.csv --target quality --select-cols '!other' --test u.csv $one
expect_json 'j["test_rows"] == 20 and j["points"][0]["test_r2"] > 0'
# the errors are around the mean, and say how good they are
expect_json 'j["mean_train_mse"] > j["points"][0]["train_mse"]'
expect_json 'close(j["points"][0]["train_r2"], 1 - j["points"][0]["train_mse"] / j["mean_train_mse"], 1e-12)'
# without centring the mean is most of the error, and one column decides the distances
expect_status 0 kspec ridge t.csv --target quality --select-cols '!other' \
    --center-target=no --features 5 --lambda 1
expect_stderr "the target.s mean makes up [0-9.]+% of its mean square"
expect_stderr 'column 1 \(from 0\) holds 9[0-9.]+% of the variance'
expect_status 0 kspec ridge t.csv --target quality --standardize --features 5 --lambda 1
[ ! -s "$err" ] || fail 'a warning about standardised columns'

# an intercept: the errors do not depend on where the targets are
expect_status 0 kspec ridge t.csv --target quality --select-cols '!other' --intercept $one
expect_json 'j["intercept"] and j["target_centered"] and j["points"][0]["train_mse"] < j["mean_train_mse"]'
expect_error 2 'lambda 0 and an intercept cannot be combined .--intercept.' \
    kspec ridge t.csv --target quality --intercept --features 3 --lambda 0
expect_error 2 'intercept and --center-target=no' \
    kspec ridge t.csv --target quality --intercept --center-target=no --features 3 --lambda 1

# the split: seeded, and its own rows
split="t.csv --target quality --select-cols !other --test-fraction 0.3 $one"
expect_status 0 kspec ridge $split
cp "$out" split.json
expect_json '(j["rows"], j["test_rows"]) == (63, 27)'
expect_status 0 kspec ridge $split --threads 3
expect_json 'j["points"] == json.load(open("split.json"))["points"]'
expect_status 0 kspec ridge $split --seed 2
expect_json 'j["points"][0]["test_mse"] != json.load(open("split.json"))["points"][0]["test_mse"]'

# the recommendation
expect_status 0 kspec ridge t.csv --target quality --select-cols '!other' --check
expect_stdout '^recommended: --features [0-9]+ --lambda [0-9.e+-]+ --sigma [0-9.]+$'
expect_stdout 'predicted test error .*, R2 0\.[0-9]+; predicting the mean errs by'
expect_stdout 'mean over 5 random divisions of the rows'
expect_stdout '^by sigma .*test MSE'
expect_status 0 kspec ridge t.csv --target quality --select-cols '!other' --check --json
expect_json 'j["standardized"] and j["draws"] == 8 and len(j["points"]) == 3'
expect_json 'j["recommended"]["features"] == j["points"][0]["features"]'
expect_json 'close(j["recommended"]["lambda"], j["points"][0]["lambda"], 1e-12)'
expect_json 'j["recommended"]["test_mse"] <= 1.02 * j["best"]["test_mse"]'
expect_json 'j["recommended"]["test_mse"] < j["mean_test_mse"] / 2 and j["recommended"]["r2"] > 0.5'
expect_json 'all(abs(p["test_mse"] / p["empirical_test_mse"] - 1) < 0.2 for p in j["points"])'
expect_json 'j["recommended"]["training_rows"] == 63 and j["recommended"]["training_seconds"] > 0'
expect_status 0 kspec ridge t.csv --target quality --activation relu --json
expect_json 'j["activation"] == "relu" and j["points"][0]["delta"] > 0'
expect_status 0 kspec ridge noise.csv --target d
expect_stderr 'is not 2% below .*, that of predicting the mean'

# other features
for f in relu leaky erf sign abs cos quadratic phases; do
    expect_status 0 kspec ridge t.csv --target quality --standardize --activation $f \
        --features 20 --lambda 0.1
    expect_stdout '^ +N +lambda +delta +train MSE'
done

# what it refuses
expect_error 2 "did you mean 'quality'" kspec ridge t.csv --target qualty
expect_error 2 'column 9 is out of range' kspec ridge t.csv --target 9
expect_error 3 "'white' is not a number; leave the column out \(--select-cols 0,2-\)" \
    kspec ridge words.csv --target quality
expect_error 3 "--target kind: words.csv: line 2, column 1: 'white' is not a number$" \
    kspec ridge words.csv --target kind
expect_status 0 kspec ridge words.csv --target quality --select-cols 0,2- --features 3 --lambda 1
expect_status 0 kspec ridge words.csv --target quality --select-cols '!kind' --features 3 --lambda 1
expect_error 2 'leaves none' kspec ridge t.csv --target 0-5
expect_error 2 'leaves no rows to test on' kspec ridge t.csv --target quality --test-fraction 0.001
expect_error 2 'leaves no rows to train on' kspec ridge t.csv --target quality --test-fraction 0.999
expect_error 2 'is not between 0 and 1' kspec ridge t.csv --target quality --test-fraction 1
expect_error 2 'test gives the test rows already' \
    kspec ridge t.csv --target quality --test u.csv --test-fraction 0.3
expect_error 2 'test-target: not needed, because the target is column' \
    kspec ridge t.csv --target quality --test u.csv --test-target y.npy
expect_error 2 'target-cols is for a --target file' kspec ridge t.csv --target quality --target-cols 3
expect_error 2 'standard input' kspec ridge - --target quality
expect_error 2 'check needs a recommendation' \
    kspec ridge t.csv --target quality --check --features 3 --lambda 1
expect_error 2 'sigma: a recommendation chooses it' kspec ridge t.csv --target quality --sigma 2
expect_error 2 'activation: .tanh. must be one of' kspec ridge t.csv --target quality --activation tanh
expect_error 2 '--features is missing' kspec ridge t.csv --target quality --lambda 1
expect_error 3 'the median distance is 0' kspec ridge same.csv --target c
expect_error 3 'the target is the same for all 63 training rows' kspec ridge flat.csv --target d
expect_error 2 'standardize and --scale cannot' kspec ridge t.csv --target quality --standardize --scale
done_testing
