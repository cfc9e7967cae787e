# An OpenBLAS that does not know the processor: the tool starts again, once, with OPENBLAS_CORETYPE set.
. "$(dirname "$0")/lib.sh"
unset OPENBLAS_CORETYPE

# A shim answers for OpenBLAS: its core is $CORE, or what OPENBLAS_CORETYPE says, or Prescott. It writes a
# line for each program that starts: process, name, whether our own variable is there ("after"), arguments.
cat >../shim.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *openblas_get_corename(void) {
    char *set = getenv("OPENBLAS_CORETYPE"), *core = getenv("CORE");
    return core ? core : set ? set : "Prescott";
}
char *openblas_get_config(void) {
    return getenv("ONE_CORE") ? "OpenBLAS 0.3.21 NO_AFFINITY" : "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY";
}
int execv(const char *path, char *const argv[]) {
    if (!getenv("NO_EXEC")) return execve(path, argv, environ);
    errno = EACCES;
    return -1;
}
__attribute__((constructor)) static void started(int argc, char **argv) {
    FILE *log = getenv("STARTS") ? fopen(getenv("STARTS"), "a") : NULL, *comm = fopen("/proc/self/comm", "r");
    char name[32] = "";
    if (log && comm && fscanf(comm, "%31s", name) == 1) {
        fprintf(log, "%d %s %s", (int)getpid(), name, getenv("KSPEC_CORE_BEFORE") ? "after" : "first");
        for (int i = 0; i < argc; i++) fprintf(log, " <%s>", argv[i]);
        fprintf(log, "\n");
    }
    if (log) fclose(log);
    if (comm) fclose(comm);
}
END
cc -shared -fPIC ../shim.c -o ../shim.so || exit 1
export STARTS=$work/starts
# the address sanitizer wants to be the first library otherwise
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
shim() {
    : >"$STARTS"
    LD_PRELOAD=$work/shim.so "$@"
}
expect_starts() { # how many, counting the programs called kspec only
    checks=$((checks + 1))
    local n
    n=$(grep -c '^[0-9]* kspec ' "$STARTS")
    [ "$n" -eq "$1" ] || fail "$n starts, not $1: $(cat "$STARTS")"
}

kspec config --json >"$out"
case $(grep -oE '"isa": "[a-z0-9]+"' "$out") in
*avx512*) core=SkylakeX ;;
*avx2*) core=Haswell ;;
*) skip "this processor has neither AVX2 nor AVX-512" ;;
esac

# what was found and done
expect_status 0 shim "$KSPEC" config
expect_starts 2
expect_stdout "^BLAS +OpenBLAS 0\.3\.21 $core \(restarted: OpenBLAS had detected Prescott\)\$"
expect "it stays one process" [ "$(cut -d' ' -f1 "$STARTS" | sort -u | wc -l)" -eq 1 ]
expect_status 0 shim "$KSPEC" config --json
expect_json "j['blas'] == 'OpenBLAS 0.3.21 $core' and j['blas_before'] == 'Prescott'"
expect_json 'j["blas_advice"] is None'
expect_status 0 shim env KSPEC_ISA=generic "$KSPEC" config --json
expect_json "j['isa'] == 'generic' and j['blas'] == 'OpenBLAS 0.3.21 $core'"

# what is kept: arguments, the name it was called by, standard input, closed files
printf '1,2,4\n3,5,1\n2,2,7\n6,1,1\n' >x.csv
OPENBLAS_CORETYPE=$core kspec moments x.csv --json --quiet -n 2 >want.json
shim "$KSPEC" moments - --json --quiet -n 2 <x.csv >pipe.json
expect_starts 2
expect "the result is that of the core" [ "$(result pipe.json)" = "$(result want.json | sed 's/x\.csv/-/')" ]
shim true
(export LD_PRELOAD="$work/shim.so" &&
    exec -a 'my kspec' "$KSPEC" moments 'a  b' $'c\nd' '' -n1) >"$out" 2>"$err"
expect "the empty argument stays" grep -q '^kspec: input 3 ' "$err"
expect_starts 2
expect "both have the same arguments" [ "$(grep -c ' <my kspec> <moments> <a  b> <c$' "$STARTS")" -eq 2 ]
expect "and all of them" [ "$(grep -cFx 'd> <> <-n1>' "$STARTS")" -eq 2 ]
shim "$KSPEC" config >&- 2>"$err"
expect "a closed output is an error" [ $? -eq 1 ]
expect "and is said" grep -q '^kspec: .*standard output' "$err"
shim "$KSPEC" config <&- >"$out" 2>&-
expect "other closed files are not" [ $? -eq 0 ]
expect_stdout '\(restarted: '

# a child, whose environment is empty, is no start of the tool
expect_status 0 shim "$KSPEC" moments "$fixtures/hdf5/single.h5" -n 1
expect_starts 2

# nothing is computed: nothing is restarted
for c in --version help 'help moments' 'moments -h'; do
    expect_status 0 shim "$KSPEC" $c
    expect_starts 1
done
expect_error 2 'unknown' shim "$KSPEC" moments --no-such-option
expect_starts 1

# the user's own choice stands
for set in Prescott Haswell ''; do
    expect_status 0 shim env OPENBLAS_CORETYPE="$set" "$KSPEC" config
    expect_stdout "^BLAS +OpenBLAS 0\.3\.21 $set \(OPENBLAS_CORETYPE=$set\)\$"
    expect_starts 1
done

# a core that fits, one that we do not know, a library built for one core: left alone
for c in CORE=SkylakeX CORE=Cooperlake CORE=Novel ONE_CORE=1; do
    expect_status 0 shim env $c "$KSPEC" config --json
    expect_json 'j["blas_before"] is None and j["blas_advice"] is None'
    expect_starts 1
done

# a library that does not follow: no loop
expect_status 0 shim env CORE=Nehalem "$KSPEC" config
expect_stdout '^BLAS +OpenBLAS 0\.3\.21 Nehalem \(restarted: OpenBLAS had detected Nehalem\)$'
expect_starts 2

# no restart is possible, or it fails: it goes on, and config says what to do
expect_status 0 shim env NO_EXEC=1 "$KSPEC" config
expect_stdout "^BLAS +OpenBLAS 0\.3\.21 Prescott \(slow on this processor: set OPENBLAS_CORETYPE=$core\)\$"
expect_starts 1
expect_status 0 shim env NO_EXEC=1 "$KSPEC" config --json
expect_json "j['blas_before'] is None and j['blas_advice'] == '$core'"
loader=$(readelf -l "$KSPEC" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
expect_status 0 shim "$loader" "$KSPEC" config
expect_stdout "set OPENBLAS_CORETYPE=$core"

# the file of the program may be gone
cp "$KSPEC" gone
(export LD_PRELOAD="$work/shim.so" && exec 3<gone && rm gone && exec /proc/self/fd/3 config --json) >"$out"
expect_json "j['blas_before'] == 'Prescott'"
done_testing
