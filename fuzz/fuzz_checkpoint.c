/*
 * Checkpoints: the input is patches of a good one, each of 8 bytes: where (2), how many words (1, signed: to
 * insert or leave out), and 5 bytes of a new word. The checksum and the length are put right, so that what
 * lies behind them is reached. A run either goes on to its end or fails with one line; the checkpoint as it
 * was must give the same bits as a run without one.
 */
#include "fuzz.h"
#include "kspec/learn.h"
#include "learn/run.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGES = 6, PIXELS = 2, WIDTH = 2, EPOCHS = 2, MOST = 4096 };

typedef struct {
    uint64_t words[MOST];
    size_t bytes;
    /* the checkpoint to keep is that of this epoch's save */
    int saves, keep;
} shelf;

static kspec_status save(void *ctx, size_t width, uint64_t seed, const void *bytes, size_t count,
                         kspec_error *err) {
    (void)width, (void)seed, (void)err;
    shelf *s = ctx;
    if (s->saves++ == s->keep && count <= sizeof s->words) memcpy(s->words, bytes, s->bytes = count);
    return KSPEC_OK;
}

static kspec_status load(void *ctx, size_t width, uint64_t seed, void *bytes, size_t *count,
                         kspec_error *err) {
    (void)width, (void)seed, (void)err;
    const shelf *s = ctx;
    if (bytes)
        memcpy(bytes, s->words, s->bytes);
    else
        *count = s->bytes;
    return KSPEC_OK;
}

static kspec_learn_data *data;

static kspec_status learn(const kspec_learn_store *store, double *loss) {
    static const size_t width = WIDTH;
    const kspec_learn_opts o = {
        .size = sizeof o, .epochs = EPOCHS, .every = 1, .nmax = 2, .batch = 3, .store = store, .threads = 1};
    kspec_learn_result *r;
    kspec_error err;
    kspec_status st = kspec_learn(data, &width, 1, &o, &r, &err);
    if (st ? r || !err.msg[0] || strchr(err.msg, '\n') : !r) __builtin_trap();
    if (!st) {
        const kspec_learn_run *run = r->runs[0];
        if (run->epoch_count == 0 || run->epoch_count > EPOCHS + 1) __builtin_trap();
        *loss = run->epochs[run->epoch_count - 1]->loss;
        for (size_t k = 0; k < run->epoch_count; k++)
            for (size_t i = 0; i < run->epochs[k]->moments->count; i++)
                *loss += 0 * run->epochs[k]->moments->estimates[i]->value;
    }
    kspec_free(r);
    return st;
}

static shelf good;
static double right;

static void prepare(void) {
    static double images[IMAGES * PIXELS], labels[IMAGES];
    for (int i = 0; i < IMAGES * PIXELS; i++) images[i] = (i * 7 % 11) / 11.0;
    for (int i = 0; i < IMAGES; i++) labels[i] = i % 2;
    const kspec_matrix x = {images, IMAGES, PIXELS, PIXELS, 1}, y = {labels, IMAGES, 1, 1, 1};
    if (kspec_learn_open(&x, &y, &x, NULL, NULL, &data, NULL)) abort();
    good.keep = 1;
    if (learn(&(kspec_learn_store){&good, NULL, save, NULL}, &right) || !good.bytes) abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *patch, size_t size) {
    if (!data) prepare();
    static shelf s;
    s = good;
    size_t words = s.bytes / 8;
    for (; size >= 8; patch += 8, size -= 8) {
        size_t at = (patch[0] + 256u * patch[1]) % words;
        int grow = (signed char)patch[2];
        if (grow > 0 && words + (size_t)grow < MOST) {
            memmove(s.words + at + grow, s.words + at, (words - at) * 8);
            words += (size_t)grow;
        } else if (grow < 0 && words - at > (size_t)-grow && words > 40u + (size_t)-grow) {
            words -= (size_t)-grow;
            memmove(s.words + at, s.words + at - grow, (words - at) * 8);
        }
        uint64_t word = 0;
        memcpy(&word, patch + 3, 5);
        /* small numbers, and the high bytes of doubles */
        s.words[at] = patch[1] & 128 ? word << 24 : word;
    }
    s.bytes = words * 8;
    s.words[2] = s.bytes;
    s.words[words - 1] = ks_fnv(KS_FNV, s.words, s.bytes - 8);
    int same = s.bytes == good.bytes && memcmp(s.words, good.words, s.bytes) == 0;
    double loss = 0;
    kspec_status st = learn(&(kspec_learn_store){&s, NULL, NULL, load}, &loss);
    if (same && (st || memcmp(&loss, &right, sizeof loss) != 0)) __builtin_trap();
    return 0;
}
