# Sizes at which there is less to share out than there are ranks, and every kind of input. Failures count,
# too: they must be the same ones.
. "$(dirname "$0")/../cli/lib.sh"

for size in 1x9 9x1 1x1 2x2 3x70 65x2 130x67; do
    kspec generate rff --rows ${size%x*} --cols ${size#*x} --dim 3 -o $size.npy
    kspec generate rff --rows ${size%x*} --cols ${size#*x} --dim 3 --seed 5 -o other$size.npy
done
seq 1 130 | awk '{ print $1 % 3 }' >labels.csv
seq 1 130 | awk '{ print $1 % 7 "," ($1 * $1) % 11 }' >two.csv
head -n 2 two.csv >rows2.csv
head -n 2 labels.csv >labels2.csv
head -n 1 two.csv >row.csv
head -n 65 two.csv >65.csv
printf '130x67.npy\n2x2.npy\n' >list
head -n 130 labels.csv >groups.txt
while read -r what; do
    # shellcheck disable=SC2086
    "$KSPEC" $what --json >"$out" 2>"$err" </dev/null
    expect "$what ends by itself" [ $? -lt 128 ]
done <<'END'
moments 1x9.npy
moments 9x1.npy
moments 1x1.npy
moments 2x2.npy
moments 2x2.npy --estimator all -n 2
moments 3x70.npy --estimator all -n 3
moments 65x2.npy --estimator all -n 2
moments 65x2.npy --estimator path -n 2 --side given
moments 65x2.npy --estimator path -n 2 --side transposed
moments 1x9.npy --estimator naive -n 3
moments 9x1.npy --estimator naive,kv-row,path -n 1
moments 130x67.npy --estimator all -n 5
moments 130x67.npy --estimator all -n 3 --no-stderr
moments 130x67.npy other130x67.npy --estimator path,exact -n 4
moments 130x67.npy other130x67.npy --center -n 4
moments 130x67.npy --groups groups.txt --estimator path -n 4
moments 130x67.npy --groups groups.txt --estimator exact -n 2
moments 130x67.npy --population-rows 200 --population-cols 100 -n 3
moments 130x67.npy --select-rows 0-0 -n 1
moments 130x67.npy --select-cols 3-3 -n 1
moments two.csv -n 2
moments @list -n 2
norm 1x9.npy --sigma 1
norm 9x1.npy --sigma 1 --method lanczos,power,nystrom
norm 2x2.npy --sigma 1 --method eigen
norm 65x2.npy --sigma median --method lanczos,power,nystrom,rff-power,rff-debiased --features 3
norm 130x67.npy --sigma 2 --method power --features 70
norm row.csv --sigma 1
ridge 1x9.npy --target 1x1.npy --features 3 --lambda 1
ridge 9x1.npy --target other9x1.npy --features 4 --lambda 1 --empirical 1
ridge 65x2.npy --target 65.csv --features 5,2 --lambda 1 --empirical 2 --test 65x2.npy --test-target 65.csv
ridge 130x67.npy --target two.csv --features 60 --lambda 1 --empirical 8
learn --images two.csv --labels labels.csv --test-images two.csv --width 5 --seeds 1 --epochs 1
learn --images rows2.csv --labels labels2.csv --width 3,2 --seeds 2 --epochs 2
learn --images two.csv --labels labels.csv --width 4,3 --seeds 5 --epochs 1
spectrum 2x2.npy
spectrum 1x9.npy
spectrum 3x70.npy
spectrum 65x2.npy --draws 1
spectrum 130x67.npy
spectrum 130x67.npy --method moments --draws 3
spectrum 130x67.npy --method free
dimension 1x9.npy
dimension 9x1.npy
dimension 2x2.npy
dimension 65x2.npy --curve
dimension 130x67.npy --curve
dimension 130x67.npy --groups groups.txt
dimension @list
compare 1x9.npy other1x9.npy
compare 9x1.npy other9x1.npy
compare 2x2.npy other2x2.npy
compare 65x2.npy other65x2.npy
compare 130x67.npy other130x67.npy 130x67.npy
wls theory --grid 5 --learn 1
wls theory --grid 30 --learn 4,40,17 --empirical 1
wls select --grid 5
wls select --grid 20
wls --grid 30 --learn 4
wls bound --zeta 1 --grid 30 --learn 5 --beta 1
report 2x2.npy -o page.html
report 65x2.npy -o page.html
END
# every one of a list runs by itself; at least these must succeed
for what in "moments 65x2.npy --estimator path -n 2" "norm 9x1.npy --sigma 1" "dimension 130x67.npy"; do
    # shellcheck disable=SC2086
    expect_status 0 kspec $what
done
done_testing
