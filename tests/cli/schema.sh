# docs/schema/NAME.json is what kspec NAME --json prints: the outputs of every command, with the options that
# add keys, are valid; and a key that goes, comes or changes its type is not.
. "$(dirname "$0")/lib.sh"
"$python" -c 'import jsonschema' 2>/dev/null ||
    skip "no jsonschema for Python; run 'sh scripts/setup.sh test'"

py 'r = np.random.default_rng(1)
def save(name, *shape): np.save(name, r.normal(size=shape))
save("x.npy", 12, 9); save("x2.npy", 12, 9); save("t.npy", 3, 8, 6); save("y.npy", 12); save("w.npy", 16)
np.save("lab.npy", np.arange(12) % 3); save("y12.npy", 12, 7); np.save("y2.npy", r.normal(size=(12, 2)))
np.savez("z.npz", a=r.normal(size=(7, 5)), b=np.ones((4, 4)))
np.savetxt("h.csv", r.normal(size=(9, 4)), delimiter=",", header="a,b,c,d", comments="")
g = r.normal(size=(6, 6)); np.save("g.npy", g @ g.T); np.save("s.npy", np.eye(2))
np.save("images.npy", r.uniform(0, 255, size=(40, 9)).round()); np.save("labels.npy", np.arange(40) % 3)
m = r.normal(size=(12, 9)); m[3, 2] = np.nan; np.save("nan.npy", m)
np.save("cov9.npy", np.ones(9)); np.save("const.npy", np.ones((5, 4))); np.save("two.npy", np.ones((3, 2)))
k = r.normal(size=(3, 12, 9)); k[2, 4] = np.nan; np.save("ragged.npy", k)'
cp images.npy i.npy
cp labels.npy l.npy
printf 'x.npy\nboth\tx.npy\tx2.npy\n' >list.txt
printf 'x.npy\nx2.npy\n' >plain.txt
printf '%s\n' a a b b c c d d e e f f >rows.txt
printf '%s\n' a a b b c c d d e >cols.txt
seq 60 | awk 'NR % 2 { print int(NR / 4) }' >cols30.txt
kspec generate linear --rows 60 --cols 40 --eigenvalue 3,2,1,0.5 --noise 0.3 --trials 3 --seed 2 -o rec.npy
kspec generate linear --rows 40 --cols 30 --eigenvalue 3,2,1 --seed 2 -o low.npy
kspec moments low.npy --json -o m.json --quiet
kspec theory rbf --eta 1,2 --json -o truth.json
made() { kspec "$@" --json --quiet -o "$1.json"; }
made compare x.npy x2.npy
made norm x.npy --method rff-power,rff-debiased --repeat 3
made ridge x.npy --target y.npy --features 5,20 --lambda 0,1 --empirical 3
made wls --grid 8 --learn 3,12 --gamma 1 --noise 0.1 --empirical 3
made spectrum low.npy --center
kspec compare x.npy x2.npy y12.npy --json --quiet -o square.json
mkdir results

n=0
while read -r line; do
    case $line in '' | '#'*) continue ;; esac
    n=$((n + 1))
    # shellcheck disable=SC2086
    expect_status 0 kspec $line --json --quiet
    cp "$out" results/$n.json
done <<'END'
moments x.npy
moments low.npy --estimator all --bound --scale-free --truth truth.json --permutations 3
moments rec.npy --trial-scheme assignment --normalize
moments rec.npy --center
moments x.npy x2.npy --no-stderr --sampled rows
moments x.npy --population-rows 50 --population-cols 40 -n 2
moments x.npy --groups rows.txt --col-groups cols.txt -n 2
moments x.npy --block 2 --standardize -n 2
moments nan.npy --nan pairwise -n 2
moments nan.npy --nan omit-rows
moments ragged.npy --nan ragged-trials -n 2
moments const.npy
moments z.npz:a --select-cols 0-3 --select-rows 1-
moments h.csv
moments @list.txt
dimension x.npy
dimension x.npy --plan 200x50
dimension rec.npy --curve
dimension low.npy --no-center
dimension low.npy --center=cols
dimension x.npy --target y2.npy
dimension h.csv --target b
dimension nan.npy --nan pairwise
dimension x.npy --groups rows.txt --col-groups cols.txt
dimension x.npy --block 2 --standardize
dimension --label a x.npy --label b t.npy
dimension t.npy --axes batch,rows,cols
dimension const.npy
compare x.npy x2.npy
compare x.npy t.npy --paired none
compare x.npy x2.npy --block 2 --standardize
compare low.npy rec.npy --no-center --paired none
compare --label a x.npy --label b x2.npy --label c y12.npy
compare rec.npy --axes batch,rows,cols
compare rec.npy rec.npy --axes batch,rows,cols --sampled rows
spectrum low.npy
spectrum rec.npy --count 5 --center
spectrum low.npy --noise 0 --exponent 1-3
spectrum low.npy --truth cov9.npy
spectrum low.npy --method moments
spectrum low.npy --method moments --rank 5 -n 4 --weights stderr
spectrum rec.npy --method cvpca
spectrum rec.npy --method newton --rank 3
spectrum --moments 6,14,36 --method newton --rank 3
spectrum --moments 1,0.5,0.3 --rank 4
spectrum low.npy --block 2 --col-groups cols30.txt -n 2
spectrum --moments m.json
spectrum @list.txt
estimate X[i,a]X[j,a] X=x.npy
estimate X1[i,a]X2[i,a] X=rec.npy --no-stderr --population i=100
estimate X[i,a]X[j,a]X[j,b]X[i,b] --label X x.npy --explain --leave-one-out --complete a
norm x.npy
norm x.npy --method eigen,power,lanczos,rff-power,nystrom,rff-nystrom,rff-debiased --repeat 3 --draws
norm g.npy --gram
norm x.npy --kernel matern --nu 0.7 --frequencies orthogonal --unit rows --features auto --error 0.3
norm x.npy --gamma 0.5 --kernel laplace --standardize --tolerance 0.9 --method rff-debiased
norm @plain.txt --method lanczos --sigma 1
ridge x.npy --target y.npy --features 5,20 --lambda 0,1 --empirical 3
ridge x.npy --target y2.npy --test x.npy --test-target y2.npy --features 5 --lambda 1 --center --scale
ridge x.npy --target y.npy --test-noise 0.1 --features 5 --lambda 1e-3,1 --optimize lambda --sigma median
ridge x.npy --target y.npy --test-noise 0.1 --features 5 --lambda 0.1 --optimize features
ridge x.npy --target 2 --check
ridge x.npy --target y.npy --test-fraction 0.3 --features 5 --lambda 0.1 --activation relu --density
ridge x.npy --target y.npy --features 5 --lambda 0.1 --bilinear y.npy,y.npy --density
ridge x.npy --target y.npy --test-fraction 0.3 --features 5 --lambda 0.1 --kernel matern --nu 0.5
ridge x.npy --target lab.npy --classes all --test x.npy --test-target lab.npy --features 5 --lambda 1
wls --grid 8 --learn 3,12 --gamma 1 --noise 0.1 --empirical 3
wls select --grid 8 --modes 16 --gamma 1
wls select --grid 8 --learn 3 --modes 16 --gamma 1 --noise 0.1 --best-weights
wls bound --zeta 1 --grid 8 --learn 1-8 --alpha 0.5 --beta 0.5 --gamma 1 --noise 0.1
wls fit w.npy --learn 3,20 --at w.npy
wls fit w.npy --learn 3 --gamma 1 --noise 0.1 --modes 32
wls fit w.npy
wls fit w.npy --learn 3
wls fit w.npy --basis fourier --learn 3
wls fit x.npy --x 0 --target 1 --at w.npy --beta 2
wls fit y2.npy --complex --noise 0.3 --stop-at-noise
wls features x.npy --target y.npy
wls features x.npy --target y.npy --ntk 7
wls theory --grid 9 --learn 2,12 --noise-spectrum cov9.npy
wls features x.npy --target y.npy --learn 3,5 --prior cov9.npy
wls decay x.npy
learn --images images.npy --labels labels.npy --test-images images.npy --width 4,6 --epochs 2 -n 2 --seeds 2
learn --images images.npy --labels labels.npy --test-images images.npy --width 8 --epochs 1 --subsample 4
learn --images i.npy --labels l.npy --test-images i.npy --test-labels l.npy --width 4 --epochs 1
theory rbf --eta 1
theory rbf --sigma s.npy --eigenvalues 3
theory rbf --eta 1 --dim 2 --eigenfunctions two.npy
theory linear --eigenvalue 1,2
theory sphere --kernel ntk --dim 3 --degree 4
theory sphere --kernel gaussian --dim 3
theory sphere --kernel polynomial --dim 3 --power 2
generate rff --rows 4 --cols 3 --dim 2 -o made.npy
generate gaussian --rows 4 --cols 3 --sigma s.npy --trials 2 --noise 1 -o made.npy
generate linear --rows 4 --cols 3 --dim 2 -o made.npy
report rec.npy -o report.html
report nan.npy --nan pairwise -o report.html
plot m.json -o m.svg
plot m.json -o m.gp --title t
plot m.json truth.json
plot truth.json
plot compare.json
plot square.json
plot norm.json
plot ridge.json
plot wls.json
plot spectrum.json
config
END

expect "every object is what its schema says" "$python" "$KSPEC_SOURCE/tests/cli/schema.py" \
    "$KSPEC_SOURCE/docs/schema" results
[ -z "${KSPEC_SCHEMA_KEEP:-}" ] || cp results/*.json "$KSPEC_SCHEMA_KEEP"
expect "every command has a schema" diff \
    <(ls "$KSPEC_SOURCE/docs/schema" | sed -n 's/\.json$//p' | sort) \
    <(kspec help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p' | grep -vx completion | sed s/plot/figure/ | sort)
done_testing
