/*
 * Makes sure that OpenBLAS has enough work buffers.
 *
 * Each thread inside a BLAS call uses a buffer of 128 MB. OpenBLAS maps a buffer when it first needs one
 * more, and never releases it. If the mapping fails, blas_memory_alloc() tries again for ever. So this file
 * first checks whether a buffer can be mapped, and maps one for every thread of a computation. At most as
 * many calls run at once as buffers exist: with too few buffers threads wait for each other, and without any
 * buffer the computation fails.
 *
 * OpenBLAS hands out the first free buffer, under a lock: n calls at once use the first n.
 */
#define _GNU_SOURCE
#include "base/error.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* OpenBLAS exports this function in the builds of distributions, but no header declares it. */
__attribute__((weak)) void *blas_memory_alloc(int);
__attribute__((weak)) void blas_memory_free(void *);

enum { MOST = 1024 };
/* BUFFER_SIZE of OpenBLAS 0.3 for x86_64, and a reserve for mappings by other threads at the same time */
static const size_t buffer = (size_t)128 << 20, aside = (size_t)4 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * guarded by the lock: the number of running computations, and the number of threads that OpenBLAS used
 * before them
 */
static int inside, threads_before;
/* the number of mapped buffers, and a semaphore that counts the free ones */
static atomic_int mapped;
static sem_t permits;

/* OpenBLAS has a table of 2 MAX_THREADS buffers; its threads hold some of them. */
static int most_buffers(void) {
    const char *config = strstr(ks_blas_config(), "MAX_THREADS=");
    int n = 0;
    if (!config || sscanf(config, "MAX_THREADS=%d", &n) != 1 || n < 1) n = 32;
    return n < MOST ? n : MOST;
}

static int can_map(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && munmap(p, bytes) == 0;
}

static void take_permit(void) {
    while (sem_wait(&permits) != 0) {
    } /* A signal may interrupt the wait. */
}

/* Maps up to `wanted` buffers. The caller holds the lock, and no call is running. */
static void map_buffers(int wanted) {
    int have = atomic_load(&mapped), n = 0, most = most_buffers();
    void *held[MOST];
    if (wanted > most) wanted = most;
    if (have == 0) sem_init(&permits, 0, 0);
    if (have >= wanted) return;
    for (int k = 0; k < have; k++) take_permit();
    const int other = !*ks_blas_config(); /* another BLAS has no such buffers */
    while (n < wanted && (n < have || other || can_map(buffer + aside))) {
        held[n] = blas_memory_alloc ? blas_memory_alloc(0) : NULL;
        n++;
    }
    for (int k = 0; k < n && blas_memory_free; k++) blas_memory_free(held[k]);
    atomic_store(&mapped, n);
    for (int k = 0; k < n; k++) sem_post(&permits);
}

kspec_status ks_blas_enter(int threads, kspec_error *err) {
    pthread_mutex_lock(&lock);
    if (inside == 0) {
        threads_before = ks_blas_threads();
        if (threads_before != 1) ks_blas_set_threads(1);
    }
    /* one buffer for each thread and each running computation, so that none waits */
    map_buffers(threads + inside);
    int none = atomic_load(&mapped) == 0;
    if (!none)
        inside++;
    else if (inside == 0 && threads_before != 1)
        ks_blas_set_threads(threads_before);
    pthread_mutex_unlock(&lock);
    if (!none) return KSPEC_OK;
    size_t have = ks_memory_available();
    return ks_fail(err, KSPEC_E_NOMEM, "OpenBLAS needs a buffer of %.1f MB, %.1f MB are available",
                   ks_megabytes(buffer + aside), ks_megabytes(have));
}

void ks_blas_exit(void) {
    pthread_mutex_lock(&lock);
    if (--inside == 0 && threads_before != 1) ks_blas_set_threads(threads_before);
    pthread_mutex_unlock(&lock);
}

kspec_status ks_lapack_reserve(kspec_error *err) {
    const size_t bytes = (size_t)1 << 20;
    void *p = malloc(bytes); /* not ks_alloc(): OpenBLAS itself uses malloc */
    free(p);
    return p ? KSPEC_OK : ks_nomem(err, "LAPACK", bytes);
}

void ks_blas_begin(void) {
    if (atomic_load_explicit(&mapped, memory_order_acquire)) take_permit();
}

void ks_blas_end(void) {
    if (atomic_load_explicit(&mapped, memory_order_acquire)) sem_post(&permits);
}
