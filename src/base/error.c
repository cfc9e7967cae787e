#include "base/error.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

kspec_status ks_fail(kspec_error *err, kspec_status code, const char *fmt, ...) {
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->code = code;
        vsnprintf(err->msg, sizeof err->msg, fmt, ap);
        va_end(ap);
    }
    return code;
}

kspec_status ks_nomem(kspec_error *err, const char *what, size_t bytes) {
    if (bytes == SIZE_MAX) return ks_fail(err, KSPEC_E_NOMEM, "%s is too large for the address space", what);
    return ks_fail(err, KSPEC_E_NOMEM, "out of memory: %s needs %.1f MiB", what, (double)bytes / 1048576.0);
}

kspec_status ks_check_memory(kspec_error *err, const char *what, size_t bytes) {
    size_t have = ks_memory_available();
    if (bytes <= have) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_NOMEM, "%s needs %zu MB, %zu MB are available", what, bytes >> 20,
                   have >> 20);
}

void ks_clear(kspec_error *err) {
    if (err) {
        err->code = KSPEC_OK;
        err->msg[0] = 0;
    }
}

kspec_status ks_take_opts(void *ours, size_t our_size, const void *theirs, kspec_error *err) {
    memset(ours, 0, our_size);
    if (!theirs) return KSPEC_OK;
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size || size > our_size)
        return ks_fail(err, KSPEC_E_ARG, "options: size field is %zu, this library (%s) knows 8 to %zu", size,
                       KSPEC_VERSION, our_size);
    memcpy(ours, theirs, size);
    return KSPEC_OK;
}

const char *kspec_status_name(kspec_status status) {
    switch (status) {
    case KSPEC_OK: return "ok";
    case KSPEC_E_ARG: return "argument out of range";
    case KSPEC_E_NOMEM: return "out of memory";
    case KSPEC_E_NUMERIC: return "computation failed";
    case KSPEC_E_IO: return "input or output failed";
    case KSPEC_E_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

const char *kspec_version(void) { return KSPEC_VERSION; }
