/*
 * A checkpoint's folder, as a run finds it. Five good parts of two loops are there; the input's first byte
 * says what becomes of one of them:
 *     bits 0-2  which: 1 to 5 a part, 6 the identity, others: none, but one more part is there
 *     bit 3     the checksum is put right, so that what lies before it is reached
 *     bit 4     it has another name: the bytes after the first, up to a 0
 *     bit 5     it is the rest of the input; else that is patches of 8 bytes: where (2), how many words (1,
 *               signed: to insert or leave out), and 5 bytes of a new word
 *     bit 6     the folder is opened by rank 1, which writes nothing
 * A loop gets results that were kept, or there is one line. What was not changed is as it was; a changed part
 * is refused unless its checksum was put right.
 */
#include "base/digest.h"
#include "base/error.h"
#include "fuzz.h"
#include "team/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNKS = 5, PARTS = 5, IDENTITY = 5, WORDS = 600, NAME = 300 };
static const char who[] = "command kspec moments x.npy\ninputs 0123456789abcdef\n";

typedef struct {
    char name[NAME];
    uint64_t words[WORDS];
    size_t bytes;
} file;

static char dir[64];
static file good[PARTS + 2];

/* The results of one loop: a number per chunk, and 13 of 3 bytes, dealt out */
typedef struct {
    double one[CHUNKS];
    unsigned char dealt[13][3], have[CHUNKS];
} results;

static ks_stored_loop loop_of(results *r, const ks_share shares[2], uint64_t number) {
    return (ks_stored_loop){number,         number == 1 ? "path" : "gram", CHUNKS, shares, 2, r->have,
                            {0, CHUNKS - 1}};
}
#define SHARES(r) ((const ks_share[]){{(r)->one, sizeof(double), CHUNKS, 1}, {(r)->dealt, 3, 13, 0}})

static void right_ones(results *r, uint64_t number) {
    for (size_t c = 0; c < CHUNKS; c++) r->one[c] = (double)(number * 100 + c);
    for (size_t k = 0; k < 13; k++) memset(r->dealt[k], (int)(number * 20 + k), 3);
}

static void path_of(char path[NAME + 80], const char *name) { snprintf(path, NAME + 80, "%s/%s", dir, name); }

static void put(const file *f) {
    char path[NAME + 80];
    path_of(path, f->name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) return; /* a name that is too long */
    if (write(fd, f->words, f->bytes) != (ssize_t)f->bytes) abort();
    close(fd);
}

static void take_away(const char *name) {
    char path[NAME + 80];
    path_of(path, name);
    unlink(path);
}

/* The five good parts, by the code that writes them */
static void prepare(void) {
    ks_store *k;
    fuzz_limit_memory();
    ks_store_interval = 0;
    snprintf(dir, sizeof dir, "/dev/shm/kspec-fuzz-%d", (int)getpid());
    if (ks_store_open(&k, dir, who, 0, NULL)) abort();
    for (uint64_t number = 1; number <= 2; number++) {
        results r = {0};
        const ks_stored_loop l = loop_of(&r, SHARES(&r), number);
        right_ones(&r, number);
        if (ks_store_begin(k, &l, NULL)) abort();
        for (size_t c = 0; c < 4 - number; c++)
            if (ks_store_add(k, &l, c, NULL)) abort();
    }
    ks_store_close(k);
    DIR *d = opendir(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        file *f = &good[strcmp(e->d_name, "identity") == 0 ? IDENTITY : n++];
        char path[NAME + 80];
        strcpy(f->name, e->d_name);
        path_of(path, f->name);
        int fd = open(path, O_RDONLY);
        f->bytes = (size_t)read(fd, f->words, sizeof f->words);
        close(fd);
    }
    closedir(d);
    if (n != PARTS || !good[IDENTITY].bytes) abort();
    strcpy(good[IDENTITY + 1].name, "000001-path-4.part");
    good[IDENTITY + 1].bytes = 8;
}

/* Changes f as the input says. */
static void change(file *f, unsigned how, const unsigned char *data, size_t size) {
    size_t words = f->bytes / 8;
    if (how & 32) {
        f->bytes = size < sizeof f->words ? size : sizeof f->words;
        memcpy(f->words, data, f->bytes);
        words = f->bytes / 8;
    }
    for (; !(how & 32) && size >= 8 && words; data += 8, size -= 8) {
        size_t at = (data[0] + 256u * data[1]) % words;
        int grow = (signed char)data[2];
        if (grow > 0 && words + (size_t)grow <= WORDS) {
            memmove(f->words + at + grow, f->words + at, (words - at) * 8);
            words += (size_t)grow;
        } else if (grow < 0 && words - at > (size_t)-grow) {
            words -= (size_t)-grow;
            memmove(f->words + at, f->words + at - grow, (words - at) * 8);
        }
        uint64_t word = 0;
        memcpy(&word, data + 3, 5);
        f->words[at] = data[1] & 128 ? word << 24 : word;
        f->bytes = words * 8;
    }
    if (how & 8 && words) f->words[words - 1] = ks_digest(KS_DIGEST, f->words, words * 8 - 8);
}

/* A part whose last word is not its checksum */
static int is_damaged(const file *f) {
    return f->bytes < 8 || f->bytes % 8 ||
           f->words[f->bytes / 8 - 1] != ks_digest(KS_DIGEST, f->words, f->bytes - 8);
}

static void failed(kspec_status st, const kspec_error *err) {
    if (st != KSPEC_E_IO && st != KSPEC_E_NOMEM && st != KSPEC_E_ARG) __builtin_trap();
    if (!err->msg[0] || strchr(err->msg, '\n') || err->code != st) __builtin_trap();
}

/* One loop: `changed` is the file that is not as it was */
static void find(ks_store *k, uint64_t number, const file *changed, int same) {
    results r = {0}, right = {0};
    const ks_stored_loop l = loop_of(&r, SHARES(&r), number);
    kspec_error err = {0};
    right_ones(&right, number);
    kspec_status st = ks_store_begin(k, &l, &err);
    if (st) failed(st, &err);
    if (st && same) __builtin_trap();
    size_t length = strlen(changed->name);
    int read = strtoull(changed->name, NULL, 10) == number && length < 64 && length >= 5 &&
               strcmp(changed->name + length - 5, ".part") == 0;
    if (!st && read && is_damaged(changed)) __builtin_trap();
    if (read) return; /* its results are whatever it has */
    for (size_t c = 0; c < CHUNKS && !st; c++) {
        if (r.have[c] > 1) __builtin_trap();
        if (!r.have[c]) continue;
        if (c < CHUNKS - 1 && r.one[c] != right.one[c]) __builtin_trap();
        for (size_t d = c; d < 13 && c < CHUNKS - 1; d += CHUNKS)
            if (memcmp(r.dealt[d], right.dealt[d], 3) != 0) __builtin_trap();
    }
    if (r.one[CHUNKS - 1] != 0) __builtin_trap(); /* is not this rank's */
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (!dir[0]) prepare();
    if (!size) return 0;
    const unsigned how = *data++, which = how & 7 ? (how & 7) - 1 : IDENTITY + 1;
    static file f;
    f = good[which < IDENTITY + 2 ? which : IDENTITY + 1];
    const char *was = f.name[0] ? good[which].name : "";
    size--;
    if (how & 16) {
        size_t n = 0;
        while (n < size && n < NAME - 1 && data[n]) n++;
        memcpy(f.name, data, n);
        f.name[n] = 0;
        for (size_t i = 0; i < n; i++)
            if (f.name[i] == '/') f.name[i] = '.';
        if (n == 0 || strcmp(f.name, ".") == 0 || strcmp(f.name, "..") == 0) return 0;
        data += n, size -= n;
    }
    change(&f, how, data, size);
    const int same = which <= IDENTITY && f.bytes == good[which].bytes && !(how & 16) &&
                     memcmp(f.words, good[which].words, f.bytes) == 0;
    take_away(was);
    put(&f);
    ks_store *k;
    kspec_error err = {0};
    kspec_status st = ks_store_open(&k, dir, who, how & 64 ? 1 : 0, &err);
    if (st) failed(st, &err);
    if (st && same) __builtin_trap();
    if (!st && which == IDENTITY && !(how & 16) && !same) __builtin_trap();
    if (!st) find(k, 1, &f, same), find(k, 2, &f, same);
    if (!st) ks_store_close(k);
    fuzz_done();
    take_away(f.name);
    take_away("identity");
    put(&good[IDENTITY]);
    for (int i = 0; i < PARTS; i++)
        if (strcmp(f.name, good[i].name) == 0 || strcmp(was, good[i].name) == 0) put(&good[i]);
    return 0;
}
