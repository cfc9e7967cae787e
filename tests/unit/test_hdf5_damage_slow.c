/* As test_hdf5_damage.c, with more mutants; KSPEC_MUTANTS says how many of each fixture (default 100). */
#include "help/hdf5_damage.h"

TEST(mutants) {
    damage_tally t = {0};
    const char *set = getenv("KSPEC_MUTANTS");
    damage_replay(1000, set ? strtoull(set, NULL, 10) : 100, &t);
    damage_report("mutants", &t);
}

int main(void) {
    damage_limits();
    RUN(mutants);
    return test_done();
}
