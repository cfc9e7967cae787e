/* The plan of `exact`, checked against set partitions and against each graph's contraction written out. */
#include "test.h"

#include "base/error.h"
#include "oracle/exact.h"
#include "simd/simd.h"
#include "engine/run.h"
#include "exact/cycles.h"
#include "device/tile.h"

static const ks_run one = {1, {NULL, NULL}, 0, 1};

static double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

TEST(graphs_are_counted) {
    static const size_t want[2][2][5] = {{{1, 4, 10, 45, 177}, {1, 4, 11, 58, 292}},
                                         {{1, 2, 3, 7, 12}, {1, 2, 3, 7, 12}}};
    static ks_graph g[KS_GRAPHS_MAX];
    for (int sided = 0; sided < 2; sided++)
        for (int two = 0; two < 2; two++)
            for (int n = 1; n <= 5; n++) {
                size_t count = ks_graphs((ks_exact_form){sided, two}, n, g);
                double sum = 0, abs_sum = 0;
                CHECK_MSG(count == want[sided][two][n - 1], "n = %d: %zu graphs", n, count);
                for (size_t k = 0; k < count; k++) {
                    int edges = 0;
                    for (int u = 0; u < 5; u++)
                        for (int v = 0; v < 5; v++) edges += g[k].m[u][v].a + g[k].m[u][v].b;
                    CHECK(edges == (sided ? n : 2 * n));
                    sum += g[k].weight, abs_sum += fabs(g[k].weight);
                }
                /*
                 * sum of mu over partitions is (1)_n, of |mu| it is n!; each sign goes with one number of
                 * vertices
                 */
                CHECK(sum == (n == 1));
                CHECK(abs_sum == (sided ? factorial(n) : factorial(n) * factorial(n)));
            }
}

/* Sum over all (pi, sigma) of mu mu C, with no merging of graphs: blocks by counting in base n. */
static double mu_of(int n, const int *block) { /* 0 if the labels do not appear in order */
    int size[5] = {0}, seen = 0;
    double mu = 1;
    for (int l = 0; l < n; l++) {
        if (block[l] > seen) return 0;
        if (block[l] == seen) seen++;
        if (size[block[l]]) mu *= -size[block[l]];
        size[block[l]]++;
    }
    return mu;
}

static int count_blocks(int n, const int *block) {
    int most = 0;
    for (int l = 0; l < n; l++) most = block[l] > most ? block[l] : most;
    return most + 1;
}

/*
 * The graph's multiplicities from those of the cycle, then the number of renamings that give a listed graph.
 */
static int same_graph(const ks_graph *g, int a[5][5], int b[5][5], int rows, int cols) {
    if (g->rows != rows || g->cols != cols) return 0;
    int r[5], c[5];
    for (int x = 0; x < 3125; x++) { /* maps of the rows */
        int used = 0;
        for (int u = 0, y = x; u < 5; u++, y /= 5) r[u] = y % 5;
        for (int u = 0; u < rows; u++) used |= r[u] < rows ? 1 << r[u] : 0;
        if (used != (1 << rows) - 1) continue;
        int rest = 1;
        for (int u = rows; u < 5; u++) rest &= r[u] == 0; /* each map once */
        if (!rest) continue;
        int taken = 0, ok = 1;
        for (int v = 0; v < cols && ok;
             v++) { /* a column not yet taken with the same multiplicities: any will do */
            c[v] = -1;
            for (int w = 0; w < cols && c[v] < 0; w++) {
                int equal = !(taken >> w & 1);
                for (int u = 0; u < rows; u++)
                    equal &= g->m[r[u]][w].a == a[u][v] && g->m[r[u]][w].b == b[u][v];
                if (equal) c[v] = w, taken |= 1 << w;
            }
            ok = c[v] >= 0;
        }
        if (ok) return 1;
    }
    return 0;
}

TEST(weights_come_from_all_pairs_of_partitions) {
    static ks_graph g[KS_GRAPHS_MAX];
    for (int two = 0; two < 2; two++)
        for (int n = 1; n <= 4; n++) {
            size_t count = ks_graphs((ks_exact_form){0, two}, n, g);
            double weight[KS_GRAPHS_MAX] = {0};
            int total = 1;
            for (int l = 0; l < n; l++) total *= n;
            for (int x = 0; x < total; x++)
                for (int y = 0; y < total; y++) {
                    int pi[5], sigma[5], a[5][5] = {{0}}, b[5][5] = {{0}};
                    for (int l = 0, s = x, t = y; l < n; l++, s /= n, t /= n) pi[l] = s % n, sigma[l] = t % n;
                    double mu = mu_of(n, pi) * mu_of(n, sigma);
                    if (mu == 0) continue;
                    for (int l = 0; l < n; l++) {
                        a[pi[l]][sigma[l]]++;
                        (two ? b : a)[pi[(l + 1) % n]][sigma[l]]++;
                    }
                    size_t k = 0;
                    while (k < count && !same_graph(&g[k], a, b, count_blocks(n, pi), count_blocks(n, sigma)))
                        k++;
                    CHECK_MSG(k < count, "n = %d: a pair of partitions has no graph", n);
                    if (k < count) weight[k] += mu;
                }
            for (size_t k = 0; k < count; k++) CHECK(weight[k] == g[k].weight);
        }
}

/* ---- every graph's contraction against its definition, in integers ---- */

typedef struct {
    const ks_graph *g;
    const double *A, *B; /* one-sided: A is the Gram matrix */
    int P, Q, index[10];
} contraction;

static exact_int power(double x, int k) { return k ? (exact_int)x * power(x, k - 1) : 1; }

/* The edges between vertex v, just given a value, and those before it. */
static exact_int contract(contraction *c, int v, exact_int value) {
    const ks_graph *g = c->g;
    if (v == g->rows + g->cols) return value;
    exact_int sum = 0;
    for (int i = 0; i < (v < g->rows ? c->P : c->Q); i++) {
        exact_int x = value;
        c->index[v] = i;
        if (g->cols && v >= g->rows)
            for (int u = 0; u < g->rows; u++) {
                int at = c->index[u] * c->Q + i;
                x *= power(c->A[at], g->m[u][v - g->rows].a) * power(c->B[at], g->m[u][v - g->rows].b);
            }
        if (!g->cols && v < KS_EXACT_NMAX) {
            for (int u = 0; u < v; u++)
                x *= power(c->A[c->index[u] * c->P + i], g->m[u][v].a) *
                     power(c->A[i * c->P + c->index[u]], g->m[u][v].b);
            x *= power(c->A[i * c->P + i], g->m[v][v].a);
        }
        if (x) sum += contract(c, v + 1, x);
    }
    return sum;
}

static void run_plan(const ks_cycles *c, const double *A, const double *B, double *values) {
    ks_exec_state x = {.plan = &c->plan, .run = &one, .what = "a test", .total = 1};
    ks_exec_begin(&x);
    ks_exec_source(&x, 0, A);
    if (c->plan.sources > 1) ks_exec_source(&x, 1, B);
    ks_exec_forward(&x);
    CHECK(x.status == KSPEC_OK);
    memcpy(values, x.graph, c->ngraphs * sizeof *values);
    ks_exec_end(&x);
}

TEST(every_graph_is_contracted_rightly) {
    enum { P = 4, Q = 3 };
    double A[P * P], B[P * P], G[P * P];
    for (int i = 0; i < P * P; i++) { /* few zeros, small: the sums stay far below 2^53 */
        A[i] = (i * 5 + i / 3) % 3 - 1 + (i % 4 == 0);
        B[i] = (i * 7 + i / 2) % 3 - 1 - (i % 5 == 0);
    }
    for (int sided = 0; sided < 2; sided++)
        for (int two = 0; two < 2; two++)
            for (int shape = 0; shape < 3; shape++) { /* other sizes may lead to another plan */
                static double value[5 * KS_GRAPHS_MAX];
                ks_cycles c;
                ks_exact_form form = {sided, two};
                static const size_t size[3][2] = {{1000, 1000}, {10000, 100}, {100, 10000}};
                CHECK(ks_cycles_make(&c, form, size[shape][0], size[shape][1], 5, NULL) == KSPEC_OK);
                c.plan.size[0] = P, c.plan.size[1] = sided ? 1 : Q;
                for (int i = 0; i < P; i++)
                    for (int j = 0; j < P; j++) G[i * P + j] = A[i * P + j] + (two ? 0 : A[j * P + i]);
                run_plan(&c, sided ? G : A, two ? B : A, value);
                for (size_t k = 0; k < c.ngraphs; k++) {
                    if (c.graphs[k].rows + c.graphs[k].cols > 8)
                        continue; /* left to the sum over all cycles */
                    contraction of = {&c.graphs[k], sided ? G : A, two ? B : A, P, Q, {0}};
                    exact_int want = contract(&of, 0, 1);
                    CHECK_MSG(value[k] == (double)want, "graph %zu of form %d %d: %.17g != %.17g", k, sided,
                              two, value[k], (double)want);
                }
                ks_cycles_free(&c);
            }
}

/* The products that a plan needs; *most: the multiply-adds of the largest */
static int count_products(const ks_plan *pl, double *most) {
    int count = 0;
    *most = 0;
    for (size_t k = 0; k < pl->nops; k++) {
        if (pl->ops[k].kind != KS_OP_PRODUCT) continue;
        const ks_product *x = &pl->products[pl->ops[k].index];
        *most = fmax(*most, (double)pl->size[x->ku] * (double)pl->size[x->kv] * (double)pl->size[x->kw]);
        count++;
    }
    return count;
}

TEST(few_products_and_hard_graphs) {
    /* orders up to 4 are never hard; up to 5 there is one such graph, three with two trials */
    static const int products[2][6] = {{0, 0, 1, 2, 9, 28}, {0, 0, 1, 3, 14, 60}};
    for (int two = 0; two < 2; two++)
        for (int nmax = 1; nmax <= 5; nmax++) {
            ks_cycles c;
            int hard = 0;
            double most;
            CHECK(ks_cycles_make(&c, (ks_exact_form){0, two}, 1000, 1000, nmax, NULL) == KSPEC_OK);
            const int used = count_products(&c.plan, &most);
            for (size_t k = 0; k < c.ngraphs; k++) hard += c.plan.terminals[k].hard;
            CHECK_MSG(used <= products[two][nmax], "%d trials, n <= %d: %d products", two + 1, nmax, used);
            CHECK(hard == (nmax < 5 ? 0 : two ? 3 : 1) && !c.plan.any_stuck);
            ks_cycles_free(&c);
        }
}

TEST(all_shapes_have_a_plan) { /* no plan costs a cube of the longer side */
    static const size_t size[] = {5, 300, 20000, 3000000};
    for (int two = 0; two < 2; two++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                ks_cycles c;
                kspec_error err = {0};
                double P = (double)size[i], Q = (double)size[j], most;
                CHECK_MSG(ks_cycles_make(&c, (ks_exact_form){0, two}, size[i], size[j], 5, &err) == KSPEC_OK,
                          "%s", err.msg);
                count_products(&c.plan, &most);
                CHECK_MSG(most <= P * Q * fmax(P, Q), "%g x %g: %g", P, Q, most);
                ks_cycles_free(&c);
            }
}

/* ---- tiles ---- */

TEST(hadamard_kernels_agree) {
    enum { N = 61 };
    double x[3][N], col[N], z[N], start[N];
    oracle_fill(1, 3 * N, x[0]);
    oracle_fill(2, N, col);
    oracle_fill(3, N, start);
    const double *p[3] = {x[0], x[1], x[2]};
    const int power[3] = {2, 1, 3};
    for (int isa = 0; isa <= (int)ks_isa_best(); isa++)
        for (size_t n = 0; n <= N; n++)
            for (int k = 0; k < 16; k++) {
                int add = k & 1, count = k >> 2;
                const double *c = k & 2 ? col : NULL;
                memcpy(z, start, sizeof z);
                ks_simd_of((ks_isa)isa)->hadamard(z, n, add, 1.5, c, count, p, power);
                for (size_t j = 0; j < N; j++) {
                    double want = c ? 1.5 * c[j] : 1.5;
                    for (int f = 0; f < count; f++) want *= pow(x[f][j], power[f]);
                    if (j >= n)
                        want = start[j];
                    else if (add)
                        want += start[j];
                    CHECK_MSG(fabs(z[j] - want) <= 1e-15 * (1 + fabs(want)) * 8, "%s: %g",
                              ks_isa_name((ks_isa)isa), z[j] - want);
                }
            }
}

TEST(tiles_agree_with_loops) {
    static const size_t shapes[][2] = {{1, 1}, {31, 129}, {64, 128}, {33, 300}, {257, 7}};
    for (int k = 0; k < 5; k++) {
        size_t m = shapes[k][0], n = shapes[k][1];
        double *F = oracle_matrix(1, m, n), *T = oracle_matrix(2, n, m), *row = oracle_matrix(3, 1, m);
        double *col = oracle_matrix(4, 1, n), *want = malloc(m * n * sizeof *want),
               *got = malloc(m * n * sizeof *got);
        ks_expression e = {m, n, -2, row, col, 2, {{F, 0, 2}, {T, 1, 1}}};
        for (int what = 0; what < 4; what++) {
            for (size_t i = 0; i < m * n; i++) want[i] = what == KS_TILE_ADD ? 1 : 0, got[i] = 1;
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < n; j++) {
                    double v = -2 * row[i] * col[j] * F[i * n + j] * F[i * n + j] * T[j * m + i];
                    want[what == KS_TILE_ROW_SUMS ? i : what == KS_TILE_COL_SUMS ? j : i * n + j] += v;
                }
            ks_run run = one;
            run.threads = 1 + k % 3;
            CHECK(ks_tile_run(&run, &e, (ks_tile_result)what, got, NULL) == KSPEC_OK);
            size_t len = what == KS_TILE_ROW_SUMS ? m : what == KS_TILE_COL_SUMS ? n : m * n;
            for (size_t i = 0; i < len; i++)
                CHECK_MSG(fabs(got[i] - want[i]) < 1e-12, "%d: %g", what, got[i] - want[i]);
        }
        free(F), free(T), free(row), free(col), free(want), free(got);
    }
    for (size_t n = 1; n < 80; n += 13) {
        double *X = oracle_matrix(5, n, n), *Y = malloc(n * n * sizeof *Y);
        memcpy(Y, X, n * n * sizeof *Y);
        CHECK(ks_tile_symmetrise(&one, n, Y, NULL) == KSPEC_OK);
        for (size_t i = 0; i < n * n; i++) CHECK(Y[i] == X[i] + X[i % n * n + i / n]);
        free(X), free(Y);
    }
}

int main(void) {
    RUN(graphs_are_counted);
    RUN(weights_come_from_all_pairs_of_partitions);
    RUN(every_graph_is_contracted_rightly);
    RUN(few_products_and_hard_graphs);
    RUN(all_shapes_have_a_plan);
    RUN(hadamard_kernels_agree);
    RUN(tiles_agree_with_loops);
    return test_done();
}
