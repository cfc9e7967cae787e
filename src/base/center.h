/*
 * Handles the option `center` of every call. A call first replaces DEFAULT by its usual value. In a call
 * without a usual value, DEFAULT means no centring.
 */
#pragma once

#include "base/error.h"

/* Replaces DEFAULT by `usual`, and fails for an unknown value. */
static inline kspec_status ks_center_resolve(kspec_center *center, kspec_center usual, kspec_error *err) {
    if (*center < KSPEC_CENTER_DEFAULT || *center > KSPEC_CENTER_BOTH)
        return ks_fail(err, KSPEC_E_ARG, "unknown center %d", (int)*center);
    if (*center == KSPEC_CENTER_DEFAULT) *center = usual;
    return KSPEC_OK;
}

static inline int ks_centred(kspec_center center) { return center > KSPEC_CENTER_NONE; }

static inline int ks_rows_centred(kspec_center center) {
    return center == KSPEC_CENTER_ROWS || center == KSPEC_CENTER_BOTH;
}

static inline int ks_cols_centred(kspec_center center) {
    return center == KSPEC_CENTER_COLS || center == KSPEC_CENTER_BOTH;
}
