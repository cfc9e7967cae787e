/* Doubts about a dimension, in whichever result it stands. */
#pragma once

#include "base/doubt.h"

typedef struct {
    /* the dimension, NaN where it is undefined, and its standard error, NaN where there is none */
    double value, std_error;
    /* the estimates that it is the ratio of */
    double square, moment;
    /* why it cannot be defined, such as "every entry is 0", or NULL */
    const char *constant;
} ks_doubted;

void ks_doubt_dimension(ks_doubts to, const char *where, const ks_doubted *d);
