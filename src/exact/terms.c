/*
 * Lists the graphs and weights of centred kernels and of finite populations.
 *
 * A cycle has n row positions. A centred kernel puts either one row or minus two independent rows at each
 * position. So m_c(n) is the sum over sets B of positions of (-1)^|B| E[cycle whose row positions in B are
 * split in two]. Centred columns split the column positions in the same way. A term has r = n + |B| row
 * slots. If the P rows are sampled without replacement from a population of N, a partition tau of the slots
 * has the weight
 *
 *     w(tau) = sum over pi <= tau of mu(pi,tau) (N)_|pi| / (N^r (P)_|pi|),
 *
 * which is mu(tau) / (P)_r for infinite N. The estimate is the sum of (-1)^|B| w(tau) w(sigma) C(tau, sigma)
 * over all terms, where C is the sum of graph.c for partitions of rows and columns. On a complete side, N =
 * P, and the weight is the sum of mu(pi,tau) / N^r, so only the partition into single slots counts.
 *
 * The mean of every distinct-index sum behind pi is multilinear in weights of the rows. Without row i,
 * (P)_|pi| becomes (P-1)_|pi|. For each block t of tau, C loses its value with t fixed to i as many times as
 * t contains blocks of pi. The lost values are sums over graphs with one vertex fixed. These sums differ from
 * the derivative of the sums over graphs, since a half of a split position has one edge and a whole position
 * has two.
 *
 * The caller removes the mean of every centred line from the data, which changes no estimate. Then a half
 * that is alone in its block makes C zero, unless it is the fixed vertex.
 */
#include "exact/terms.h"

#include <math.h>
#include <string.h>

/*
 * EDGES is the number of edges of a cycle at the highest order. A partition that counts has at most BLOCKS
 * blocks: one half alone, and other blocks with two ends or more.
 */
enum { N = KS_WEIGHTED_NMAX, EDGES = 2 * N, BLOCKS = N };

/* ---- weights ---- */

typedef struct {
    /* Four bits for each block size count the blocks of that size. */
    uint32_t sizes;
    /*
     * value is the partition's weight in the estimate, and less is its weight in the estimates without one
     * index. pin[s] is the weight if a block of size s is fixed.
     */
    double value, less, pin[EDGES + 1];
} side_weights;

typedef struct {
    double coefficient[EDGES + 1];
} polynomial;

/*
 * Returns the polynomial whose coefficients are Stirling numbers of the second kind times mu, for a block of
 * k slots split into 0 ... k blocks.
 */
static polynomial splits_of(int k) {
    polynomial s = {{1}};
    for (int j = 0; j < k; j++)
        for (int p = j + 1; p >= 0; p--)
            s.coefficient[p] = p * s.coefficient[p] + (p ? s.coefficient[p - 1] : 0);
    double mu = 1; /* becomes (-1)^(p-1) (p-1)! */
    for (int p = 1; p <= k; p++, mu *= -(p - 1)) s.coefficient[p] *= mu;
    return s;
}

static polynomial times(const polynomial *x, const polynomial *y) {
    polynomial z = {{0}};
    for (int i = 0; i <= EDGES; i++)
        for (int j = 0; i + j <= EDGES; j++) z.coefficient[i + j] += x->coefficient[i] * y->coefficient[j];
    return z;
}

/*
 * Returns the sum over p of coefficient[p] (N)_p / (N^r (P)_p). The sum omits terms that need more than P
 * indices.
 */
static double with_population(const polynomial *x, int r, double population, double P) {
    double sum = 0, ratio = 1; /* ratio is (N)_p / (N^p (P)_p) */
    for (int p = 1; p <= r; p++) {
        double left = isinf(population) ? 1 : 1 - (p - 1) / population;
        if (left <= 0 || P - (p - 1) <= 0) break;
        ratio *= left / (P - (p - 1));
        double power = p == r ? 1 : isinf(population) ? 0 : pow(population, p - r);
        sum += x->coefficient[p] * ratio * power;
    }
    return sum;
}

static side_weights weigh(uint32_t sizes, int r, double sign, double population, double P) {
    side_weights w = {.sizes = sizes, .value = sign * pow(population, -r)};
    /*
     * On a complete side only the partition into single slots counts, and the jackknife leaves nothing out.
     */
    if (population <= P) return w;
    polynomial part[EDGES + 1], all = {{1}};
    for (int k = 1; k <= r; k++) {
        part[k] = splits_of(k);
        for (uint32_t c = sizes >> 4 * (k - 1) & 15; c > 0; c--) all = times(&all, &part[k]);
    }
    w.value = sign * with_population(&all, r, population, P);
    w.less = sign * with_population(&all, r, population, P - 1);
    for (int k = 1; k <= r; k++) {
        if (!(sizes >> 4 * (k - 1) & 15)) continue;
        polynomial marked = part[k];
        for (int p = 1; p <= k; p++) marked.coefficient[p] *= p;
        for (int j = 1; j <= r; j++)
            for (uint32_t c = (sizes >> 4 * (j - 1) & 15) - (j == k); c > 0; c--)
                marked = times(&marked, &part[j]);
        w.pin[k] = sign * with_population(&marked, r, population, P - 1);
    }
    return w;
}

/* ---- partitions ---- */

/*
 * Describes a partition of one side's slots. Row position l has the edges 2l-1 and 2l (mod 2n), and column
 * position l has the edges 2l and 2l+1. Even edges belong to A, and odd edges to B. block[e] is the block at
 * the end of edge e. An edge whose position is not split shares its block with its neighbour.
 */
typedef struct {
    uint8_t block[EDGES], size[EDGES], blocks;
    /* Bit l is 1 if position l is split. */
    uint8_t split;
    /* lone is the number of the block that consists of one half of a position, or -1. */
    int8_t lone;
    uint16_t weights;
} arrangement;

typedef struct {
    /*
     * cols is 1 if this side is the columns. n is the order, and at most `lone` halves may be alone in a
     * block. population and P are the sizes of the population and the sample.
     */
    int cols, n, lone;
    double population, P;
    /* list contains the arrangements of the side, and nweights is the number of different weights in it. */
    arrangement *list;
    size_t count, room, nweights;
    side_weights *weights;
} side;

/* One side has at most KINDS different weights. The numbers count the integer partitions of 4 ... 8. */
enum { KINDS = 5 + 7 + 11 + 15 + 22 };

static int weights_number(side *s, uint32_t sizes, int r) {
    size_t k = 0;
    while (k < s->nweights && s->weights[k].sizes != sizes) k++;
    if (k == s->nweights)
        s->weights[s->nweights++] = weigh(sizes, r, (r - s->n) % 2 ? -1 : 1, s->population, s->P);
    return (int)k;
}

/*
 * Lists all ways to place the slots from number `slot` on in blocks that are numbered in order of appearance.
 */
static void arrange(side *s, int slots, const uint8_t (*ends)[2], const uint8_t *width, arrangement a,
                    int slot) {
    if (slot == slots) {
        /* On a complete side only the partition into single slots counts. */
        if (s->population <= s->P && a.blocks < slots) return;
        uint32_t sizes = 0;
        int degree[EDGES] = {0}, lone = 0;
        for (int e = 0; e < 2 * s->n; e++) degree[a.block[e]]++;
        a.lone = -1;
        for (int b = 0; b < a.blocks; b++) {
            sizes += (uint32_t)1 << 4 * (a.size[b] - 1);
            if (degree[b] == 1) a.lone = (int8_t)b, lone++;
        }
        if (lone > s->lone) return;
        a.weights = (uint16_t)weights_number(s, sizes, slots);
        if (s->count < s->room) s->list[s->count++] = a;
        return;
    }
    for (uint8_t b = 0; b <= a.blocks; b++) {
        arrangement next = a;
        for (int k = 0; k < width[slot]; k++) next.block[ends[slot][k]] = b;
        next.size[b]++;
        next.blocks = (uint8_t)(a.blocks + (b == a.blocks));
        arrange(s, slots, ends, width, next, slot + 1);
    }
}

/*
 * Appends all partitions of the slots for one choice of split positions. Bit l of `split` is 1 if position l
 * is split.
 */
static void list_split(side *s, unsigned split) {
    uint8_t ends[EDGES][2], width[EDGES];
    int slots = 0, n = s->n;
    for (int l = 0; l < n; l++) {
        uint8_t first = (uint8_t)((s->cols ? 2 * l : 2 * l + 2 * n - 1) % (2 * n)),
                second = (uint8_t)((first + 1) % (2 * n));
        ends[slots][0] = first, ends[slots][1] = second, width[slots] = 2;
        if (split >> l & 1) {
            width[slots++] = 1;
            ends[slots][0] = second, width[slots] = 1;
        }
        slots++;
    }
    arrange(s, slots, (const uint8_t(*)[2])ends, width, (arrangement){.split = (uint8_t)split}, 0);
}

/* ---- symmetries ---- */

/*
 * A cycle stays the same if it is read from another position, or backwards if B is A. So several choices of
 * split rows and column partition are equal. Only the first of equal choices counts, `orbit` times. All later
 * ones have orbit 0.
 */
typedef struct {
    uint8_t code[2 * EDGES];
} choice;

static choice moved(int n, unsigned split, const arrangement *col, int by, int back) {
    choice c = {{0}};
    uint8_t as[EDGES] = {0}, blocks = 0;
    for (int e = 0; e < 2 * n; e++) {
        int from = (back ? 2 * n - 1 - e + 2 * by : e + 2 * by) % (2 * n);
        /* Mark edges that end at a split row position. */
        c.code[e] = split >> (from + 1) / 2 % n & 1;
        uint8_t *b = &as[col->block[from]];
        if (!*b) *b = ++blocks;
        c.code[EDGES + e] = *b;
        /* A split column position differs from a position whose halves share a block. */
        c.code[EDGES + e] |= (uint8_t)((col->split >> from / 2 & 1) << 7);
    }
    return c;
}

static int orbit(int n, int two_trials, unsigned split, const arrangement *col) {
    choice own = moved(n, split, col, 0, 0);
    int same = 0;
    for (int back = 0; back < (two_trials ? 1 : 2); back++)
        for (int by = 0; by < n; by++) {
            choice c = moved(n, split, col, by, back);
            int order = memcmp(&c, &own, sizeof c);
            if (order < 0) return 0;
            same += order == 0;
        }
    return (two_trials ? 1 : 2) * n / same;
}

/* ---- graphs ---- */

/*
 * The name of a graph lists how many edges join each pair of vertices. word[v] describes column v with a byte
 * for each row. The byte is a << 4 | b for a edges of A and b edges of B.
 */
typedef struct {
    uint32_t word[BLOCKS];
    /* fixed is 1 if the first row is fixed, 2 if the first column is fixed, and 0 otherwise. */
    uint8_t fixed, rows, cols;
} name;

typedef struct {
    name name;
    double value, less[2], pin[2 * BLOCKS];
    int whole;
} entry;

typedef struct {
    entry *list;
    size_t count, room;
    uint32_t *slot;
    size_t slots;
    /*
     * If overfull is 1, the table was too small for all names. The surplus names share the entry after the
     * last.
     */
    int overfull;
} entries;

static void entries_alloc(entries *t, size_t room, ks_arena *arena) {
    *t = (entries){.room = room, .slots = 64};
    while (t->slots < 2 * room) t->slots *= 2;
    t->list = ks_arena_alloc(arena, room + 1, sizeof *t->list);
    t->slot = ks_arena_zalloc(arena, t->slots, sizeof *t->slot);
}

/* Returns the entry of this name, and adds an entry for a new name. */
static entry *entry_of(entries *t, const name *x) {
    uint64_t h = x->fixed;
    for (int v = 0; v < BLOCKS; v++) h = (h ^ x->word[v]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    size_t at = (size_t)h & (t->slots - 1);
    for (; t->slot[at]; at = (at + 1) & (t->slots - 1)) {
        entry *e = &t->list[t->slot[at] - 1];
        if (e->name.fixed == x->fixed && !memcmp(e->name.word, x->word, sizeof x->word)) return e;
    }
    t->overfull |= t->count == t->room;
    if (t->overfull) return &t->list[t->room];
    entry *e = &t->list[t->count++];
    *e = (entry){.name = *x};
    t->slot[at] = (uint32_t)t->count;
    return e;
}

static int cell(const name *x, int u, int v) { return x->word[v] >> 8 * u & 255; }

/* Computes keys that distinguish rows, independently of the names of rows and columns. */
static void row_keys(const name *x, uint32_t *key) {
    memset(key, 0, BLOCKS * sizeof *key);
    for (int v = 0; v < x->cols; v++) {
        uint32_t degree = 0;
        for (int u = 0; u < x->rows; u++) degree += (uint32_t)((cell(x, u, v) >> 4) + (cell(x, u, v) & 15));
        for (int u = 0; u < x->rows; u++) {
            uint32_t c = (uint32_t)cell(x, u, v);
            key[u] += c * c * (64 + degree * degree);
        }
    }
}

/*
 * Returns x with its rows in the order p, and with its columns from `from` on in decreasing order. q receives
 * the old numbers of the columns.
 */
static name renamed(const name *x, const int *p, int from, int *q) {
    name y = *x;
    for (int v = 0; v < x->cols; v++) {
        uint32_t w = 0;
        for (int u = 0; u < x->rows; u++) w |= (uint32_t)cell(x, p[u], v) << 8 * u;
        int k = v;
        for (; k > from && y.word[k - 1] < w; k--) y.word[k] = y.word[k - 1], q[k] = q[k - 1];
        y.word[k] = w, q[k] = v;
    }
    return y;
}

/*
 * Returns the name whose rows are in the order of their keys. The sorted name is quick to find, and most
 * renamings of a graph have the same sorted name.
 */
static name sorted_name(const name *x, int *p, int *q) {
    uint32_t key[BLOCKS];
    row_keys(x, key);
    for (int u = 0; u < x->rows; u++) {
        int k = u;
        for (; k > 0 && key[p[k - 1]] < key[u]; k--) p[k] = p[k - 1];
        p[k] = u;
    }
    return renamed(x, p, 0, q);
}

static void best_order(const name *x, const uint32_t *key, int *p, int done, unsigned left, int from,
                       name *best) {
    if (!left) {
        int q[BLOCKS];
        name y = renamed(x, p, from, q);
        if (memcmp(y.word, best->word, sizeof y.word) > 0) *best = y;
        return;
    }
    uint32_t most = 0;
    for (int u = 0; u < x->rows; u++)
        if (left >> u & 1 && key[u] > most) most = key[u];
    for (int u = 0; u < x->rows; u++)
        if (left >> u & 1 && key[u] == most) {
            p[done] = u;
            best_order(x, key, p, done + 1, left & ~(1u << u), from, best);
        }
}

/*
 * Returns the same name for all renamings that keep the fixed vertex first on its side. That vertex is a row
 * if `fixed` is 1, and a column if it is 2.
 */
static name full_name(const name *x, int fixed, int vertex) {
    name y = *x, best = {.rows = x->rows, .cols = x->cols, .fixed = (uint8_t)fixed};
    uint32_t key[BLOCKS];
    unsigned left = (1u << x->rows) - 1;
    int p[BLOCKS] = {vertex};
    y.fixed = (uint8_t)fixed;
    if (fixed == 1) left &= ~(1u << vertex);
    if (fixed == 2) y.word[0] = x->word[vertex], y.word[vertex] = x->word[0];
    row_keys(&y, key);
    best_order(&y, key, p, fixed == 1, left, fixed == 2, &best);
    return best;
}

/* ---- terms ---- */

typedef struct {
    const ks_exact_form *form;
    int n;
    side rows, cols;
    entries sorted;
} maker;

/* Adds the term of two partitions of rows and columns `times` times. */
static void add_term(maker *m, const arrangement *row, const arrangement *col, double times) {
    /* Only one vertex can be fixed, so at most one half can be alone in its block. */
    if (row->lone >= 0 && col->lone >= 0) return;
    name x = {.rows = row->blocks, .cols = col->blocks};
    for (int e = 0; e < 2 * m->n; e++) {
        int of_b = m->form->two_trials && e % 2;
        x.word[col->block[e]] += (uint32_t)(of_b ? 1 : 16) << 8 * row->block[e];
    }
    int p[BLOCKS], q[BLOCKS];
    name y = sorted_name(&x, p, q);
    entry *t = entry_of(&m->sorted, &y);
    const side_weights *r = &m->rows.weights[row->weights], *c = &m->cols.weights[col->weights];
    int lone = row->lone >= 0 || col->lone >= 0;
    if (!lone) {
        t->value += times * r->value * c->value;
        t->less[KS_ROW] += times * r->less * c->value;
        t->less[KS_COL] += times * r->value * c->less;
    }
    for (int u = 0; u < x.rows && m->rows.lone; u++)
        if (!lone || row->lone == p[u]) t->pin[u] += times * r->pin[row->size[p[u]]] * c->value;
    for (int v = 0; v < x.cols && m->cols.lone; v++)
        if (!lone || col->lone == q[v]) t->pin[BLOCKS + v] += times * r->value * c->pin[col->size[q[v]]];
}

static void add_terms(maker *m) {
    int n = m->n;
    for (unsigned split = 0; split < (m->form->split[KS_COL] ? 1u << n : 1); split++)
        list_split(&m->cols, split);
    for (unsigned split = 0; split < (m->form->split[KS_ROW] ? 1u << n : 1); split++) {
        int listed = 0;
        m->rows.count = 0;
        for (size_t j = 0; j < m->cols.count; j++) {
            int times = orbit(n, m->form->two_trials, split, &m->cols.list[j]);
            if (!times) continue;
            if (!listed) list_split(&m->rows, split), listed = 1;
            for (size_t i = 0; i < m->rows.count; i++) add_term(m, &m->rows.list[i], &m->cols.list[j], times);
        }
    }
}

static ks_graph graph_of(const entry *e, int n) {
    const name *x = &e->name;
    ks_graph g = {.n = n,
                  .rows = x->rows,
                  .cols = x->cols,
                  .root = x->fixed == 0   ? -1
                          : x->fixed == 1 ? 0
                                          : x->rows,
                  .weight = e->value,
                  .less = {e->less[0], e->less[1]},
                  .pin = e->pin[0]};
    for (int u = 0; u < x->rows; u++)
        for (int v = 0; v < x->cols; v++) {
            g.m[u][v].a = (uint8_t)(cell(x, u, v) >> 4);
            g.m[u][v].b = (uint8_t)(cell(x, u, v) & 15);
        }
    return g;
}

/*
 * Merges terms with the same name, once without a fixed vertex for the values, and once for every vertex. The
 * value of a graph is the sum over the values of its fixed vertex. So if a graph with a fixed vertex exists,
 * its values also give the value of the whole graph.
 */
static void merge(const maker *m, entries *whole, entries *fixed) {
    for (size_t k = 0; k < m->sorted.count; k++) {
        const entry *s = &m->sorted.list[k];
        name x = full_name(&s->name, 0, 0);
        entry *w = entry_of(whole, &x);
        w->value += s->value;
        for (int i = 0; i < 2; i++) w->less[i] += s->less[i];
        for (int v = 0; v < 2 * BLOCKS; v++) {
            if (s->pin[v] == 0) continue;
            name y = full_name(&s->name, 1 + v / BLOCKS, v % BLOCKS);
            entry *f = entry_of(fixed, &y);
            f->pin[0] += s->pin[v];
            f->whole = (int)(w - whole->list);
        }
    }
    for (size_t k = 0; k < fixed->count; k++) {
        entry *f = &fixed->list[k], *w = &whole->list[f->whole];
        f->value = w->value, f->less[0] = w->less[0], f->less[1] = w->less[1];
        w->value = w->less[0] = w->less[1] = 0;
    }
}

static size_t graphs(int n, const entries *whole, const entries *fixed, ks_graph *out) {
    size_t count = 0;
    for (size_t k = 0; k < fixed->count; k++) out[count++] = graph_of(&fixed->list[k], n);
    for (size_t k = 0; k < whole->count; k++)
        if (whole->list[k].value != 0) out[count++] = graph_of(&whole->list[k], n);
    return count;
}

ks_graph *ks_terms(const ks_exact_form *form, const size_t size[2], int n, size_t *count, ks_arena *arena,
                   size_t *room) {
    /* Upper bounds over all orders and forms. SORTED, WHOLE and FIXED are a little larger than necessary. */
    enum { ROWS = 2011, COLS = 5156, SORTED = 1200, WHOLE = 1100, FIXED = 2800 };
    maker m = {.form = form, .n = n};
    ks_arena own = {0};
    entries whole, fixed;
    *count = 0;
    for (int k = 0; k < 2; k++) {
        side *s = k == KS_ROW ? &m.rows : &m.cols;
        *s = (side){.cols = k, .n = n, .lone = form->pinned[k], .population = form->population[k]};
        s->P = (double)size[k];
        s->room = k == KS_ROW ? ROWS : COLS;
        s->list = ks_arena_alloc(&own, s->room, sizeof *s->list);
        s->weights = ks_arena_alloc(&own, KINDS, sizeof *s->weights);
    }
    entries_alloc(&m.sorted, SORTED, &own);
    entries_alloc(&whole, WHOLE, &own);
    entries_alloc(&fixed, FIXED, &own);
    ks_graph *out = NULL;
    if (!own.failed) {
        add_terms(&m);
        merge(&m, &whole, &fixed);
        out = ks_arena_alloc(arena, whole.count + fixed.count, sizeof *out);
    }
    if (m.sorted.overfull || whole.overfull || fixed.overfull) out = NULL, own.failed = FIXED * sizeof(entry);
    if (out) *count = graphs(n, &whole, &fixed, out);
    if (!out && !arena->failed) arena->failed = own.failed;
    *room = own.bytes;
    ks_arena_free(&own);
    return out;
}
