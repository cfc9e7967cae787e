# What the commands of the Makefile install, and what `make test` says of tests that skip.
. "$(dirname "$0")/lib.sh"

# ---- packages: on a system where none is installed, with programs that note what they are asked for ----
mkdir "$work/bin"
printf '#!/bin/sh\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\n[ "$1" != install ] || echo "$@" >>"%s"\n' "$work/installed" >"$work/bin/apt-get"
printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
chmod +x "$work"/bin/*
wanted() { # group...: sets $packages; where this is not Debian 12, to those that the script names
    rm -f "$work/installed"
    env -u KSPEC_NO_SETUP PATH="$work/bin:$PATH" sh "$KSPEC_SOURCE/scripts/setup.sh" "$@" >"$out" 2>"$err"
    packages=" $(cat "$work/installed" "$err" 2>/dev/null | tr '\n' ' ') "
}
has() { case $packages in *" $1 "*) ;; *) return 1 ;; esac; }
lacks() { ! has "$1"; }

wanted
for p in gcc cmake libopenblas-dev libmatio-dev python3; do expect "the build needs $p" has $p; done
for p in python3-numpy python3-scipy python3-h5py clang mandoc gnuplot-nox curl clang-format cppcheck
do
    expect "the build does not need $p" lacks $p
done
wanted test
for p in python3-numpy python3-scipy python3-h5py clang mandoc; do expect "tests need $p" has $p; done
expect "tests alone do not need gcc" lacks gcc
wanted build data lint pictures
for p in gcc curl clang-format cppcheck gnuplot-nox; do expect "one of four groups needs $p" has $p; done
wanted nothing
expect_stderr "^kspec: unknown group 'nothing'; must be one of build, test, .*, data, lint, .*, docs$"
expect "nothing is installed" [ ! -e "$work/installed" ]
# the build alone installs nothing: it names the command and stops
missing() { env -u KSPEC_NO_SETUP PATH="$work/bin:$PATH" sh "$KSPEC_SOURCE/scripts/setup.sh" "$@" 2>"$err"; }
expect "a package that is missing ends the check" eval '! missing --check build'
expect "the check installs nothing" [ ! -e "$work/installed" ]
if grep -q 'ID="*debian' /etc/os-release && grep -q 'VERSION_ID="*12' /etc/os-release; then
    expect_stderr '^    apt-get update && apt-get install -y --no-install-recommends gcc .* libmatio-dev$'
    said=$(missing data)
    expect "the command is said before it runs" [ "$said" = \
        'kspec: packages are missing: apt-get install -y --no-install-recommends curl ca-certificates' ]
    expect "and it ran" grep -q '^install .* curl ca-certificates$' "$work/installed"
fi

# a system without dpkg: programs in the path are not missing
mkdir "$work/other"
for p in sh sed tr id curl gcc; do ln -s "$(command -v $p)" "$work/other/$p"; done
other() { env -u KSPEC_NO_SETUP PATH="$work/other" sh "$KSPEC_SOURCE/scripts/setup.sh" "$@" 2>"$err"; }
expect "make data runs on any system with curl" other data
expect "a compiler alone is not enough" eval '! other --check build'
expect "the list has what is missing" grep -q ' libopenblas-dev' "$err"
expect "it has nothing that is in the path" eval '! grep -qw gcc "$err"'

groups() { # target: the groups that it sets up
    env -u MAKEFLAGS -u MAKELEVEL make -n -C "$KSPEC_SOURCE" "$1" |
        sed -n 's/^sh scripts\/setup\.sh //p' | tr '\n' ' '
}
expect "make installs nothing" [ "$(groups all)" = '--check build ' ]
expect "make setup installs what the build needs" [ "$(groups setup)" = 'build ' ]
expect "make bench sets up the build" [ "$(groups bench)" = 'build ' ]
expect "make python-test sets up" [ "$(groups python-test)" = 'build test ' ]
expect "make faults-quick sets up" [ "$(groups faults-quick)" = 'build test ' ]
expect "make test sets up the tests" [ "$(groups test)" = 'build test pictures ' ]
expect "make fuzz sets up the fuzzers" [ "$(groups fuzz)" = 'build test ' ]
expect "make lint sets up what looks at code" [ "$(groups lint)" = 'lint ' ]
expect "make demo sets up pictures" [ "$(groups demo)" = 'build pictures ' ]
expect "make data sets up curl" [ "$(groups data)" = 'data ' ]

# ---- a release: every place names the same version ----
sh "$KSPEC_SOURCE/scripts/release.sh" --dry-run >"$out" 2>"$err"
expect "the release checklist passes" [ $? -eq 0 ]
expect "it looked at five places" [ "$(grep -c '^ok ' "$out")" -eq 5 ]
mkdir -p copy/include/kspec copy/packaging/debian copy/scripts
cp "$KSPEC_SOURCE/include/kspec/base.h" copy/include/kspec
cp "$KSPEC_SOURCE/packaging/debian/changelog" copy/packaging/debian
cp "$KSPEC_SOURCE/scripts/release.sh" copy/scripts
cp "$KSPEC_SOURCE/CHANGELOG.md" copy
sed 's/^version: .*/version: 9.9.9/' "$KSPEC_SOURCE/CITATION.cff" >copy/CITATION.cff
sh copy/scripts/release.sh --dry-run >"$out" 2>"$err"
expect "another version in one place fails it" [ $? -eq 1 ]
expect_stdout "^      CITATION.cff says '9.9.9'"
sh "$KSPEC_SOURCE/scripts/release.sh" --now 2>"$err"
expect "an option that it lacks is wrong usage" [ $? -eq 2 ]

# ---- what was skipped ----
tests() { # lines of CMake: runs these tests as make test does
    printf '%s\n' "$@" >CTestTestfile.cmake
    sh "$KSPEC_SOURCE/scripts/test.sh" . -j 2 >"$out" 2>&1
}
fine='add_test(fine "sh" "-c" "echo fine")'
part='add_test(part "sh" "-c" "echo ok && echo \"skip: no x/y; run z\"")'
whole='add_test(whole "sh" "-c" "echo \"skip: no x/y; run z\" && exit 77")
set_tests_properties(whole PROPERTIES SKIP_RETURN_CODE 77)'
wrong='add_test(wrong "sh" "-c" "exit 1")'
expect "tests that pass" tests "$fine"
expect "nothing is called skipped" eval '! grep -q skipped: "$out"'
expect "tests that skip" tests "$fine" "$part" "$whole"
expect_stdout '^skipped: no x/y; run z \((part, whole|whole, part)\)$'
expect_stdout 'out of 3$'
expect "a test that fails" eval '! tests "$part" "$wrong"'
expect_stdout '^skipped: no x/y; run z \(part\)$'
done_testing
