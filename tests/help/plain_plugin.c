/*
 * A plugin without a GPU, for tests of everything around one: the functions of device/plugin.h as plainly as
 * they can be written. Its "device memory" is the host's at addresses that fault, so that a library that
 * follows a pointer to a matrix crashes here as it would with a GPU.
 *
 * PLAIN_PLUGIN=broken in the environment: a device that is there but cannot be opened; none: no device;
 * small, second-is-small: one that runs out of memory; slow: one that multiplies slowly.
 */
#include "device/plugin.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* device k has the addresses from FAR + k NEXT on */
#define FAR  ((uintptr_t)1 << 62)
#define NEXT ((uintptr_t)1 << 56)
static const size_t MEMORY = (size_t)16 << 30;
enum { DEVICES = 2, LOCKS = 64 };

struct ks_gpu {
    int device;
    long until_failure;
    size_t used;
    void *locked[LOCKS]; /* NULL: free */
    char message[64];
};

static const double *here(const double *p) { return (const double *)((uintptr_t)p % NEXT); }
static double *mine(double *p) { return (double *)((uintptr_t)p % NEXT); }

static int count(char *why, size_t room) {
    const char *set = getenv("PLAIN_PLUGIN");
    if (!set || strcmp(set, "none") != 0) return DEVICES;
    snprintf(why, room, "this machine has no GPU of NVIDIA");
    return 0;
}

static ks_plugin_status describe(int device, ks_gpu_info *info, char *why, size_t room) {
    (void)why, (void)room;
    *info = (ks_gpu_info){.memory = MEMORY};
    snprintf(info->name, sizeof info->name, "Plain %d", device);
    strcpy(info->driver, "0.0"), strcpy(info->architecture, "plain");
    return KS_PLUGIN_OK;
}

static ks_plugin_status open_device(int device, ks_gpu **gpu, char *why, size_t room) {
    const char *set = getenv("PLAIN_PLUGIN");
    if (set && strcmp(set, "broken") == 0) {
        snprintf(why, room, "gpu:%d: the device is in use by another process", device);
        return KS_PLUGIN_BROKEN;
    }
    *gpu = calloc(1, sizeof **gpu);
    (*gpu)->device = device;
    const int small =
        set && (strcmp(set, "small") == 0 || (device == 1 && strcmp(set, "second-is-small") == 0));
    (*gpu)->until_failure = small ? 2 : -1;
    return KS_PLUGIN_OK;
}

/* A leak is a crash of the test */
static void close_device(ks_gpu *gpu) {
    if (gpu->used) abort();
    for (int k = 0; k < LOCKS; k++)
        if (gpu->locked[k]) abort();
    free(gpu);
}

static const char *message(const ks_gpu *gpu) { return gpu->message; }
static int owner(const void *p) { return (uintptr_t)p >= FAR ? (int)(((uintptr_t)p - FAR) / NEXT) : -1; }
static double rate(ks_gpu *gpu) {
    const char *set = getenv("PLAIN_PLUGIN");
    (void)gpu;
    return set && strcmp(set, "slow") == 0 ? 2e10 : 2e13;
}
static size_t available(ks_gpu *gpu) { return MEMORY - gpu->used; }
static void fail_after(ks_gpu *gpu, long after) { gpu->until_failure = after; }

/* The size stands in front. */
static ks_plugin_status take(ks_gpu *gpu, size_t bytes, void **out) {
    *out = NULL;
    char *p = gpu->until_failure == 0 ? NULL : malloc(bytes + 16);
    if (gpu->until_failure > 0) gpu->until_failure--;
    if (!p) {
        snprintf(gpu->message, sizeof gpu->message, "out of memory: %.1f MB wanted", (double)bytes / 1e6);
        return KS_PLUGIN_NOMEM;
    }
    memcpy(p, &bytes, sizeof bytes);
    memset(p + 16, 0xff, bytes); /* NaN: what is read before it is written shows */
    gpu->used += bytes;
    *out = (void *)((uintptr_t)(p + 16) + FAR + (uintptr_t)gpu->device * NEXT);
    return KS_PLUGIN_OK;
}

static void release(ks_gpu *gpu, void *p) {
    size_t bytes;
    char *block = (char *)((uintptr_t)p % NEXT) - 16;
    memcpy(&bytes, block, sizeof bytes);
    gpu->used -= bytes;
    free(block);
}

static ks_plugin_status put(ks_gpu *gpu, double *to, const double *from, size_t n) {
    (void)gpu;
    memcpy(mine(to), from, n * sizeof *to);
    return KS_PLUGIN_OK;
}

/* For tests to look at: numbers copied to the host; start rows of path, and parts of products, made */
extern size_t plain_copied, plain_made;
size_t plain_copied, plain_made;
static void count_up(size_t *to, size_t more) { __atomic_fetch_add(to, more, __ATOMIC_RELAXED); }

static ks_plugin_status get(ks_gpu *gpu, double *to, const double *from, size_t n, size_t step) {
    (void)gpu;
    count_up(&plain_copied, n);
    for (size_t i = 0; i < n; i++) to[i] = here(from)[i * step];
    return KS_PLUGIN_OK;
}

static ks_plugin_status pack(ks_gpu *gpu, double alpha, const double *from, size_t rows, size_t cols,
                             ptrdiff_t row, ptrdiff_t col, double *to) {
    (void)gpu;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            mine(to)[i * cols + j] = alpha * here(from)[(ptrdiff_t)i * row + (ptrdiff_t)j * col];
    return KS_PLUGIN_OK;
}

static ks_plugin_status copy_rows(ks_gpu *gpu, size_t n, const size_t *list, size_t cols, const double *from,
                                  double *to) {
    (void)gpu;
    for (size_t k = 0; k < n; k++)
        memcpy(mine(to) + list[2 * k + 1] * cols, here(from) + list[2 * k] * cols, cols * sizeof *to);
    return KS_PLUGIN_OK;
}

static ks_plugin_status put_block(ks_gpu *gpu, double *to, const double *from, size_t rows, size_t cols,
                                  size_t ld) {
    for (size_t i = 0; i < rows; i++) put(gpu, to + i * cols, from + i * ld, cols);
    return KS_PLUGIN_OK;
}

static ks_plugin_status get_block(ks_gpu *gpu, double *to, size_t ld, const double *from, size_t rows,
                                  size_t cols) {
    for (size_t i = 0; i < rows; i++) get(gpu, to + i * ld, from + i * cols, cols, 1);
    return KS_PLUGIN_OK;
}

static ks_plugin_status lock(ks_gpu *gpu, void *p, size_t bytes) {
    (void)bytes;
    for (int k = 0; k < LOCKS; k++)
        if (!gpu->locked[k]) {
            gpu->locked[k] = p;
            return KS_PLUGIN_OK;
        }
    return KS_PLUGIN_NOMEM;
}

static void unlock(ks_gpu *gpu, void *p) {
    for (int k = 0; k < LOCKS; k++)
        if (gpu->locked[k] == p) gpu->locked[k] = NULL;
}

static ks_plugin_status product(ks_gpu *gpu, const ks_matmul *p) {
    (void)gpu;
    const double *A = here(p->A), *B = here(p->B);
    const size_t ai = p->ta ? 1 : p->lda, ak = p->ta ? p->lda : 1;
    const size_t bj = p->tb ? p->ldb : 1, bk = p->tb ? 1 : p->ldb;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            const double *a = A + i * ai, *b = B + j * bj;
            double sum = 0, *c = &mine(p->C)[i * p->ldc + j];
            for (size_t k = 0; k < p->k; k++) sum += a[k * ak] * b[k * bk];
            *c = p->alpha * sum + (p->beta != 0 ? p->beta * *c : 0);
        }
    return KS_PLUGIN_OK;
}

static double entry(const ks_expression *e, size_t i, size_t j) {
    const double *row = e->row && e->vectors_on_device ? here(e->row) : e->row;
    const double *col = e->col && e->vectors_on_device ? here(e->col) : e->col;
    double x = e->alpha * (row ? row[i] : 1) * (col ? col[j] : 1);
    for (int k = 0; k < e->count; k++)
        for (int q = 0; q < e->factor[k].power; q++)
            x *= here(e->factor[k].x)[e->factor[k].transposed ? j * e->m + i : i * e->n + j];
    return x;
}

static ks_plugin_status expression(ks_gpu *gpu, const ks_expression *e, ks_tile_result what, double *out) {
    (void)gpu;
    const int sums = what == KS_TILE_ROW_SUMS || what == KS_TILE_COL_SUMS;
    double *to = sums && !e->vectors_on_device ? out : mine(out);
    for (size_t i = 0; i < (what == KS_TILE_COL_SUMS ? e->n : e->m) && sums; i++) to[i] = 0;
    for (size_t i = 0; i < e->m; i++)
        for (size_t j = 0; j < e->n; j++) {
            double x = entry(e, i, j);
            if (what == KS_TILE_STORE) to[i * e->n + j] = x;
            if (what == KS_TILE_ADD) to[i * e->n + j] += x;
            if (sums) to[what == KS_TILE_ROW_SUMS ? i : j] += x;
        }
    return KS_PLUGIN_OK;
}

static ks_plugin_status symmetrise(ks_gpu *gpu, size_t n, double *X) {
    (void)gpu;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double *a = &mine(X)[i * n + j], *b = &mine(X)[j * n + i];
            *a = *b = *a + *b;
        }
    return KS_PLUGIN_OK;
}

/* One start row: the recursion as it stands, on rows and columns but for one each (SIZE_MAX: none). */
static void path_from(const ks_path_job *job, size_t h, size_t row, size_t col, double *S, double *A,
                      double *R) {
    const size_t P = job->P, Q = job->Q, n = (size_t)job->nmax;
    const double *x = here(job->A), *y = here(job->B), s = job->scale;
    memset(S, 0, n * sizeof *S);
    if (h == row) return;
    for (size_t b = 0; b < Q; b++)
        for (size_t k = 0; k < n; k++) A[b * n + k] = k || b == col ? 0 : s * x[h * Q + b];
    for (size_t a = h + 1; a < P; a++) {
        if (a == row) continue;
        memset(R, 0, n * sizeof *R);
        for (size_t b = 0; b < Q; b++) {
            if (b == col) continue;
            for (size_t k = n - 1; k > 0; k--) {
                double old = A[b * n + k];
                A[b * n + k] += R[k - 1] * s * x[a * Q + b];
                R[k] += old * s * y[a * Q + b];
            }
            R[0] += A[b * n] * s * y[a * Q + b];
        }
    }
    for (size_t b = 0; b < Q; b++)
        for (size_t k = 0; k < n; k++)
            if (b != col) S[k] += A[b * n + k] * s * y[h * Q + b];
}

/* Is part k to be made? */
static int is_listed(const ks_parts *p, size_t k) {
    for (size_t i = 0; i < p->count && p->list; i++)
        if (p->list[i] == k) return 1;
    return !p->list;
}

/* Through a row or column: all but those without it. */
static ks_plugin_status path(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress) {
    const size_t P = job->P, Q = job->Q, n = (size_t)job->nmax;
    double *A = malloc(Q * n * sizeof *A), *R = malloc(n * sizeof *R), *S = malloc(n * sizeof *S);
    int stop = 0;
    void *room; /* an allocation that may fail, as a GPU's would */
    ks_plugin_status st = take(gpu, 64, &room);
    for (size_t h = 0; h < P && !st && !stop; h++) {
        const size_t part = h % job->part.parts, first = h < job->part.parts;
        if (!is_listed(&job->part, part)) continue;
        count_up(&plain_made, 1);
        stop = progress->report(progress->ctx, (double)h / (double)P);
        path_from(job, h, SIZE_MAX, SIZE_MAX, job->sums + h * n, A, R);
        for (size_t i = 0; i < P + Q && job->rows; i++) {
            path_from(job, h, i < P ? i : SIZE_MAX, i < P ? SIZE_MAX : i - P, S, A, R);
            for (size_t k = 0; k < n; k++) {
                double *to =
                    i < P ? &job->rows[(part * n + k) * P + i] : &job->cols[(part * n + k) * Q + i - P];
                *to = (first ? 0 : *to) + job->sums[h * n + k] - S[k];
            }
        }
    }
    if (!st) release(gpu, room);
    free(A), free(R), free(S);
    return st ? st : stop ? KS_PLUGIN_STOPPED : KS_PLUGIN_OK;
}

static double kernel_of(int metric, const double *x, const double *y, size_t p) {
    double sum = 0, product = 1;
    for (size_t l = 0; l < p; l++) {
        double d = x[l] - y[l];
        sum += metric == 0 ? d * d / 2 : fabs(d);
        product *= 1 + d * d;
    }
    return metric == 2 ? 1 / product : exp(-sum);
}

static ks_plugin_status gram_times(ks_gpu *gpu, const ks_gram_job *job, const double *x, double *y,
                                   const ks_plugin_progress *progress) {
    void *room;
    ks_plugin_status st = take(gpu, 64, &room);
    if (st) return st;
    release(gpu, room);
    if (progress->report(progress->ctx, 0)) return KS_PLUGIN_STOPPED;
    const double *X = here(job->X);
    const size_t n = job->n, p = job->p, parts = job->part.parts;
    const size_t count = job->part.list ? job->part.count : parts;
    count_up(&plain_made, count);
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (size_t l = 0; l < count; l++) { /* a part has columns k, k + parts ... */
            const size_t k = job->part.list ? job->part.list[l] : l;
            double sum = 0;
            for (size_t j = k; j < n; j += parts)
                sum += kernel_of(job->metric, X + i * p, X + j * p, p) * x[j];
            if (count < parts) y[l * job->stride + i] = sum;
            total += sum;
        }
        if (count == parts) y[i] = total;
    }
    return KS_PLUGIN_OK;
}

/* Not a multiple of the ranks that tests have */
static size_t path_parts(ks_gpu *gpu, const ks_path_job *job) {
    (void)gpu;
    return job->P < 5 ? job->P : 5;
}

static ks_plugin_status cosines(ks_gpu *gpu, size_t rows, size_t cols, const double *b, double scale,
                                double *Z) {
    (void)gpu;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double *z = &mine(Z)[i * cols + j], t = *z + here(b)[j];
            *z = scale * cos(2 * acos(-1) * (t - rint(t)));
        }
    return KS_PLUGIN_OK;
}

/* sum_k A[i,k] B[j,k] with steps between entries */
static double inner(const double *a, const double *b, size_t n, size_t step) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += a[k * step] * b[k * step];
    return sum;
}

static void batch_lists(const double *x, size_t P, size_t Q, double *u) {
    double *form = u + P, *third = form + P, *fourth = third + P, *squares = fourth + P, *cubes = squares + P,
           *v = cubes + P, *c = v + Q, *S3 = c + Q, *S4 = S3 + Q, *d = S4 + Q;
    memset(u, 0, (KS_BATCH_ROWS * P + KS_BATCH_COLS * Q) * sizeof *u);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) {
            const double y = x[i * Q + a], y2 = y * y;
            u[i] += y2, fourth[i] += y2 * y2, v[a] += y2, S3[a] += y2 * y, S4[a] += y2 * y2;
        }
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) {
            const double y = x[i * Q + a];
            squares[i] += v[a] * y * y, cubes[i] += S3[a] * y, d[a] += u[i] * y * y;
        }
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++) {
            const double k = inner(x + i * Q, x + j * Q, Q, 1);
            form[i] += k * k, third[i] += 2 * u[j] * k;
        }
    for (size_t a = 0; a < Q; a++)
        for (size_t b = 0; b < Q; b++) c[a] += pow(inner(x + a, x + b, P, Q), 2);
}

static void batch_totals(const double *y, size_t P, size_t Q, double *out) {
    memset(out, 0, KS_BATCH_TOTALS * sizeof *out);
    for (size_t i = 0; i < P; i++) {
        for (size_t j = 0; j < P; j++) out[0] += pow(inner(y + i * Q, y + j * Q, Q, 1), 2);
        out[1] += pow(inner(y + i * Q, y + i * Q, Q, 1), 2);
    }
    for (size_t a = 0; a < Q; a++) {
        const double s = inner(y + a, y + a, P, Q);
        out[2] += s * s, out[4] += s;
    }
    for (size_t k = 0; k < P * Q; k++) out[3] += pow(y[k], 4);
}

static ks_plugin_status batch(ks_gpu *gpu, const ks_batch_job *j) {
    const size_t P = j->P, Q = j->Q, of_lists = KS_BATCH_ROWS * P + KS_BATCH_COLS * Q;
    (void)gpu;
    count_up(&plain_made, j->count);
    for (size_t b = 0; b < j->count; b++) {
        double *x = mine(j->X) + b * P * Q, *list = j->lists + b * of_lists;
        for (size_t a = 0; a < Q && j->centered; a++) {
            double mean = 0;
            for (size_t i = 0; i < P; i++) mean += x[i * Q + a] / (double)P;
            for (size_t i = 0; i < P; i++) x[i * Q + a] -= mean;
        }
        batch_lists(x, P, Q, list);
        for (size_t k = 0; k < P * Q; k++) {
            const double s = list[KS_BATCH_ROWS * P + k % Q];
            x[k] = s > 0 ? x[k] / sqrt(sqrt(s / (double)P)) : 0;
        }
        batch_totals(x, P, Q, j->totals + b * KS_BATCH_TOTALS);
        for (size_t k = 0; k < P * Q; k++) x[k] *= x[k];
        batch_totals(x, P, Q, j->totals + (j->count + b) * KS_BATCH_TOTALS);
    }
    return KS_PLUGIN_OK;
}

static ks_plugin_status shift(ks_gpu *gpu, size_t n, double c, double *X) {
    (void)gpu;
    for (size_t i = 0; i < n; i++) mine(X)[i * n + i] += c;
    return KS_PLUGIN_OK;
}

static ks_plugin_status factor(ks_gpu *gpu, size_t n, double *A, size_t lda) {
    (void)gpu;
    double *a = mine(A);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            double sum = a[i * lda + j];
            for (size_t k = 0; k < i; k++) sum -= a[k * lda + i] * a[k * lda + j];
            if (j > i)
                a[i * lda + j] = sum / a[i * lda + i];
            else
                a[i * lda + i] = sum > 0 ? sqrt(sum) : NAN;
        }
    return KS_PLUGIN_OK;
}

static ks_plugin_status solve(ks_gpu *gpu, size_t n, const double *U, size_t ldu, size_t m, double *X,
                              size_t ldx) {
    (void)gpu;
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < n; i++) {
            double *x = mine(X) + j, sum = x[i * ldx];
            for (size_t k = 0; k < i; k++) sum -= here(U)[k * ldu + i] * x[k * ldx];
            x[i * ldx] = sum / here(U)[i * ldu + i];
        }
    return KS_PLUGIN_OK;
}

static int has_eigen(void) { return 1; }

/* Jacobi's rotations, until nothing is left beside the diagonal; V's rows are the vectors. */
static ks_plugin_status eigen(ks_gpu *gpu, int vectors, size_t n, double *to, double *w) {
    void *room; /* an allocation that may fail, as a GPU's would */
    ks_plugin_status st = take(gpu, 2 * n * n * sizeof *w, &room);
    if (st) return st;
    double *X = mine(to), *A = mine(room), *V = A + n * n, beside = 1, all = 0;
    for (size_t i = 0; i < n * n; i++) A[i] = X[i], V[i] = i % (n + 1) == 0, all += X[i] * X[i];
    while (beside > 1e-32 * all) {
        beside = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                const double a = A[p * n + q], turn = (A[q * n + q] - A[p * n + p]) / (2 * a),
                             t = a == 0 ? 0 : copysign(1, turn) / (fabs(turn) + hypot(1, turn)),
                             c = 1 / hypot(1, t), s = t * c;
                beside += a * a;
                for (size_t k = 0; k < n; k++) {
                    const double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - s * y, A[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    const double x = A[p * n + k], y = A[q * n + k], u = V[p * n + k], v = V[q * n + k];
                    A[p * n + k] = c * x - s * y, A[q * n + k] = s * x + c * y;
                    V[p * n + k] = c * u - s * v, V[q * n + k] = s * u + c * v;
                }
            }
    }
    for (size_t i = 0; i < n; i++) {
        size_t rank = 0;
        for (size_t k = 0; k < n; k++)
            rank += A[k * n + k] < A[i * n + i] || (A[k * n + k] == A[i * n + i] && k < i);
        w[rank] = A[i * n + i];
        if (vectors) memcpy(X + rank * n, V + i * n, n * sizeof *X);
    }
    release(gpu, room);
    return KS_PLUGIN_OK;
}

static size_t path_memory(ks_gpu *gpu, const ks_path_job *job) {
    (void)gpu, (void)job;
    return 64;
}

const ks_plugin *ks_plugin_table(void);
const ks_plugin *ks_plugin_table(void) {
    static const ks_plugin table = {.version = KS_PLUGIN_VERSION,
                                    .count = count,
                                    .describe = describe,
                                    .open = open_device,
                                    .close = close_device,
                                    .message = message,
                                    .owner = owner,
                                    .rate = rate,
                                    .available = available,
                                    .path_orders = 16,
                                    .path_loo_orders = 8,
                                    .path_memory = path_memory,
                                    .path_parts = path_parts,
                                    .fail_after = fail_after,
                                    .alloc = take,
                                    .release = release,
                                    .put = put,
                                    .get = get,
                                    .pack = pack,
                                    .copy_rows = copy_rows,
                                    .put_block = put_block,
                                    .get_block = get_block,
                                    .lock = lock,
                                    .unlock = unlock,
                                    .product = product,
                                    .expression = expression,
                                    .symmetrise = symmetrise,
                                    .path = path,
                                    .gram_times = gram_times,
                                    .cosines = cosines,
                                    .batch = batch,
                                    .shift = shift,
                                    .factor = factor,
                                    .solve = solve,
                                    .has_eigen = has_eigen,
                                    .eigen = eigen};
    return &table;
}
