/* Status and message: every failure in the library passes through ks_fail(). */
#pragma once

#include "kspec/base.h"

/* Fills err (if any) with code and the formatted message, and returns code: `return ks_fail(err, ...)`. */
kspec_status ks_fail(kspec_error *err, kspec_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Like ks_fail(), for a wrong field of the options. `value` suggests a value for the field unless it is NULL:
 * `return ks_refuse(err, KSPEC_E_ARG, "nan", "omit-rows", ...)`. A message names no flag of the tool.
 */
kspec_status ks_refuse(kspec_error *err, kspec_status code, const char *option, const char *setting,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Adds field and value to a failure that err already holds; returns st. */
kspec_status ks_about(kspec_error *err, const char *option, const char *setting, kspec_status st);

/* Copies the failure of another call or rank unchanged */
kspec_status ks_fail_again(kspec_error *err, const kspec_error *failure);

/*
 * ks_print() is snprintf() with a decimal point in every locale. ks_polish() cleans a finished message: it
 * replaces unprintable letters and turns "1 rows are" into "1 row is".
 */
void ks_print(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ks_polish(char *text);

/* Fails with KSPEC_E_NOMEM and a message that names the purpose and the amount of memory. */
kspec_status ks_nomem(kspec_error *err, const char *what, size_t bytes);

/*
 * The library's memory check: KSPEC_OK if the system reports `bytes` as free; otherwise KSPEC_E_NOMEM with
 * "WHAT needs X MB, Y MB are available", where the format gives WHAT. A computation that knows its need
 * checks before it starts.
 */
kspec_status ks_check_memory(kspec_error *err, size_t bytes, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* KSPEC_E_ARG, "WHAT is missing (NULL)", if the pointer is NULL. */
kspec_status ks_check_pointer(kspec_error *err, const void *pointer, const char *what);

/* kspec_name() of a status: never NULL */
const char *ks_status_name(kspec_status status);

/* The unit of memory in every message: 10^6 bytes. */
static inline double ks_megabytes(size_t bytes) { return (double)bytes / 1e6; }

/* Clears err; public functions do this first, so that a success leaves code = KSPEC_OK. */
void ks_clear(kspec_error *err);

/* Begins a public call: clears `err`, sets *out to NULL, and fails if `out` itself is NULL. */
#define ks_begin(err, out) \
    (ks_clear(err), (out) ? (*(out) = NULL, KSPEC_OK) : ks_check_pointer(err, NULL, "out"))

/*
 * Copies the caller's options over a zeroed struct. An older caller has a shorter struct, so that newer
 * fields keep their defaults. A newer caller's longer struct is accepted if all unknown fields are zero,
 * which is their default. NULL means all defaults. Fails if the size field is below 8, or above KS_OPTS_MAX:
 * no struct of options is that large, but a field that was never set probably exceeds it.
 */
enum { KS_OPTS_MAX = 4096 };
kspec_status ks_take_opts(void *ours, size_t our_size, const void *theirs, kspec_error *err);
