/* Writes error messages, copies options, and names the statuses. */
#include "base/error.h"

#include "base/letters.h"
#include "base/memory.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Prints numbers with a decimal point, regardless of the program's locale. */
static void print(char *text, size_t size, const char *fmt, va_list ap) {
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (plain) before = uselocale(plain);
    vsnprintf(text, size, fmt, ap);
    if (plain) uselocale(before), freelocale(plain);
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Turns "1 rows are" into "1 row is". Messages count things, and their texts are in the plural. */
static void make_singular(char *text) {
    static const char *const things[] = {"rows",   "columns", "trials",      "values",   "points", "groups",
                                         "labels", "moments", "eigenvalues", "features", "draws"};
    for (char *p = text; (p = strstr(p, "1 ")); p++) {
        if (p > text && strchr("0123456789.,-", p[-1])) continue;
        for (size_t k = 0; k < sizeof things / sizeof *things; k++) {
            size_t n = strlen(things[k]);
            char *end = p + 2 + n, *to = end - 1;
            if (strncmp(p + 2, things[k], n) != 0 || is_letter(*end)) continue;
            if (strncmp(end, " are ", 5) == 0) {
                memcpy(to, " is ", 4);
                to += 4, end += 5;
            }
            memmove(to, end, strlen(end) + 1);
            break;
        }
    }
}

void ks_print(char *text, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    print(text, size, fmt, ap);
    va_end(ap);
}

void ks_polish(char *text) {
    ks_copy_printable(text, text, strlen(text));
    make_singular(text);
}

static void set(kspec_error *err, kspec_status code, const char *fmt, va_list ap) {
    if (!err) return;
    ks_clear(err);
    err->code = code;
    print(err->msg, sizeof err->msg, fmt, ap);
    ks_polish(err->msg);
}

kspec_status ks_fail(kspec_error *err, kspec_status code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    set(err, code, fmt, ap);
    va_end(ap);
    return code;
}

kspec_status ks_refuse(kspec_error *err, kspec_status code, const char *option, const char *setting,
                       const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    set(err, code, fmt, ap);
    va_end(ap);
    return ks_about(err, option, setting, code);
}

kspec_status ks_about(kspec_error *err, const char *option, const char *setting, kspec_status st) {
    if (!err) return st;
    snprintf(err->option, sizeof err->option, "%s", option ? option : "");
    snprintf(err->setting, sizeof err->setting, "%s", setting ? setting : "");
    return st;
}

kspec_status ks_fail_again(kspec_error *err, const kspec_error *failure) {
    if (err) *err = *failure;
    return failure->code;
}

kspec_status ks_nomem(kspec_error *err, const char *what, size_t bytes) {
    if (bytes == SIZE_MAX) return ks_fail(err, KSPEC_E_NOMEM, "%s is too large for the address space", what);
    return ks_fail(err, KSPEC_E_NOMEM, "out of memory: %s needs %.1f MB", what, ks_megabytes(bytes));
}

kspec_status ks_check_memory(kspec_error *err, size_t bytes, const char *what, ...) {
    size_t have = ks_memory_for(bytes);
    if (bytes <= have) return KSPEC_OK;
    char name[256];
    va_list ap;
    va_start(ap, what);
    vsnprintf(name, sizeof name, what, ap);
    va_end(ap);
    if (bytes == SIZE_MAX) return ks_nomem(err, name, bytes);
    return ks_fail(err, KSPEC_E_NOMEM, "%s needs %.1f MB, %.1f MB are available", name, ks_megabytes(bytes),
                   ks_megabytes(have));
}

kspec_status ks_check_pointer(kspec_error *err, const void *pointer, const char *what) {
    return pointer ? KSPEC_OK : ks_fail(err, KSPEC_E_ARG, "%s is missing (NULL)", what);
}

void ks_clear(kspec_error *err) {
    if (err) {
        err->code = KSPEC_OK;
        err->msg[0] = err->option[0] = err->setting[0] = 0;
    }
}

kspec_status ks_take_opts(void *ours, size_t our_size, const void *theirs, kspec_error *err) {
    memset(ours, 0, our_size);
    if (!theirs) return KSPEC_OK;
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size || size > KS_OPTS_MAX)
        return ks_fail(err, KSPEC_E_ARG,
                       "options: size field is %zu, not the sizeof of a struct of options (8 to %d)", size,
                       KS_OPTS_MAX);
    for (size_t k = our_size; k < size; k++)
        if (((const unsigned char *)theirs)[k])
            return ks_fail(err, KSPEC_E_ARG,
                           "options: the field at byte %zu (size %zu) is set, but this library (%s) knows "
                           "only the first %zu bytes",
                           k, size, KSPEC_VERSION, our_size);
    memcpy(ours, theirs, size < our_size ? size : our_size);
    return KSPEC_OK;
}

const char *ks_status_name(kspec_status status) {
    switch (status) {
    case KSPEC_OK: return "ok";
    case KSPEC_E_ARG: return "argument out of range";
    case KSPEC_E_NOMEM: return "out of memory";
    case KSPEC_E_NUMERIC: return "computation failed";
    case KSPEC_E_DATA: return "data do not fit";
    case KSPEC_E_IO: return "reading or writing a file failed";
    case KSPEC_E_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

const char *kspec_version(void) { return KSPEC_VERSION; }
