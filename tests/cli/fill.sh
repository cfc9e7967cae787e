# --fill: values that mean missing become missing; --nan then decides.
. "$(dirname "$0")/lib.sh"
make() { # file, expression of i and j
    awk "BEGIN { for (i = 0; i < 12; i++)
                    for (j = 0; j < 6; j++) printf \"%s%s\", $2, j < 5 ? \",\" : \"\n\" }" >"$1"
}
value='((i * 7 + j * j * 3 + i * j * 5) % 11 - 5.25)'
make full.csv "$value"
make gap.csv "(i == 3 && j == 2 ? \"\" : $value)"
make mark.csv "(i == 3 && j == 2 ? \"-999\" : $value)"
make long.csv "(i == 3 && j == 2 ? \"9.9692099683868690e36\" : i == 5 && j == 1 ? \"-999\" : $value)"

# the same as a gap that is empty, under every policy
for nan in error omit-rows omit-cols; do
    for command in "moments -n 2" dimension "spectrum -n 2" "compare full.csv"; do
        [ "$command$nan" != "compare full.csvomit-rows" ] || continue
        for x in gap mark; do
            fill=
            [ $x = gap ] || fill='--fill -999'
            kspec $command $x.csv --nan $nan $fill --json >$x.json 2>$x.err
            echo $? >>$x.json
            sed -i 's/(--.*//' $x.err
            sed -E -i '/"(seconds|command_line)"/d; s/(gap|mark)\.csv//g' $x.json $x.err
        done
        expect "$command --nan $nan" cmp -s gap.json mark.json
    done
done
expect_error 3 'mark.csv: 1 missing value, the first at row 3, column 2 .*--nan omit-rows' \
    kspec dimension mark.csv --fill -999
expect_status 0 kspec dimension mark.csv --fill -999 --nan pairwise --json
expect_json 'j["missing"] == 1'
expect_status 0 kspec dimension full.csv --fill -999 --json
expect_json 'j["input"]["missing_count"] == 0'

# as it is printed, and as float32 has it; several
for x in 9.96921e36 9.96921e+36 9.969209968386869e36; do
    expect_error 3 'long.csv: 2 missing values' kspec dimension long.csv --fill $x,-999
done
expect_error 3 'long.csv: 1 missing value, the first at row 5' kspec dimension long.csv --fill=-999
expect_error 3 'full.csv: 1 missing value' \
    kspec dimension full.csv --fill 5.75,-5.25,4.125,100 --select-rows 0,1 --select-cols 0
expect_error 2 "--fill: 'x' is not a number" kspec dimension full.csv --fill x
expect_error 2 '--fill needs an INPUT, not --moments' kspec spectrum --moments 1,1 --fill 1

# the doubt about a mark names the option that helps
expect_status 0 kspec dimension mark.csv
expect_stderr '1 value is -999, .*--fill -999'

# of an .npy file, mapped or not, the file stays as it is
"$python" - <<'END'
import struct, sys
rows = [[float(v or "nan") for v in line.split(",")] for line in open("mark.csv")]
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
head += " " * (117 - len(head)) + "\n"
with open("mark.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    for row in rows:
        f.write(struct.pack("<%dd" % len(row), *row))
END
cp mark.npy before.npy
expect_status 0 kspec dimension mark.npy --fill -999 --nan omit-rows --json
expect_json 'j["rows"] == 11'
expect "the file is untouched" cmp -s mark.npy before.npy

# report hands it on; ridge takes complete rows
expect_status 0 kspec report mark.csv --fill -999 --nan omit-rows -n 2 -o page.html
expect_error 3 '1 missing value' kspec ridge mark.csv --target 0 --fill -999
done_testing
