/* A checkpoint's folder: what was kept comes back, and whatever else is there is refused by name. */
#include "base/digest.h"
#include "base/memory.h"
#include "team/store.h"
#include "test.h"
#include "kspec/host.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNKS = 7, DEALT = 10 };
static const char *const dir = "keep-checkpoint";
static const char who[] = "test 1\ninputs 2\n";

/* A loop's results: one number per chunk, and ten of 3 bytes, dealt out */
typedef struct {
    double one[CHUNKS];
    unsigned char dealt[DEALT][3], have[CHUNKS];
    ks_share shares[2];
} results;

static ks_stored_loop loop_of(results *r, uint64_t number) {
    *r = (results){.shares = {{r->one, sizeof(double), CHUNKS, 1}, {r->dealt, 3, DEALT, 0}}};
    return (ks_stored_loop){number, "loop", CHUNKS, r->shares, 2, r->have, {0, CHUNKS}};
}

static void compute(results *r) {
    for (int c = 0; c < CHUNKS; c++) r->one[c] = c + 0.5;
    for (int k = 0; k < DEALT; k++) memset(r->dealt[k], 'a' + k, 3);
}

static void in_folder(char path[200], const char *name) { snprintf(path, 200, "%s/%s", dir, name); }

static void remove_folder(void) {
    DIR *d = opendir(dir);
    char path[200];
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && snprintf(path, sizeof path, "%s/%.100s", dir, e->d_name) > 0 &&
            unlink(path))
            rmdir(path);
    if (d) closedir(d);
    rmdir(dir);
}

/* A checkpoint with chunks 1 and 4 of loop 1, in a part each */
static void make(void) {
    ks_store *k;
    kspec_error err;
    results r;
    const ks_stored_loop l = loop_of(&r, 1);
    remove_folder();
    ks_store_interval = 0;
    CHECK(ks_store_open(&k, dir, who, 0, &err) == KSPEC_OK);
    CHECK(ks_store_begin(k, &l, &err) == KSPEC_OK);
    compute(&r);
    CHECK(ks_store_add(k, &l, 1, &err) == KSPEC_OK && ks_store_add(k, &l, 4, &err) == KSPEC_OK);
    ks_store_close(k);
    ks_store_interval = 1;
}

/* The status of a loop that begins with what is there, and its message */
static kspec_status begin(results *r, uint64_t number, int rank, kspec_error *err) {
    ks_store *k;
    const ks_stored_loop l = loop_of(r, number);
    kspec_status st = ks_store_open(&k, dir, who, rank, err);
    if (!st) st = ks_store_begin(k, &l, err);
    ks_store_close(k);
    return st;
}

TEST(what_was_kept_comes_back) {
    results r, right;
    kspec_error err;
    compute(&right);
    make();
    CHECK(begin(&r, 1, 1, &err) == KSPEC_OK);
    for (int c = 0; c < CHUNKS; c++) {
        const int kept = c == 1 || c == 4;
        CHECK(r.have[c] == kept && r.one[c] == (kept ? right.one[c] : 0));
    }
    for (int k = 0; k < DEALT; k++) {
        const unsigned char none[3] = {0};
        const int kept = k % CHUNKS == 1 || k % CHUNKS == 4;
        CHECK(memcmp(r.dealt[k], kept ? right.dealt[k] : none, 3) == 0);
    }
    CHECK(begin(&r, 2, 0, &err) == KSPEC_OK && r.have[1] == 0); /* nothing is of loop 2 */
    remove_folder();
}

/* Chunks that are done wait for their second; what takes less than a tenth of it is not kept. */
TEST(parts_are_written_seldom) {
    ks_store *k;
    kspec_error err;
    results r;
    const ks_stored_loop l = loop_of(&r, 1);
    remove_folder();
    CHECK(ks_store_open(&k, dir, who, 0, &err) == KSPEC_OK && ks_store_begin(k, &l, &err) == KSPEC_OK);
    for (size_t c = 0; c < CHUNKS; c++) CHECK(ks_store_add(k, &l, c, &err) == KSPEC_OK);
    CHECK(ks_store_flush(k, &l, &err) == KSPEC_OK);
    ks_store_close(k);
    CHECK(begin(&r, 1, 0, &err) == KSPEC_OK && r.have[0] == 0);
    remove_folder();
}

/* The folder with one file replaced by these bytes is refused with this message. */
static void refuse(const char *name, const void *bytes, size_t count, const char *message) {
    char path[200];
    kspec_error err = {0};
    results r;
    make();
    in_folder(path, name);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, count, f) == count);
    if (f) fclose(f);
    CHECK_FAILS(begin(&r, 1, 0, &err), KSPEC_E_IO, err, message);
    CHECK_MSG(strstr(err.msg, dir) != NULL, "%s", err.msg);
}

TEST(another_identity_is_refused) {
    refuse("identity", "test 1\ninputs 3\n", 16, "of another run: it has 'inputs 3', not 'inputs 2'");
    refuse("identity", "test 1\n", 7, "it has '', not 'inputs 2'");
    refuse("identity", "test 1\ninputs 2", 15, "identity is damaged");
    refuse("identity", "test 1\ninputs 2\n\0more", 21, "identity is damaged");
    refuse("identity", "", 0, "it has '', not 'test 1'");
    remove_folder();
}

/* Words of a part, with one of them changed and the checksum put right */
static void refuse_word(size_t at, uint64_t value, const char *message) {
    uint64_t w[40];
    char path[200];
    make();
    in_folder(path, "000001-loop-4.part");
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(w, 8, 40, f) : 0;
    if (f) fclose(f);
    CHECK(n > 8 && n < 40);
    if (n <= 8 || n >= 40) return;
    w[at] = value;
    w[n - 1] = ks_digest(KS_DIGEST, w, (n - 1) * 8);
    refuse("000001-loop-4.part", w, n * 8, message);
}

TEST(another_part_is_refused) {
    refuse("000001-loop-4.part", "", 0, "is damaged");
    refuse("000001-loop-4.part", "seven b", 7, "is damaged");
    refuse("000001-other-4.part", "", 0, "000001-other-4.part is of another run");
    refuse_word(0, 1, "is damaged");                 /* not a part */
    refuse_word(1, 2, "is damaged");                 /* of another version */
    refuse_word(2, 1, "is of another run");          /* identity */
    refuse_word(3, 2, "is of another run");          /* loop */
    refuse_word(4, CHUNKS + 1, "is of another run"); /* chunks */
    refuse_word(5, 2, "is of another run");          /* more records than there are */
    refuse_word(5, UINT64_MAX, "is of another run"); /* and many more */
    refuse_word(6, CHUNKS, "is of another run");     /* a chunk that the loop has not */
    refuse_word(7, 1000, "is of another run");       /* a record of another size */
    refuse_word(7, UINT64_MAX, "is of another run");
    remove_folder();
}

/* Files that cannot be what they should */
TEST(odd_folders_are_refused) {
    kspec_error err = {0};
    results r;
    char path[200];
    remove_folder();
    CHECK_FAILS(begin(&r, 1, 1, &err), KSPEC_E_IO, err, "is not there"); /* rank 0 makes it */
    make();
    in_folder(path, "000001-loop-9.part");
    CHECK(mkdir(path, 0777) == 0);
    CHECK_FAILS(begin(&r, 1, 0, &err), KSPEC_E_IO, err, "000001-loop-9.part is not a file");
    remove_folder();
    FILE *f = fopen(dir, "w");
    if (f) fclose(f);
    CHECK_FAILS(begin(&r, 1, 0, &err), KSPEC_E_IO, err, "Not a directory");
    unlink(dir);
    ks_store *k;
    CHECK_FAILS(ks_store_open(&k, "no/such/place", who, 0, &err), KSPEC_E_IO, err, "cannot be made");
    char *longer = malloc(20000);
    memset(longer, 'x', 19999);
    longer[19999] = 0;
    CHECK_FAILS(ks_store_open(&k, dir, longer, 0, &err), KSPEC_E_ARG, err, "has 19999 bytes, at most 16383");
    longer[5000] = 0;
    CHECK_FAILS(ks_store_open(&k, longer, who, 1, &err), KSPEC_E_ARG, err, "is too long");
    free(longer);
    make();
    CHECK(ks_store_open(&k, dir, who, 0, &err) == KSPEC_OK);
    CHECK_FAILS(ks_store_more(k, "elsewhere", "more\n", &err), KSPEC_E_ARG, err,
                "keep-checkpoint already, not elsewhere");
    /* what is kept after ks_store_more() is not of the identity before it */
    CHECK(ks_store_more(k, dir, "more\n", &err) == KSPEC_OK);
    const ks_stored_loop l = loop_of(&r, 1);
    CHECK_FAILS(ks_store_begin(k, &l, &err), KSPEC_E_IO, err, "is of another run");
    ks_store_close(k);
    remove_folder();
}

/* ---- every allocation fails ---- */

static int budget;
static void *scarce(void *ctx, size_t size, size_t align) {
    (void)ctx;
    return budget-- > 0 ? aligned_alloc(align, (size + align - 1) / align * align) : NULL;
}
static void release(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

TEST(without_memory) {
    const kspec_allocator allocator = {scarce, release, NULL};
    kspec_status st = KSPEC_E_NOMEM;
    int n = 0;
    make();
    for (; st && n < 50; n++) {
        kspec_error err = {0};
        results r;
        budget = n;
        kspec_set_allocator(&allocator);
        st = begin(&r, 1, 0, &err);
        kspec_set_allocator(NULL);
        CHECK_MSG(!st || (st == KSPEC_E_NOMEM && err.msg[0]), "%d: %s", n, err.msg);
    }
    CHECK_MSG(!st && n > 4, "%d allocations", n);
    remove_folder();
}

int main(void) {
    RUN(what_was_kept_comes_back);
    RUN(parts_are_written_seldom);
    RUN(another_identity_is_refused);
    RUN(another_part_is_refused);
    RUN(odd_folders_are_refused);
    RUN(without_memory);
    return test_done();
}
