/*
 * The text reader and the selection: the first line, where the input begins with '@', is the selection of
 * columns. What the reader makes of a text must not depend on whether a row is counted or scanned, nor on how
 * lines end: a text without quotes that is read, is read alike with \r\n for \n.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_other_ends(const unsigned char *data, size_t size, const char *select,
                             const ks_array *want) {
    unsigned char *copy = malloc(2 * size + 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n') copy[n++] = '\r';
        copy[n++] = data[i];
    }
    ks_bytes bytes = {.data = copy, .size = n};
    ks_array a;
    if (ks_text_parse(&bytes, select, "fuzz", &a, NULL) || a.shape[0] != want->shape[0] ||
        a.shape[1] != want->shape[1] ||
        memcmp(a.data, want->data, a.shape[0] * a.shape[1] * sizeof *a.data) != 0)
        __builtin_trap();
    ks_array_free(&a);
    free(copy);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    char select[256], *selected = NULL;
    const unsigned char *line = size && data[0] == '@' ? memchr(data, '\n', size) : NULL;
    if (line && line - data < 250) {
        size_t len = (size_t)(line - data) - 1;
        memcpy(select, data + 1, len);
        select[len] = 0;
        selected = select;
        size -= len + 2;
        data = line + 1;
    }
    ks_bytes bytes = {.data = data, .size = size};
    ks_array array;
    kspec_error err;
    kspec_status status = ks_text_parse(&bytes, selected, "fuzz", &array, &err);
    if (!status && !memchr(data, '"', size) && !memchr(data, '\r', size))
        check_other_ends(data, size, selected, &array);
    if (!status && array.col_names)
        for (size_t j = 0; j < array.shape[1]; j++)
            if (strlen(array.col_names[j]) > size) __builtin_trap();
    if (status && (!err.msg[0] || strchr(err.msg, '\n'))) __builtin_trap();
    fuzz_use(status, &array);
    return 0;
}
