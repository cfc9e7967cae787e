/* Lists the table of random streams. */
#include "base/streams.h"

#define TERA            ((uint64_t)1 << 40)
#define HUNDRED_MILLION ((uint64_t)100000000)

/*
 * Each use of random numbers has a first stream and a number of streams. The ranges of `generate` never
 * change, because reference files depend on them.
 */
/* clang-format off */
const ks_stream_range ks_stream_ranges[KS_STREAM_COUNT] = {
    [KS_STREAM_INPUTS]        = {1, 1},
    [KS_STREAM_WEIGHTS]       = {2, 1},
    [KS_STREAM_PHASES]        = {3, 1},
    [KS_STREAM_FIELD]         = {4, 1},
    [KS_STREAM_NOISE]         = {1000, 1000000000 - 1000},
    [KS_STREAM_NOISE_ROW]     = {TERA, TERA},
    [KS_STREAM_NOISE_COL]     = {2 * TERA, TERA},

    [KS_STREAM_ROW_ORDER]     = {1000000000, HUNDRED_MILLION},
    [KS_STREAM_COL_ORDER]     = {1100000000, HUNDRED_MILLION},
    [KS_STREAM_ASSIGNMENT]    = {1200000000, HUNDRED_MILLION},
    [KS_STREAM_SPLIT]         = {2000000000, HUNDRED_MILLION},
    [KS_STREAM_RAGGED]        = {(uint64_t)1 << 60, (uint64_t)1 << 60},

    [KS_STREAM_DRAWS]         = {1900000000, 1},
    [KS_STREAM_GROUPS]        = {1900000001, 1},

    [KS_STREAM_FREQUENCIES]   = {2200000000, HUNDRED_MILLION},
    [KS_STREAM_SCALES]        = {3400000000, HUNDRED_MILLION},
    [KS_STREAM_TURNS]         = {2300000000, HUNDRED_MILLION},
    [KS_STREAM_MEDIAN]        = {4100000000, 1},

    [KS_STREAM_SAMPLE]        = {2100000000, HUNDRED_MILLION},
    [KS_STREAM_START]         = {2400000000, HUNDRED_MILLION},
    [KS_STREAM_FEATURE_ORDER] = {2500000000, 8 * HUNDRED_MILLION},

    [KS_STREAM_RIDGE]         = {3 * TERA, TERA},
    [KS_STREAM_RIDGE_PHASES]  = {32 * TERA, TERA},
    [KS_STREAM_RIDGE_SCALES]  = {30 * TERA, TERA},
    [KS_STREAM_TEST_NOISE]    = {UINT64_MAX, 1},
    [KS_STREAM_RIDGE_ROWS]    = {33 * TERA, TERA},
    [KS_STREAM_RIDGE_CLASSES] = {31 * TERA, 1},

    [KS_STREAM_WLS_TRUTH]     = {4 * TERA, TERA},
    [KS_STREAM_WLS_NOISE]     = {5 * TERA, TERA},

    [KS_STREAM_WLS_NTK]       = {29 * TERA, 2},

    [KS_STREAM_CURVE]         = {6 * TERA, 2},
    [KS_STREAM_CHECK]         = {6 * TERA + 2, 1},
    [KS_STREAM_PERMUTED]      = {6 * TERA + 3, 1},
    [KS_STREAM_BLOCKS]        = {6 * TERA + 4, 1},
    [KS_STREAM_NOISE_ROWS]    = {6 * TERA + 5, 1},

    [KS_STREAM_RESERVOIR]     = {34 * TERA, 256 * TERA},

    [KS_STREAM_LEARN]         = {(uint64_t)1 << 62, (uint64_t)1 << 62},
};
/* clang-format on */
