/* Reports failures by a status and a message. Every failure in the library passes through ks_fail(). */
#pragma once

#include "kspec/base.h"

/*
 * Fills err, unless it is NULL, with the code and the formatted message, and returns the code. Functions end
 * with `return ks_fail(err, ...)`.
 */
kspec_status ks_fail(kspec_error *err, kspec_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Does the same as ks_fail() for a wrong field of the options. `value` suggests a value for the field unless
 * it is NULL: `return ks_refuse(err, KSPEC_E_ARG, "nan", "omit-rows", ...)`. The message must not name a flag
 * of the command-line tool.
 */
kspec_status ks_refuse(kspec_error *err, kspec_status code, const char *option, const char *setting,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds field and value to a failure that err already contains. Returns st. */
kspec_status ks_about(kspec_error *err, const char *option, const char *setting, kspec_status st);

/* Copies the failure of another call or rank unchanged. */
kspec_status ks_fail_again(kspec_error *err, const kspec_error *failure);

/*
 * ks_print() is snprintf() with a decimal point in every locale. ks_polish() replaces unprintable letters in
 * a finished message, and turns "1 rows are" into "1 row is".
 */
void ks_print(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ks_polish(char *text);

/* Fails with KSPEC_E_NOMEM and a message that names the purpose and the amount of memory. */
kspec_status ks_nomem(kspec_error *err, const char *what, size_t bytes);

/*
 * Checks whether the system reports `bytes` as free. If not, fails with KSPEC_E_NOMEM and "WHAT needs X MB, Y
 * MB are available", where the format gives WHAT. A computation that knows its need calls this function
 * before it starts.
 */
kspec_status ks_check_memory(kspec_error *err, size_t bytes, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with KSPEC_E_ARG and "WHAT is missing (NULL)" if the pointer is NULL. */
kspec_status ks_check_pointer(kspec_error *err, const void *pointer, const char *what);

/* Returns the name of a status, for kspec_name(). The name is never NULL. */
const char *ks_status_name(kspec_status status);

/* Converts bytes to megabytes of 10^6 bytes, the unit of memory in every message. */
static inline double ks_megabytes(size_t bytes) { return (double)bytes / 1e6; }

/* Clears err. Public functions call this first, so that err->code is KSPEC_OK after a success. */
void ks_clear(kspec_error *err);

/* Begins a public call. The macro clears `err`, sets *out to NULL, and fails if `out` itself is NULL. */
#define ks_begin(err, out) \
    (ks_clear(err), (out) ? (*(out) = NULL, KSPEC_OK) : ks_check_pointer(err, NULL, "out"))

/*
 * Copies the caller's options over a zeroed struct. An older caller has a shorter struct, so that newer
 * fields keep their defaults. A newer caller's longer struct is accepted if all unknown fields are zero,
 * which is their default. NULL means all defaults. The function fails if the size field is below 8 or above
 * KS_OPTS_MAX. No struct of options is that large, but a field that was never set probably exceeds it.
 */
enum { KS_OPTS_MAX = 4096 };
kspec_status ks_take_opts(void *ours, size_t our_size, const void *theirs, kspec_error *err);
