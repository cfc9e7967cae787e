/* Results with an arena of their own, and lists of pointers. */
#include "base/result.h"
#include "help/failing_alloc.h"
#include "test.h"

typedef struct {
    double value;
    int number;
} item;

typedef struct {
    size_t count;
    item **items;
    double *numbers;
} owner;

static owner *make(size_t count) {
    owner *o = ks_result_new(sizeof *o);
    if (!o) return NULL;
    CHECK(o->count == 0 && !o->items && !o->numbers);
    o->items = ks_arena_list(ks_result_arena(o), count, sizeof **o->items);
    o->numbers = ks_arena_alloc(ks_result_arena(o), count, sizeof *o->numbers);
    if (o->items && o->numbers) return o;
    kspec_free(o);
    return NULL;
}

TEST(one_call_frees_all) {
    failing_alloc_install();
    owner *o = make(5);
    o->count = 5;
    for (int k = 0; k < 5; k++) {
        CHECK(o->items[k]->value == 0 && o->items[k]->number == 0);
        *o->items[k] = (item){k, k};
    }
    for (int k = 0; k < 5; k++) CHECK(o->items[k]->value == k && o->items[k]->number == k);
    kspec_free(o);
    kspec_free(NULL);
    CHECK(failing_alloc_live() == 0);
    o = make(0); /* an empty list is a list */
    CHECK(o && o->items);
    kspec_free(o);
    failing_alloc_uninstall();
}

TEST(memory_is_out) {
    failing_alloc_install();
    for (long k = 0; k < 4; k++) { /* the struct, the pointers, the items, the numbers */
        failing_alloc_arm(k);
        CHECK(make(5) == NULL);
        CHECK_MSG(failing_alloc_live() == 0, "%ld", k);
    }
    failing_alloc_arm(4);
    owner *o = make(5);
    CHECK(o != NULL);
    kspec_free(o);
    failing_alloc_arm(1000);
    CHECK(make(SIZE_MAX / 4) == NULL && failing_alloc_live() == 0); /* a product that overflows */
    failing_alloc_uninstall();
}

int main(void) {
    RUN(one_call_frees_all);
    RUN(memory_is_out);
    return test_done();
}
