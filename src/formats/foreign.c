/* Recognises files of other programs by their first bytes. */
#include "formats/foreign.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int begins(const ks_bytes *b, const char *with) {
    return b->size >= strlen(with) && memcmp(b->data, with, strlen(with)) == 0;
}

/*
 * Returns whether the name of the zip archive's first member ends in this way. PyTorch and Excel files begin
 * with members of special names.
 */
static int first_member_ends(const ks_bytes *b, const char *with) {
    enum { LOCAL = 30 };
    size_t length = b->size >= LOCAL ? b->data[26] | (size_t)b->data[27] << 8 : 0, n = strlen(with);
    return length >= n && b->size - LOCAL >= length && memcmp(b->data + LOCAL + length - n, with, n) == 0;
}

const char *ks_foreign(const ks_bytes *b) {
    if (begins(b, "PAR1")) return "a Parquet file";
    if (begins(b, "ARROW1")) return "an Arrow (Feather) file";
    if (begins(b, "PK\3\4") && first_member_ends(b, "/data.pkl")) return "a PyTorch file";
    if (begins(b, "PK\3\4") && first_member_ends(b, "[Content_Types].xml")) return "an Excel file";
    /* A pickle begins with its protocol, 2 to 5, and ends with the opcode STOP. */
    if (b->size > 2 && b->data[0] == 0x80 && b->data[1] >= 2 && b->data[1] <= 5 &&
        memchr(b->data, '.', b->size))
        return "a Python pickle";
    return NULL;
}

const char *ks_foreign_folder(const char *path) {
    static const char *const marks[] = {".zarray", ".zgroup", "zarr.json"};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        char mark[4096];
        struct stat st;
        if (snprintf(mark, sizeof mark, "%s/%s", path, marks[k]) < (int)sizeof mark && stat(mark, &st) == 0)
            return "a Zarr store";
    }
    return NULL;
}

kspec_status ks_foreign_refuse(const char *kind, const char *name, kspec_error *err) {
    return ks_fail(err, KSPEC_E_IO,
                   "%s is %s, which the tool does not read; in Python, load it and pass the array to the "
                   "package kspec, or numpy.save() it",
                   name, kind);
}
