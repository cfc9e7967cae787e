# The spectral norm of Gram matrices.
. "$(dirname "$0")/lib.sh"
all=eigen,power,lanczos,rff-power,nystrom,rff-nystrom,rff-debiased
r='{e["method"]: e for e in j["results"]}'

# two points at distance 1: K = ((1,k),(k,1)), whose norm is 1 + k
printf '0,0\n0,1\n' >two.csv
expect_status 0 kspec norm two.csv --method eigen,power,lanczos --sigma 1 --json
expect_json 'all(close(e["value"], 1 + math.exp(-0.5), 1e-9) and e["warning"] is None
    and e["seconds"] >= 0 and e["residual"] < 1e-5 and e["converged"] for e in j["results"])'
expect_json '[e["method"] for e in j["results"]] == ["eigen", "power", "lanczos"]'
expect_json '(j["command"], j["rows"], j["cols"]) == ("norm", 2, 2)'
expect_json '(j["kernel"], j["sigma"], j["gamma"]) == ("gaussian", 1, 0.5)'
for kernel in 'gaussian:math.exp(-0.25)' 'laplace:math.exp(-0.25)' 'cauchy:1 / 1.25' \
    'matern:(1 + 0.25 * 3**0.5) * math.exp(-0.25 * 3**0.5)'; do
    expect_status 0 kspec norm two.csv --method lanczos --gamma 0.25 --kernel ${kernel%%:*} --json
    expect_json "close(j['results'][0]['value'], 1 + ${kernel#*:}, 1e-12) and j['gamma'] == 0.25"
done
expect_status 0 kspec norm two.csv --method lanczos --sigma 1 --kernel matern --nu 0.5 --json
expect_json 'close(j["results"][0]["value"], 1 + math.exp(-1), 1e-12)'
expect_json '(j["kernel"], j["nu"]) == ("matern", 0.5)'
expect_status 0 kspec norm two.csv --method lanczos --sigma 1 --kernel matern --nu 2.5
expect_stdout 'the matern Gram matrix, sigma = 1, nu = 2.5$'
expect_status 0 kspec norm two.csv --method lanczos --sigma median --json
expect_json 'j["sigma"] == 1'

# every method, its figures, and the table
kspec generate linear --rows 400 --cols 3 --dim 3 --seed 4 -o x.npy
expect_status 0 kspec norm x.npy --method $all --sigma 4 --features 120 --sample 400 --json
expect_json "set($r) == set('$all'.split(','))"
expect_json "all(e['value'] > 0 and e['iterations'] >= 0 and e['repeats'] == 1 and e['spread'] is None
    for e in j['results'])"
expect_json "close($r['lanczos']['value'], $r['eigen']['value'], 1e-10)"
expect_json "close($r['nystrom']['value'], $r['eigen']['value'], 1e-9)"
expect_json "$r['rff-nystrom']['value'] == $r['rff-power']['value'] and $r['rff-power']['features'] == 120"
expect_json "$r['rff-debiased']['ci_low'] <= $r['eigen']['value'] <= $r['rff-debiased']['ci_high']"
expect_json "$r['rff-debiased']['order'] >= 2"
# log(2n/0.05) 12 = 116 < 120: the bound says something, if little
expect_json "300 < $r['rff-power']['bound'] <= 400 and $r['rff-power']['bound_vacuous'] is False"
expect_status 0 kspec norm x.npy --method rff-power,rff-debiased --sigma 4 --features 60
expect_stdout '^x\.npy: 400 rows × 3 columns$'
expect_stdout '^rff-power .* vacuous$'
expect_stdout '^rff-debiased +[0-9.]+ +[0-9.]+ … [0-9.]+'
expect_status 0 kspec norm x.npy --method rff-power --sigma 4 --features 60 --json
expect_json 'j["results"][0]["bound"] is None and j["results"][0]["bound_vacuous"] is True'
expect_json 'j["warnings"] == []'

# a warning where the features are too few, and none where they are enough (above)
expect_status 0 kspec norm x.npy --method rff-power --sigma 0.01 --features 20
expect_stderr 'warning: rff-power: .* is near n/q = 20'
expect_status 0 kspec norm x.npy --method rff-power --sigma 0.01 --features 20 --json --quiet
expect_json 'len(j["warnings"]) == 1 and j["warnings"][0] == j["results"][0]["warning"]'

# the same numbers at any number of threads, held or not, and whatever the memory order of the file
kspec norm x.npy --method $all --sigma 1 --features 50 --sample 90 --json --quiet --threads 1 -o a.json
py "x = np.load('x.npy'); np.save('f.npy', np.asfortranarray(x))"
for variant in 'x.npy --threads 2' 'x.npy --threads 3 --memory 0' 'f.npy'; do
    kspec norm $variant --method $all --sigma 1 --features 50 --sample 90 --json --quiet -o b.json
    expect "the same numbers with $variant" "$python" -c '
import json
a, b = (json.load(open(f))["results"] for f in ("a.json", "b.json"))
keys = ("value", "ci_low", "ci_high", "residual", "iterations", "order", "debiased")
assert len(a) == 7 and all(x[k] == y[k] for x, y in zip(a, b) for k in keys)'
done
expect_status 0 kspec norm x.npy --method rff-power --sigma 1 --features 50 --json --quiet --seed 1
expect_json '"draws" not in j["results"][0]'
expect_json 'j["results"][0]["value"] != next(e["value"]
    for e in json.load(open("a.json"))["results"] if e["method"] == "rff-power")'

# repeats, updates, tolerance
expect_status 0 kspec norm x.npy --method lanczos,rff-power,rff-debiased --sigma 4 --features 60 \
    --repeat 5 --draws --json
expect_json "$r['lanczos']['repeats'] == 1 and $r['lanczos']['spread'] is None"
expect_json "len($r['rff-power']['draws']) == 5"
for method_key in rff-power:value rff-debiased:ci_low; do
    method=${method_key%:*} key=${method_key#*:}
    expect_json "close(sum(d['$key'] for d in $r['$method']['draws']) / 5, $r['$method']['$key'], 1e-12)"
done
expect_status 0 kspec norm x.npy --method power,rff-power --sigma 0.3 --updates 5 --json
expect_json 'all(e["iterations"] == 5 and not e["converged"] and e["warning"] for e in j["results"])'
expect_stderr 'warning: power: not converged after 5 updates'
expect_status 0 kspec norm x.npy --method rff-debiased --sigma 4 --features 32 --tolerance 0.5 --json
expect_json '(lambda e: e["ci_high"] - e["ci_low"] <= 0.5 * e["value"])(j["results"][0])'
expect_json 'j["results"][0]["features"] >= 32'
expect_status 0 kspec norm x.npy --method nystrom --sigma 1 --sample 100 --sample-first --json
cp "$out" first
kspec norm x.npy --select-rows 0-99 --method lanczos --sigma 1 --json >"$out"
expect_json 'close(4 * j["results"][0]["value"], json.load(open("first"))["results"][0]["value"], 1e-9)'

# scaling: like doing it by hand; a constant column is set to zero, with a warning
py "x = np.load('x.npy')
np.save('s.npy', (x - x.mean(0)) / x.std(0)); np.save('m.npy', (x - x.min(0)) / np.ptp(x, 0))
np.save('c.npy', np.c_[x, np.full(400, 5.)])"
for pair in s.npy:--standardize m.npy:--minmax; do
    kspec norm ${pair%%:*} --method lanczos --sigma 1 --json >"$work/want"
    expect_status 0 kspec norm x.npy --method lanczos --sigma 1 ${pair#*:} --json
    expect_json "close(j['results'][0]['value'], json.load(open('$work/want'))['results'][0]['value'], 1e-9)"
    cp "$out" "$work/plain"
    expect_status 0 kspec norm c.npy --method lanczos --sigma 1 ${pair#*:} --json
    expect_stderr 'warning: constant columns, 1 of 4, add nothing'
    expect_json "close(j['results'][0]['value'], json.load(open('$work/plain'))['results'][0]['value'], 1e-9)"
    expect_json "len(j['warnings']) == 1"
done

# rows or columns of length 1
py "x = np.load('x.npy')
np.save('r.npy', x / np.linalg.norm(x, axis=1, keepdims=True))
np.save('l.npy', x / np.linalg.norm(x, axis=0))"
for pair in r.npy:rows l.npy:cols; do
    kspec norm ${pair%%:*} --method lanczos --sigma 0.1 --json >"$work/want"
    expect_status 0 kspec norm x.npy --method lanczos --sigma 0.1 --unit ${pair#*:} --json
    expect_json "close(j['results'][0]['value'], json.load(open('$work/want'))['results'][0]['value'], 1e-9)"
    expect_json "j['scaling'] == 'unit-${pair#*:}'"
done

# features of orthogonal frequencies, and as many as an error needs
expect_status 0 kspec norm x.npy --frequencies orthogonal --sigma 4 --features 120 --json
expect_json "set($r) == {'lanczos', 'rff-power'} and j['frequencies'] == 'orthogonal'"
expect_json "$r['rff-power']['bound'] is None and $r['rff-power']['debiased'] is None"
expect_status 0 kspec norm x.npy --sigma 4 --features auto --error 0.1 --json
expect_json "0.09 < j['expected_error'] <= 0.1 and $r['rff-power']['features'] > 10"
expect_json "close($r['rff-power']['value'], $r['lanczos']['value'], 0.5)"
expect_status 0 kspec norm x.npy --sigma 4 --features auto
expect_stdout '^[0-9]+ features, for an expected error of rff-power of (5|4\.9[0-9]*)%$'

# Theorem 2.5
expect_status 0 kspec norm x.npy --method power --sigma 4 --updates 30 --stop 1e-15 --json
expect_json "0 < $r['power']['bound'] < 400 and $r['power']['bound_vacuous'] is False"
cp "$out" power.json
expect_status 0 kspec norm x.npy --method bound --sigma 4 --updates 30 --stop 1e-15 --json
expect_json "set($r) == {'power', 'rff-power'} and $r['rff-power']['bound'] > 0"
expect_json "$r['power']['bound'] == json.load(open('power.json'))['results'][0]['bound']"
expect_status 0 kspec norm x.npy --method auto --features 64 --json
expect_json "set($r) == {'lanczos', 'rff-debiased'} and $r['rff-debiased']['features'] == 64"

# one row; duplicates
printf '1,2,3\n' >one.csv
expect_status 0 kspec norm one.csv --method $all --sigma 1 --json --quiet
expect_json "all(0 <= e['value'] <= 2 for e in j['results'])"
expect_json "$r['eigen']['value'] == $r['lanczos']['value'] == $r['power']['value'] == 1"
for flag in --standardize --minmax; do
    expect_status 0 kspec norm one.csv --method lanczos --sigma 1 $flag --json
    expect_json 'j["results"][0]["value"] == 1'
done
py "x = np.random.default_rng(0).normal(size=(30, 2)); x[:9] = x[0]; np.savetxt('d.csv', x)"
expect_status 0 kspec norm d.csv --method eigen,lanczos,power --sigma 0.001 --json
expect_json 'all(close(e["value"], 9, 1e-9) for e in j["results"])'

# a Gram matrix
printf '2,1\n1,2\n' >k.csv
expect_status 0 kspec norm k.csv --gram --method eigen,power,lanczos,nystrom --json
expect_json 'all(close(e["value"], 3, 1e-9) for e in j["results"])'
expect_json 'j["kernel"] is None and j["sigma"] is None'
for m in rff-power rff-nystrom rff-debiased; do
    expect_error 2 'need the rows' kspec norm k.csv --gram --method $m
done
for flag in '--sigma 1' '--gamma 1' --standardize --minmax '--kernel laplace'; do
    expect_error 2 'a Gram matrix takes no kernel, sigma.* \(--gram\)$' \
        kspec norm k.csv --gram --method eigen $flag
done
printf '2,1\n0.5,2\n' >bad.csv
expect_error 3 'entries \(1, 0\) and \(0, 1\), 0.5 and 1, differ' kspec norm bad.csv --gram --method eigen
printf '1,2\n2,1\n' >bad.csv
expect_error 3 'exceeds' kspec norm bad.csv --gram --method eigen
py "np.savetxt('bad.csv', np.eye(10) * 1.9 - 0.9, delimiter=',')"
expect_error 3 'eigenvalue of -7.1 ' kspec norm bad.csv --gram --method lanczos
expect_error 3 '400 x 3' kspec norm x.npy --gram --method lanczos

# bad input
expect_error 2 "'svd' must be one of eigen, power" kspec norm x.npy --sigma 1 --method svd
expect_error 2 "'' must be one of" kspec norm x.npy --sigma 1 --method eigen,
expect_error 2 'sigma 1 and gamma 1: give only one of them \(--sigma\)$' \
    kspec norm x.npy --method eigen --sigma 1 --gamma 1
expect_error 2 'only one of --standardize, --minmax and --unit' \
    kspec norm x.npy --method eigen --sigma 1 --standardize --minmax
for s in 0 -1 nan; do
    expect_error 2 '--sigma: .* is neither a number above 0 nor median' \
        kspec norm x.npy --method eigen --sigma $s
done
expect_error 2 'neither a number above 0 nor median' kspec norm x.npy --method eigen --sigma mean
expect_error 2 '--sigma: .inf. is neither' kspec norm x.npy --method eigen --sigma inf
expect_error 2 '--gamma: .0. is not above 0' kspec norm x.npy --method eigen --gamma 0
expect_error 2 '--gamma: .1,2. is not a finite number' kspec norm x.npy --method eigen --gamma 1,2
expect_error 2 "--features: '0' is neither|--features: .0. is not a whole number from 1, or auto" \
    kspec norm x.npy --method rff-power --sigma 1 --features 0
for nu in 0 -1; do
    expect_error 2 '--nu: .* is not above 0' kspec norm x.npy --kernel matern --nu $nu
done
expect_error 2 'nu 1 is for the Matern kernel' kspec norm x.npy --nu 1
expect_error 2 'nu 1e\+06 is not above 0 and at most 100000' kspec norm x.npy --kernel matern --nu 1e6
expect_error 2 'orthogonal frequencies are for the Gaussian and the Matern' \
    kspec norm x.npy --kernel cauchy --frequencies orthogonal
expect_error 2 'rff-debiased needs independent features' \
    kspec norm x.npy --method rff-debiased --frequencies orthogonal
for option in '--features 9' '--sample 9' --sample-first '--repeat 2'; do
    expect_status 0 kspec norm x.npy --method power $option
    expect_stderr "^kspec: warning: ${option% *} has no effect: it is for methods with [a-z ]+: "
done
expect_status 0 kspec norm x.npy --method rff-power --sample 9
expect_stderr 'sample has no effect: it is for methods with a sample'
expect_status 0 kspec norm x.npy --sample 9
expect_stderr 'sample has no effect: it is for methods with a sample'
expect_status 0 kspec norm k.csv --gram --features 9
expect_stderr 'features has no effect: it is for methods with random'
expect_status 0 kspec norm x.npy --method nystrom,rff-power --features 9 --sample 9 --repeat 2
expect 'used options give no such warning' sh -c '! grep -q "has no effect" stderr'
expect_error 2 'orthogonal frequencies are for rff-power' \
    kspec norm x.npy --method power --frequencies orthogonal
expect_error 2 'it needs --features auto' kspec norm x.npy --error 0.1
expect_error 2 'a wanted error needs the method rff-power' kspec norm x.npy --method lanczos --features auto
expect_error 2 "'both' must be one of rows, cols" kspec norm x.npy --unit both
expect_error 2 '5000 features exceed 4096' kspec norm x.npy --method rff-debiased --sigma 1 --features 5000
expect_error 2 'sample 401 exceeds the number of rows, 400' \
    kspec norm x.npy --method nystrom --sigma 1 --sample 401
expect_error 2 '--sample: 0 is below 1' kspec norm x.npy --method nystrom --sigma 1 --sample 0
expect_error 2 'a tolerance needs the method rff-debiased' \
    kspec norm x.npy --method rff-power --sigma 1 --tolerance 0.1
expect_error 2 '--tolerance: .-1. is not above 0' \
    kspec norm x.npy --method rff-debiased --sigma 1 --tolerance -1
expect_error 2 '--memory: -1 is not between 0 and 1e9' kspec norm x.npy --method power --sigma 1 --memory -1
expect_error 2 'one row has no median distance' kspec norm one.csv --method lanczos --sigma median
expect_error 2 '1e\+150 times sigma' kspec norm x.npy --method lanczos --sigma 1e-200
# where phases are noise all cosines come out as 1, and the norm as n
for m in rff-power rff-nystrom rff-debiased; do
    expect_error 2 '1e\+12 times sigma' kspec norm x.npy --method $m --sigma 1e-20
done
expect_status 0 kspec norm x.npy --method lanczos --sigma 1e-20 --json
expect_json 'close(j["results"][0]["value"], 1, 1e-12)'
printf '1,nan\n2,3\n' >nan.csv
expect_error 3 'missing|NaN' kspec norm nan.csv --method lanczos --sigma 1
py "np.save('t.npy', np.zeros((2, 4, 3)))"
expect_error 3 'one matrix, not 2 trials' kspec norm t.npy --method lanczos --sigma 1
done_testing
