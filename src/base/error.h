/* Status and message: every failure in the library passes through ks_fail(). */
#pragma once

#include "kspec/base.h"

/* Fills err (if any) with code and the formatted message, and returns code: `return ks_fail(err, ...)`. */
kspec_status ks_fail(kspec_error *err, kspec_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about a field of the options, with a value for it unless that is NULL: `return ks_refuse(err,
 * KSPEC_E_ARG, "nan", "omit-rows", ...)`. A message names no flag of the tool. */
kspec_status ks_refuse(kspec_error *err, kspec_status code, const char *option, const char *setting,
                       const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Names both in a failure that there is already; returns st. */
kspec_status ks_about(kspec_error *err, const char *option, const char *setting, kspec_status st);

/* The failure of another call or rank, as it is */
kspec_status ks_fail_again(kspec_error *err, const kspec_error *failure);

/* snprintf() with a decimal point in whatever locale; and what a finished message goes through: printable
 * letters alone, "1 row is" for "1 rows are". */
void ks_print(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ks_polish(char *text);

/* The same with KSPEC_E_NOMEM and a message that says how much was wanted, for what. */
kspec_status ks_nomem(kspec_error *err, const char *what, size_t bytes);

/*
 * The one memory check: KSPEC_OK where the system says that `bytes` are free; else KSPEC_E_NOMEM with
 * "WHAT needs X MB, Y MB are available", where WHAT comes from the format. A computation that knows what it
 * needs asks first.
 */
kspec_status ks_check_memory(kspec_error *err, size_t bytes, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* KSPEC_E_ARG, "WHAT is missing (NULL)", unless there is a pointer. */
kspec_status ks_check_pointer(kspec_error *err, const void *pointer, const char *what);

/* The unit of every message about memory: 10^6 bytes. */
static inline double ks_megabytes(size_t bytes) { return (double)bytes / 1e6; }

/* Clears err; public functions do this first, so that a success leaves code = KSPEC_OK. */
void ks_clear(kspec_error *err);

/* Begins a public call: clears `err`, sets *out to NULL, and fails where `out` itself is NULL. */
#define ks_begin(err, out) \
    (ks_clear(err), (out) ? (*(out) = NULL, KSPEC_OK) : ks_check_pointer(err, NULL, "out"))

/*
 * Copies the caller's options over a zeroed struct: an older caller's shorter struct leaves the newer fields
 * at their defaults. A newer caller's longer struct is accepted where all that we do not know is zero, its
 * default. NULL options are all defaults. Fails where the size field is below 8 or above KS_OPTS_MAX, which
 * no struct of options has and a field that was never set probably exceeds.
 */
enum { KS_OPTS_MAX = 4096 };
kspec_status ks_take_opts(void *ours, size_t our_size, const void *theirs, kspec_error *err);
