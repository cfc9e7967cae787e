# make data, against a mirror made here: what it cuts, checks and stores, and how it fails. Where the real
# files are at hand, a mirror of them yields them.
. "$(dirname "$0")/lib.sh"
unset KSPEC_DATA_URL
real=${KSPEC_DATA:-}
export KSPEC_DATA=$work/data

sum() { sha256sum "$1" | cut -d ' ' -f 1; }
stored() { (cd "$KSPEC_DATA" && find . -type f | sort | tr '\n' ' '); }
fetch() { # status: runs the script on the table of this test, or on that of $table
    local status=0
    KSPEC_DATA_URL=file://$work/mirror sh "$KSPEC_SOURCE/scripts/data.sh" "${table-$work/table}" \
        >"$out" 2>"$err" || status=$?
    expect "make data ends with $status, not $1: $(cat "$err")" [ $status -eq "$1" ]
}

# 7 images of 2 x 3 pixels, their labels, and a text; kept are 4 images, 4 labels, all of the text
"$python" - <<'END'
import struct
images, labels = bytes(range(42)), bytes(range(7))
def idx(*shape): return struct.pack(f">{len(shape) + 1}I", 0x800 + len(shape), *shape)
open("images", "wb").write(idx(7, 2, 3) + images)
open("labels", "wb").write(idx(7) + labels)
open("images4", "wb").write(idx(4, 2, 3) + images[:24])
open("labels4", "wb").write(idx(4) + labels[:4])
open("text", "w").write("1;2\n3;4\n")
END
cat >"$work/table" <<END
# a comment, and an empty line

Images|https://nowhere.invalid/all-images.gz|pictures/four-images.gz|4|$(sum images4)
Images|https://nowhere.invalid/all-labels.gz|pictures/four-labels.gz|4|$(sum labels4)
Text|https://nowhere.invalid/text.csv|text/text.csv|-|$(sum text)
END
everything='./pictures/four-images.gz ./pictures/four-labels.gz ./text/text.csv '

# originals: one compressed under its own name, one not; and a file under the name that it is stored by
mkdir -p "$work/mirror/pictures" "$work/mirror/text"
gzip -c images >"$work/mirror/pictures/all-images.gz"
cp labels "$work/mirror/pictures/all-labels"
cp text "$work/mirror/text/text.csv"
fetch 0
expect_stdout '^Images: pictures/four-images\.gz$'
expect_stdout '^3 files are in .*, 3 of them new$'
expect "three files are stored" [ "$(stored)" = "$everything" ]
expect "the images are cut" eval 'gzip -dc "$KSPEC_DATA/pictures/four-images.gz" | cmp - images4'
expect "the labels are cut" eval 'gzip -dc "$KSPEC_DATA/pictures/four-labels.gz" | cmp - labels4'
expect "the text is whole" cmp "$KSPEC_DATA/text/text.csv" text

# what is there is left alone, even without a mirror or a right to write
chmod -R a-w "$KSPEC_DATA"
mv "$work/mirror" "$work/away"
find "$KSPEC_DATA" -printf '%p %T@ %i\n' >before
fetch 0
expect_stdout '^3 files are in .*, 0 of them new$'
expect "nothing is touched" eval 'find "$KSPEC_DATA" -printf "%p %T@ %i\n" | cmp - before'
mv "$work/away" "$work/mirror"
chmod -R u+w "$KSPEC_DATA"

# a file that is damaged is fetched anew; one already cut is taken as it is
head -c 20 images4 >"$KSPEC_DATA/pictures/four-images.gz"
rm "$work/mirror/pictures/all-images.gz"
cp images4 "$work/mirror/pictures/four-images"
fetch 0
expect_stdout '^3 files are in .*, 1 of them new$'
expect "the images are mended" eval 'gzip -dc "$KSPEC_DATA/pictures/four-images.gz" | cmp - images4'

# a missing file and a wrong one: each in one line, the others are fetched, and nothing partial is left
rm -r "$KSPEC_DATA" "$work/mirror/pictures/four-images"
echo '1;2' >"$work/mirror/text/text.csv"
fetch 1
expect_stderr "^kspec: pictures/four-images\.gz: cannot fetch file://.*/pictures/four-images\.gz: curl: "
expect_stderr "^kspec: text/text\.csv: SHA-256 is $(sum "$work/mirror/text/text.csv"), expected $(sum text)$"
expect_stderr '^kspec: 2 of 3 files are missing in .*KSPEC_DATA_URL'
expect "the list names both" [ "$(tail -n 2 "$err" | xargs)" = 'pictures/four-images.gz text/text.csv' ]
expect "three complaints and the list" [ "$(wc -l <"$err")" -eq 5 ]
expect "the labels alone are stored" [ "$(stored)" = './pictures/four-labels.gz ' ]

# too few rows, a file that is not idx, a compressed one that ends early: all are wrong
"$python" -c 'import struct; open("few", "wb").write(struct.pack(">4I", 0x803, 3, 2, 3) + bytes(18))'
gzip -c images | head -c 40 >early
for spoilt in few text early; do
    cp $spoilt "$work/mirror/pictures/all-images.gz"
    rm -rf "$KSPEC_DATA"
    fetch 1
    expect_stderr "^kspec: pictures/four-images\.gz: SHA-256 is [0-9a-f]{64}, expected $(sum images4)$"
done

# nothing at all: no folder is left
rm -r "$KSPEC_DATA" "$work/mirror"
fetch 1
expect_stderr '3 of 3 files are missing'
expect "no folder is left" [ ! -e "$KSPEC_DATA" ]

# the table of the project, and the files at hand
table=$KSPEC_SOURCE/scripts/data.txt
expect "every line of the table is whole" eval \
    '! grep -vE "^(#.*)?$|^[^|]+\|https://[^| ]+\|[a-z0-9]+/[^/|]+\|(-|[0-9]+)\|[0-9a-f]{64}$" "$table"'
files=$(grep '^[^#]' "$table" | cut -d '|' -f 3)
if KSPEC_DATA=$real find_data $files; then
    ln -s "$(cd "$data" && pwd)" "$work/mirror"
    fetch 0
    expect_stdout "^$(echo "$files" | wc -l) files are in .*, $(echo "$files" | wc -l) of them new$"
    for file in $files; do
        expect "$file is as it was" eval 'cmp <(gzip -dcf "$data/$file") <(gzip -dcf "$KSPEC_DATA/$file")'
    done
fi
done_testing
