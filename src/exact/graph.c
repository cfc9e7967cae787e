/*
 * Lists the graphs of the plain exact estimator and their weights.
 *
 * Let S be the sum over cycles with distinct rows and distinct columns. By Moebius inversion on set
 * partitions,
 *
 *     S = sum over (pi, sigma) of mu(pi) mu(sigma) C(pi, sigma),  mu(pi) = prod over blocks (-1)^(k-1) (k-1)!
 *
 * Here pi is a partition of the n row positions, and sigma is a partition of the n column positions. C is the
 * sum of the cycle's value over all indices that are equal within each block. C depends only on the graph, up
 * to the names of its vertices.
 */
#include "exact/cycles.h"

#include <string.h>

enum { N = KS_EXACT_NMAX };

typedef struct {
    int blocks, block[N];
    double mu;
} partition;

/* Five positions have 52 partitions (a Bell number). */
enum { PARTITIONS = 52 };

static int partitions(int n, partition *out) {
    int count = 0, block[N] = {0}, top[N + 1] = {0}; /* top[l] counts blocks before position l */
    for (int l = 0;;) {
        if (l == n) {
            partition *p = &out[count++];
            int size[N] = {0};
            p->blocks = top[n];
            p->mu = 1;
            for (int k = 0; k < n; k++) {
                p->block[k] = block[k];
                /* The j-th position to join a block multiplies mu by -(j-1). */
                if (size[block[k]]) p->mu *= -size[block[k]];
                size[block[k]]++;
            }
            while (l > 0 && block[l - 1] == top[l - 1]) l--; /* skip positions that opened a block */
            if (l == 0) return count;
            block[--l]++;
        } else {
            block[l] = 0;
            if (l == 0) top[0] = 0;
        }
        top[l + 1] = block[l] == top[l] ? top[l] + 1 : top[l];
        l++;
    }
}

/* Changes p to the next permutation in lexicographic order. Returns 0 after the last one. */
static int next_permutation(int n, int *p) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && p[i] > p[i + 1]) i--;
    if (i < 0) return 0;
    while (p[j] < p[i]) j--;
    int t = p[i];
    p[i] = p[j], p[j] = t;
    for (i++, j = n - 1; i < j; i++, j--) t = p[i], p[i] = p[j], p[j] = t;
    return 1;
}

/* ---- names ---- */

typedef struct {
    uint64_t word[N];
} name;

static void sort_descending(int n, uint64_t *w) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && w[j] > w[j - 1]; j--) {
            uint64_t t = w[j];
            w[j] = w[j - 1], w[j - 1] = t;
        }
}

/*
 * Returns the name of a graph with sampled rows and columns, which is the largest list of edge counts over
 * all renamings. A name has a word for each column, with a byte for each row. The search permutes the rows
 * and then sorts the columns. The search tries only orders of decreasing `key`, because the key of a row is
 * the same under every renaming of the columns.
 */
static name two_sided_name(const ks_graph *g) {
    name best = {{0}};
    int p[N] = {0, 1, 2, 3, 4}, key[N] = {0};
    for (int u = 0; u < g->rows; u++)
        for (int v = 0; v < g->cols; v++) {
            int edges = g->m[u][v].a << 4 | g->m[u][v].b;
            key[u] += edges * edges;
        }
    do {
        int ordered = 1;
        for (int u = 1; u < g->rows; u++) ordered &= key[p[u]] <= key[p[u - 1]];
        if (!ordered) continue;
        name x = {{0}};
        for (int v = 0; v < g->cols; v++)
            for (int u = 0; u < g->rows; u++)
                x.word[v] = x.word[v] << 8 | (uint64_t)(g->m[p[u]][v].a << 4 | g->m[p[u]][v].b);
        sort_descending(g->cols, x.word);
        if (memcmp(&x, &best, sizeof x) > 0) best = x; /* any fixed order works */
    } while (next_permutation(g->rows, p));
    return best;
}

/*
 * Returns the name of a graph with a complete side. The name has a word for each vertex, with a byte for each
 * other vertex. A byte counts the edges away from the vertex and, in a directed graph, also the edges towards
 * it.
 */
static name one_sided_name(const ks_graph *g, int directed) {
    name best = {{0}};
    int p[N] = {0, 1, 2, 3, 4};
    do {
        name x = {{0}};
        for (int v = 0; v < g->rows; v++)
            for (int u = 0; u < g->rows; u++) {
                int s = p[v], t = p[u];
                int away = s <= t ? g->m[s][t].a : g->m[t][s].b,
                    towards = s <= t ? g->m[s][t].b : g->m[t][s].a;
                x.word[v] = x.word[v] << 8 | (uint64_t)(directed ? away << 4 | towards : away + towards);
            }
        if (memcmp(&x, &best, sizeof x) > 0) best = x;
    } while (next_permutation(g->rows, p));
    return best;
}

static ks_graph identify(ks_exact_form form, int n, const partition *pi, const partition *sigma) {
    ks_graph g = {.n = n, .rows = pi->blocks, .root = -1};
    for (int l = 0; l < n; l++) {
        int u = pi->block[l], next = pi->block[(l + 1) % n];
        if (form.one_sided) {
            if (u <= next || !form.two_trials)
                g.m[u < next ? u : next][u < next ? next : u].a++;
            else
                g.m[next][u].b++;
        } else {
            int v = sigma->block[l];
            g.m[u][v].a++;
            if (form.two_trials)
                g.m[next][v].b++;
            else
                g.m[next][v].a++;
        }
    }
    if (!form.one_sided) g.cols = sigma->blocks;
    return g;
}

/* ---- symmetries ---- */

/*
 * A cycle stays the same if it is read from another position, or backwards if B is A. So up to 2n pairs of
 * partitions have the same graph, and only the first of them needs a name. The tables turned[0] and turned[1]
 * contain numbers of partitions. In partition turned[0][r][i], position l has the block that position l + r
 * has in partition i. In turned[1][r][i], position l has the block of position r - l. Column l lies between
 * the rows l and l + 1, so if rows take the blocks of r - l, columns take the blocks of r - 1 - l.
 */
typedef uint8_t turned_partitions[2][N][PARTITIONS];

/* Returns the number of a partition whose blocks are numbered in order of appearance. */
static int code(int n, const int *block) {
    int c = 0;
    for (int l = 0; l < n; l++) c = c * N + block[l];
    return c;
}

static void turn(int n, int parts, const partition *part, turned_partitions turned) {
    uint8_t number[N * N * N * N * N] = {0};
    for (int i = 0; i < parts; i++) number[code(n, part[i].block)] = (uint8_t)i;
    for (int back = 0; back < 2; back++)
        for (int r = 0; r < n; r++)
            for (int i = 0; i < parts; i++) {
                int block[N], as[N] = {0}, blocks = 0; /* as[b] is b's new number plus 1 */
                for (int l = 0; l < n; l++) {
                    int *b = &as[part[i].block[(back ? r - l + n : r + l) % n]];
                    if (!*b) *b = ++blocks;
                    block[l] = *b - 1;
                }
                turned[back][r][i] = number[code(n, block)];
            }
}

typedef struct {
    size_t count;
    ks_graph *graphs;
    name names[KS_GRAPHS_MAX];
} listed;

/* Returns the position of the graph in the list, and adds the graph if it is new. */
static size_t place(listed *list, ks_exact_form form, const ks_graph *g) {
    name x = form.one_sided ? one_sided_name(g, form.two_trials) : two_sided_name(g);
    size_t k = 0;
    while (k < list->count && (list->graphs[k].rows != g->rows || list->graphs[k].cols != g->cols ||
                               memcmp(&list->names[k], &x, sizeof x)))
        k++;
    if (k == list->count) {
        list->names[k] = x;
        list->graphs[k] = *g;
        list->count++;
    }
    return k;
}

size_t ks_graphs(ks_exact_form form, int n, ks_graph *out) {
    partition part[PARTITIONS];
    turned_partitions turned;
    uint16_t at[PARTITIONS][PARTITIONS] = {{0}}; /* at[i][k] is the graph's position plus 1 */
    listed list = {.graphs = out};
    int parts = partitions(n, part);
    turn(n, parts, part, turned);
    for (int i = 0; i < parts; i++)
        for (int j = 0; j < (form.one_sided ? 1 : parts); j++) {
            if (!at[i][j]) {
                ks_graph g = identify(form, n, &part[i], &part[j]);
                size_t k = place(&list, form, &g) + 1;
                for (int back = 0; back < (form.two_trials ? 1 : 2); back++)
                    for (int r = 0; r < n; r++)
                        at[turned[back][r][i]][turned[back][back ? (r + n - 1) % n : r][j]] = (uint16_t)k;
            }
            out[at[i][j] - 1].weight += part[i].mu * (form.one_sided ? 1 : part[j].mu);
        }
    return list.count;
}
