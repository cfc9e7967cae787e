/* The registry of random streams: no two uses share one, and generate's stay where they are. */
#include "base/streams.h"
#include "test.h"

static int overlap(ks_stream_range a, ks_stream_range b) {
    /* last stream of each, since first + count may be 2^64 */
    return a.first <= b.first + (b.count - 1) && b.first <= a.first + (a.count - 1);
}

TEST(the_test_sees_an_overlap) {
    CHECK(overlap((ks_stream_range){10, 5}, (ks_stream_range){14, 1}));
    CHECK(overlap((ks_stream_range){14, 1}, (ks_stream_range){10, 5}));
    CHECK(!overlap((ks_stream_range){10, 5}, (ks_stream_range){15, 9}));
    CHECK(!overlap((ks_stream_range){UINT64_MAX, 1}, (ks_stream_range){0, UINT64_MAX}));
}

TEST(no_two_uses_share_a_stream) {
    for (int a = 0; a < KS_STREAM_COUNT; a++) {
        ks_stream_range r = ks_stream_ranges[a];
        CHECK_MSG(r.count > 0 && r.first + (r.count - 1) >= r.first, "use %d has no streams, or wraps", a);
        for (int b = 0; b < a; b++)
            CHECK_MSG(!overlap(r, ks_stream_ranges[b]), "uses %d and %d share a stream", a, b);
    }
}

/* Files made by `kspec generate` are compared with others made years later. */
TEST(generate_keeps_its_streams) {
    CHECK(ks_stream(KS_STREAM_INPUTS, 0) == 1 && ks_stream(KS_STREAM_WEIGHTS, 0) == 2);
    CHECK(ks_stream(KS_STREAM_PHASES, 0) == 3 && ks_stream(KS_STREAM_FIELD, 0) == 4);
    CHECK(ks_stream(KS_STREAM_NOISE, 7) == 1007);
    CHECK(ks_stream(KS_STREAM_NOISE_ROW, 7) == ((uint64_t)1 << 40) + 7);
    CHECK(ks_stream(KS_STREAM_NOISE_COL, 7) == ((uint64_t)2 << 40) + 7);
}

int main(void) {
    RUN(the_test_sees_an_overlap);
    RUN(no_two_uses_share_a_stream);
    RUN(generate_keeps_its_streams);
    return test_done();
}
