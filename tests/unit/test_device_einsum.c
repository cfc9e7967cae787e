/* kspec_unbiased() gives on a GPU what it gives on the processor: values, and those without each index. */
#include "help/bed_faults.h"
#include "kspec.h"

enum { P = 40, Q = 30, R = 22 };

typedef struct {
    const char *text, *center, *complete;
    int trials, slices;
} question;

static const question questions[] = {
    {.text = "X[i,a] X[i,a]"},
    {.text = "X[i,a] X[j,a] X[j,b] X[i,b]"},
    {.text = "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[i,d]"},
    {.text = "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[i,c]", .center = "rows"},
    {.text = "X[i,a] Y[i,b] Y[j,b] X[j,c] X[k,c] Y[k,d] Y[l,d] X[l,a]"},
    {.text = "X[i,a] Y[i,b] X[j,a] Y[j,b]", .center = "both"},
    {.text = "X[i,a] X[j,a] X[j,b] X[i,b] - 1/2 X[i,a] Y[i,d] X[j,a] Y[j,d]", .complete = "a"},
    {.text = "X1[i,a] Y[i,b] X2[j,a] Y[j,b]", .trials = 3},
    {.text = "X[i,a] X[i,b] X[j,a] X[j,b] X[i,c] X[j,c] X[k,a] X[k,b]", .slices = 1},
};

static kspec_unbiased_result *ask(const question *q, const kspec_operand of[2], kspec_device device) {
    const kspec_unbiased_opts o = {
        .size = sizeof o, .center = q->center, .complete = q->complete, .device = device, .explain = 1};
    kspec_unbiased_result *r = NULL;
    kspec_error err = {0};
    CHECK_MSG(kspec_unbiased(q->text, of, 2, &o, &r, &err) == KSPEC_OK, "%s: %s", q->text, err.msg);
    return r;
}

static void same(const question *q, const kspec_unbiased_result *a, const kspec_unbiased_result *b) {
    CHECK(strcmp(a->device.name, "cpu") == 0 && strncmp(b->device.name, "gpu:0 ", 6) == 0);
    const double unit = fabs(a->value) + 100 * a->rounding;
    CHECK_MSG(fabs(a->value - b->value) <= 1e-10 * unit, "%s: %.17g != %.17g", q->text, b->value, a->value);
    CHECK_CLOSE(b->std_error, a->std_error, 1e-8);
    CHECK(a->products == b->products && (strstr(b->plan, "of slices") != NULL) == q->slices);
    for (size_t x = 0; x < a->axis_count; x++)
        for (size_t i = 0; a->axes[x]->without && i < a->axes[x]->size; i++)
            CHECK_MSG(fabs(a->axes[x]->without[i] - b->axes[x]->without[i]) <= 1e-9 * unit,
                      "%s without %zu of the %s", q->text, i, a->axes[x]->name);
}

TEST(expressions) {
    bed b;
    if (!make_bed(&b)) SKIP("no GPU; nothing can be done");
    ks_placement_close(&b.place);
    double *x = matrix(1, 3 * P, Q), *y = matrix(2, P, R);
    for (int k = 0; k < P * R; k++) y[k] += x[k / R * Q + k % R];
    kspec_matrix X[3], Y = {y, P, R, R, 1};
    for (int t = 0; t < 3; t++) X[t] = (kspec_matrix){x + t * P * Q, P, Q, Q, 1};
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
        const question *q = &questions[k];
        const kspec_operand of[2] = {{"X", X, q->trials ? (size_t)q->trials : 1}, {"Y", &Y, 1}};
        kspec_unbiased_result *cpu = ask(q, of, KSPEC_DEVICE_CPU);
        for (int small = 0; small < 2 && cpu; small++) { /* small: in parts */
            if (small) setenv("KSPEC_GPU_MEMORY", "1e-5", 1);
            kspec_unbiased_result *gpu = ask(q, of, KSPEC_DEVICE_GPU);
            unsetenv("KSPEC_GPU_MEMORY");
            if (gpu) same(q, cpu, gpu);
            CHECK(!gpu || (strstr(gpu->device.why, "in host memory") != NULL) == small);
            kspec_free(gpu);
        }
        kspec_free(cpu);
    }
    free(x), free(y);
}

static void all(void) { RUN(expressions); }

int main(int argc, char **argv) { return bed_main(argc, argv, NULL, all); }
