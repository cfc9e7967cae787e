# Values of options, good and bad, of every type.
. "$(dirname "$0")/lib.sh"
kspec generate rff --rows 8 --cols 9 --dim 1 -o x.npy
rbf="kspec theory rbf"
gen="kspec generate rff --rows 2 --cols 2 --dim 1 -o y.npy"

# ways to give a value
expect_status 0 $rbf --eta=4 --dim=5 -n3
cp "$out" a
expect_status 0 $rbf --eta 4 --dim 5 -n 3
expect "--eta=4 is --eta 4" cmp -s "$out" a
expect_status 0 $rbf --eta 9 --eta 4 --dim 5 -n 3
expect "the last one counts" cmp -s "$out" a
expect_status 0 kspec moments -n 1 -- x.npy
expect_error 2 "'--json' is none|unexpected|must be one of" kspec theory -- --json

# --seed: a number from 0 to 2^63-1
expect_status 0 $gen --seed 0
expect_status 0 $gen --seed 9223372036854775807 --json
expect_json 'j["seed"] == 2**63 - 1'
for bad in -1 abc '' 1.5 9223372036854775808 ' 1' '1 ' 0x1 +1; do
    expect_error 2 "--seed: '.*' is not a whole number from 0 to" $gen --seed "$bad"
done
expect_error 2 "--seed needs a value" $gen --seed

# --threads: 0 to 1024
expect_status 0 $gen --threads 0
expect_status 0 $gen --threads 1024
expect_error 2 '--threads: -1 is below 0' $gen --threads -1
expect_error 2 '--threads: 2000 is not between 1 and 1024' $gen --threads 2000
expect_error 2 "--threads: 'x' is not a whole number" $gen --threads x
expect_error 2 "--threads: '99999999999' is not a whole number" $gen --threads 99999999999
expect_error 2 '--threads needs a value' $gen --threads

# -n
expect_error 2 '-n: 0 is below 1' $rbf --eta 1 -n 0
expect_error 2 '-n: -3 is below 1' $rbf --eta 1 -n -3
expect_error 2 "-n: 'x' is not a whole number" $rbf --eta 1 -n x
expect_error 2 "-n: '' is not a whole number" $rbf --eta 1 -n ''
expect_error 2 "-n: '2.5' is not a whole number" $rbf --eta 1 -n 2.5
expect_error 2 'is not between 1 and 100000' $rbf --eta 1 -n 100001
expect_error 2 '-n needs a value' $rbf --eta 1 -n
expect_error 2 '-n: 0 is below 1' kspec moments x.npy -n 0
expect_error 2 "-n: '1e3' is not a whole number" kspec moments x.npy -n 1e3
expect_error 2 'order 20000 exceeds' kspec moments x.npy -n 20000
expect_error 2 'order 9 exceeds the number of rows, P=8' kspec moments x.npy -n 9 --estimator kv-row
expect_error 2 'order 10 exceeds the number of columns, Q=9' kspec moments x.npy -n 10 --estimator kv-col
expect_status 0 kspec moments x.npy -n 20 --estimator naive

# lists of numbers
expect_status 0 $rbf --eta 1,2e-1,.5,4.
for bad in 0 -1 1,0; do
    expect_error 2 'eta .* is not between' $rbf --eta $bad
done
for bad in '' 1,,2 , 1, ,1 x 1x nan inf 1e999 '1 2' '1, 2'; do
    expect_error 2 "--eta: '.*' is not a number" $rbf --eta "$bad"
done
expect_error 2 '--eta needs a value' $rbf --eta
expect_error 2 '--eta, or --sigma and --sigma-x, is missing' $rbf
expect_error 2 '--eta has 2 values, --dim is 3' $rbf --eta 1,2 --dim 3

# sizes
for o in rows cols dim trials; do
    expect_error 2 "--$o: 0 is below 1" $gen --$o 0
    expect_error 2 "--$o: '-1' is not a whole number of at least 0" $gen --$o -1
    expect_error 2 "--$o: 'x' is not a whole number" $gen --$o x
    expect_error 2 "--$o: '1e3' is not a whole number" $gen --$o 1e3
    expect_error 2 "--$o: '18446744073709551616' is not a whole number" $gen --$o 18446744073709551616
    expect_error 2 "--$o needs a value" $gen --$o
done
expect_error 2 'exceed' $gen --rows 9000000000000000000 --cols 9000000000000000000
expect_error 2 '--eigenvalues: 0 is below 1' $rbf --eta 1 --eigenvalues 0
expect_error 2 '--eigenvalues: 1000000000 exceeds' $rbf --eta 1 --eigenvalues 1000000000

# numbers
for bad in x '' nan inf 1e999 1,2; do
    expect_error 2 "--noise: '.*' is not a finite number" $gen --noise "$bad"
done
expect_error 2 'noise -1 is not between 0 and' $gen --noise -1

# one of a few
expect_error 2 "--nan: 'omit' must be one of" kspec moments x.npy --nan omit
expect_error 2 "--nan: '' must be one of" kspec moments x.npy --nan ''
expect_error 2 '--nan needs a value' kspec moments x.npy --nan
expect_error 2 "'x' must be one of" kspec theory x
expect_error 2 'must be one of' kspec theory
expect_error 2 'must be one of' kspec generate
expect_error 2 'must be one of' kspec completion tcsh

# flags
expect_error 2 '--json takes no value' $rbf --eta 1 --json=1
expect_error 2 '--quiet takes no value' $rbf --eta 1 --quiet=

# words that have no place
expect_error 2 "unexpected argument 'y'" $rbf y --eta 1
expect_error 2 "unexpected argument 'y'" kspec config y
expect_error 2 "unexpected argument 'zsh'" kspec completion bash zsh
expect_error 2 'no INPUT given' kspec moments -n 2

expect_files x.npy y.npy a
done_testing
