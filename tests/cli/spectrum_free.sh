# Eigenvalues from moments without a rank, moments from a file of kspec moments, and known eigenvalues.
. "$(dirname "$0")/lib.sh"

# two levels: their numbers come from six moments alone
moments=$("$python" -c 'print(",".join(repr(3 + 12 * 0.2**n) for n in range(1, 7)))')
expect_status 0 kspec spectrum --moments "$moments" --upper 1 --json
expect_json 'j["method"] == "moments" and j["free_mass"] is True and j["rank"] == 15'
expect_json 'close(j["number"], 15, 1e-6) and j["number_ci_low"] is None and j["warnings"] == []'
expect_json 'all(abs(x - (1 if k < 3 else 0.2)) < 1e-9 for k, x in enumerate(j["eigenvalues"]))'
expect_json 'close(sum(j["mass"]), j["number"], 1e-12) and j["distance_unit"] == "m(1) B^(n-1)"'
expect_json 'all(close(sum(p * s ** n for p, s in zip(j["mass"], j["support"])),
    j["moments_fitted"][n - 1], 1e-9) for n in range(1, 7))'
expect_json 'all(close(sum(x ** n for x in j["eigenvalues"]), j["moments_listed"][n - 1], 1e-12)
    for n in range(1, 7))'
expect_status 0 kspec spectrum --moments "$moments" --upper 1
expect_stdout '^number of eigenvalues 15: the smallest number that has these moments$'
expect_stdout '^   n  moment given   std. error       fitted  of the list$'
expect_error 2 'quantiles need a rank.* \(--rank\)$' kspec spectrum --moments "$moments" --quantile midpoint
# a rank is as before
expect_status 0 kspec spectrum --moments "$moments" --upper 1 --rank 15 --json
expect_json 'j["free_mass"] is False and "number" not in j and close(sum(j["mass"]), 1, 1e-12)'

# of a matrix: as many as the draws have, of which min(rows, columns) are printed
kspec generate linear --rows 60 --cols 50 --dim 10 --eigenvalue 0.5 --seed 1 -o x.npy
expect_status 0 kspec spectrum x.npy --method moments --json
expect_json 'j["free_mass"] and j["draws"] == 200 and len(j["eigenvalues"]) == 50 <= j["rank"]'
expect_json 'j["number_ci_low"] < j["number"] < j["number_ci_high"] and 8 < j["number"] < 13'
expect_json 'sorted(j["eigenvalues"], reverse=True) == j["eigenvalues"] and j["warnings"] == []'
expect_status 0 kspec spectrum x.npy --method moments --count 3
expect_stdout '^   …  [0-9]+ more, down to '
expect_stdout '^number of eigenvalues 1[0-9.]+ \([0-9.]+ … [0-9.]+\): the smallest'

# the list has its own moments: to half the largest eigenvalue's power, and three errors of the given ones
kspec generate rff --rows 100 --cols 120 --dim 4 --eta 1 --seed 3 -o features.npy
expect_status 0 kspec spectrum features.npy --method moments --json --count 5000
expect_json 'not any("do not have" in w for w in j["warnings"]) and len(j["eigenvalues"]) == j["rank"]'
expect_json 'all(abs(m - f) <= 0.1 * f + 0.5 * j["eigenvalues"][0] ** n
    for n, m, f in zip(range(1, 7), j["moments_listed"], j["moments"]))'
expect_json 'all(a <= x <= b for a, x, b in zip(j["ci_low"], j["eigenvalues"], j["ci_high"]))'
# entries whose squares vanish
py 'np.save("tiny.npy", np.load("x.npy") * 1e-200)'
for rank in '' '--rank 5'; do
    expect_error 1 'm\(1\) is below the smallest double; scale the data \(--normalize\)' \
        kspec spectrum tiny.npy --method moments $rank
done

# moments from kspec moments: values, errors and their correlation
kspec moments x.npy --json -o m.json
expect_status 0 kspec spectrum --moments m.json --json
expect_json 'j["input"]["moments"]["path"] == "m.json" and j["weights"] == "covariance" and j["draws"] == 200'
expect_json '[e["value"] for e in json.load(open("m.json"))["estimates"]] == j["moments"]'
expect_json '[e["stderr"] for e in json.load(open("m.json"))["estimates"]] == j["moments_stderr"]'
# ... as kspec spectrum itself has them: with the same upper end the same bits
kspec spectrum x.npy --rank 10 --upper 1 --json -o direct.json
expect_status 0 kspec spectrum --moments m.json --rank 10 --upper 1 --json
expect_json 'j["eigenvalues"] == json.load(open("direct.json"))["eigenvalues"]'
kspec spectrum x.npy --rank 10 --upper 1 -n 3 --json -o direct.json
expect_status 0 kspec spectrum --moments m.json --rank 10 --upper 1 -n 3 --json
expect_json 'all(close(a, b, 1e-9) for a, b in
    zip(j["eigenvalues"], json.load(open("direct.json"))["eigenvalues"]))'
# without a correlation, without errors, with one missing
"$python" -c 'import json; j = json.load(open("m.json")); del j["correlation"]
json.dump(j, open("i.json", "w"))'
expect_status 0 kspec spectrum --moments i.json --json
expect_json 'j["weights"] == "covariance" and j["draws"] == 200'
kspec moments x.npy -n 2 --no-stderr --json -o n.json
expect_status 0 kspec spectrum --moments n.json --json
expect_json 'j["weights"] == "unit" and j["draws"] == 0 and j["warnings"] == []'
kspec generate linear --rows 4 --cols 9 --dim 2 -o small.npy
kspec moments small.npy --json -o gap.json
expect_status 0 kspec spectrum --moments gap.json --json --quiet
expect_json 'j["draws"] == 0 and any("m(4) has no error bar" in w for w in j["warnings"])'
expect_status 0 kspec spectrum --moments gap.json -n 3 --json --quiet
expect_json 'j["draws"] == 200'

# moments that no measure has, and lists that are not theirs
expect_status 0 kspec spectrum --moments 1,-0.1 --upper 1 --json
expect_json '"no measure on (0, 1]" in j["warnings"][0] and "finer grid" in j["warnings"][0]'
expect_status 0 kspec spectrum --moments 0.1,0.05 --upper 1 --json
expect_json 'j["rank"] == 1 and j["eigenvalues"] == [0] and "those of 0.2 eigenvalues" in j["warnings"][0]'
expect_status 0 kspec spectrum --moments -1,-0.1 --upper 1 --json
expect_json 'j["eigenvalues"] == [0] and any("m(1) = -1 is not positive" in w for w in j["warnings"])'
expect_status 0 kspec spectrum --moments 1,1e-9 --upper 1 --spacing geometric --json
expect_json 'len(j["eigenvalues"]) == 4096 and j["number"] > 9e5'
expect_json 'any("the list ends at the 4096-th largest eigenvalue" in w for w in j["warnings"])'
expect_error 2 'no moment is positive' kspec spectrum --moments -1,-2
kspec moments x.npy -n 3 --estimator naive,path --json -o two.json
expect_error 3 'estimate 4 of two.json is not of order 4; run kspec moments with one --estimator' \
    kspec spectrum --moments two.json
expect_error 2 '--stderr: m.json already contains standard errors' \
    kspec spectrum --moments m.json --stderr 1,1
expect_error 2 '-n: 7 exceeds the 6 moments' kspec spectrum --moments m.json -n 7
expect_error 2 '--draws needs error bars' kspec spectrum --moments n.json --draws 9
echo '{"estimates": [{"n": 1, "value": null}]}' >null.json
expect_error 3 'm\(1\) of null.json is not a number' kspec spectrum --moments null.json

# known eigenvalues beside: a column, a row, a result
printf '0.5\n0.5\n0.25\n' >t.csv
expect_status 0 kspec spectrum x.npy --rank 10 --truth t.csv
expect_stdout ' truth$'
expect_stdout '^   3 .* 0\.25$'
expect_stdout '^   4 .* 0$'
py 'np.save("row.npy", np.array([[0.25, 0.5, 0.5]]))'
for file in t.csv row.npy; do
    expect_status 0 kspec spectrum x.npy --rank 10 --truth $file --json
    expect_json "j['truth'] == [0.5, 0.5, 0.25] and j['input']['truth']['path'] == '$file'"
done
kspec theory rbf --eta 4 -n 8 --eigenvalues 6 --json -o theory.json
expect_status 0 kspec spectrum x.npy --rank 10 --truth theory.json --json
expect_json 'len(j["truth"]) == 6'
py 'np.save("square.npy", np.ones((2, 3)))'
expect_error 3 '--truth: square.npy is 2 x 3; one row or one column' kspec spectrum x.npy --truth square.npy
echo -1 >negative.csv
expect_error 3 'eigenvalue 1 of negative.csv is -1, below 0' kspec spectrum x.npy --truth negative.csv
expect_error 3 'nothing.npy' kspec spectrum x.npy --truth nothing.npy
expect_error 3 'missing "eigenvalues"' kspec spectrum x.npy --truth m.json
done_testing
