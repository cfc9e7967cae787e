/* Damaged HDF5 and MATLAB files: a small sample of mutants, and files that are known to crash the libraries.
 */
#include "help/hdf5_damage.h"

/* Each differs in one byte from a fixture, and crashes HDF5 1.10.8. Another version may read it or refuse it.
 */
TEST(known_crashes) {
    static const char *const cases[][2] = {{"compound.h5", ""}, {"type.h5", ""}, {"chunk.h5", "gzip_f4"}};
    damage_tally t = {0};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char path[4096];
        ks_array a;
        snprintf(path, sizeof path, "%s/tests/fixtures/malformed/%s", TEST_SOURCE_DIR, cases[c][0]);
        CHECK(access(path, R_OK) == 0);
        if (damage_read(path, cases[c][1], 0, cases[c][0], &a, &t) == KSPEC_OK) ks_array_free(&a);
    }
    damage_report("known", &t);
}

/* An attribute MATLAB_class that is not one string is not MATLAB's: it once overran our own buffer */
TEST(an_attribute_of_many_strings) {
    char path[4096];
    ks_array a;
    kspec_error err;
    snprintf(path, sizeof path, "%s/tests/fixtures/malformed/attribute.h5", TEST_SOURCE_DIR);
    CHECK_MSG(ks_hdf5_read(path, "", 0, path, &a, &err) == KSPEC_OK, "%s", err.msg);
    CHECK(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3 &&
          a.data[2 * a.stride[1]] == 2); /* and not transposed */
    ks_array_free(&a);
}

TEST(mutants) {
    damage_tally t = {0};
    damage_replay(0, 8, &t);
    damage_report("mutants", &t);
}

int main(void) {
    damage_limits();
    RUN(known_crashes);
    RUN(an_attribute_of_many_strings);
    RUN(mutants);
    return test_done();
}
