/*
 * Pictures without gnuplot: what goes into its script. Texts cannot leave their quotes, numbers come through
 * as they are, thinning keeps the outline, axes show what there is, and no JSON object, however damaged, does
 * any harm.
 */
#include "help/plot_script.h"
#include "plot/plot.h"
#include "test.h"

#include <stdint.h>

static uint64_t state = 1;
static size_t draw(size_t n) { /* below n */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* ---- texts ---- */

static void put(FILE *to, const char *run, size_t n, char kind) {
    if (kind) fprintf(to, "%c(", kind);
    fwrite(run, 1, n, to);
    if (kind) fputc(')', to);
}

static int shows(const char *text, size_t most, const char *want) {
    char *got = NULL;
    size_t size;
    FILE *f = open_memstream(&got, &size);
    plot_runs(f, text, most, put);
    fclose(f);
    int same = strcmp(got, want) == 0;
    if (!same) printf("'%s', not '%s'\n", got, want);
    free(got);
    return same;
}

TEST(texts) {
    CHECK(shows("m(n)^{1/n}", 99, "m(n)^(1/n)"));
    CHECK(shows("λ_{k} & {x}", 99, "λ_(k) & {x}"));
    CHECK(shows("a_b ^ x^2 _{} ^{a{b} _{", 99, "a_b ^ x^2 _{} ^{a{b} _{"));
    CHECK(shows("a\nb\tc\x7f", 99, "a b c "));
    CHECK(shows("\xff\xc3+\xed\xa0\x80z\xc3", 99,
                "?"
                "?+?"
                "?"
                "?z?")); /* no UTF-8, a surrogate, cut off */
    CHECK(shows("\xef\xbf\xbf\xc0\xaf\xf4\x90\x80\x80", 99,
                "?"
                "?"
                "?"
                "?"
                "?"
                "?"
                "?"
                "?"
                "?")); /* U+FFFF, overlong, beyond the last */
    CHECK(shows("äöüß", 4, "äöüß"));
    CHECK(shows("äöüßx", 4, "äöü…"));
    CHECK(shows("x^{long}", 3, "x^(l)…"));
    CHECK(shows("", 5, ""));
    CHECK(plot_letters("x^{12}ä") == 4);
    char nice[40];
    CHECK(strcmp(plot_nice(1e-6, nice), "10^{−6}") == 0);
    CHECK(strcmp(plot_nice(2.5e-7, nice), "2.5×10^{−7}") == 0);
    CHECK(strcmp(plot_nice(-5e-324, nice), "-4.94×10^{−324}") == 0);
    CHECK(strcmp(plot_nice(1e308, nice), "10^{308}") == 0);
    CHECK(strcmp(plot_nice(0, nice), "0") == 0);
    CHECK(strcmp(plot_nice(1024, nice), "1024") == 0);
    CHECK(strcmp(plot_nice(20480, nice), "20480") == 0);
    CHECK(strcmp(plot_nice(999999, nice), "999999") == 0);
}

/* ---- the script ---- */

/* The script of a figure, for free() */
static char *script_of(plot_figure *f, plot_format format) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    plot_script(to, f, &(plot_look){0}, format);
    fclose(to);
    return text;
}

static const char hostile[] =
    "'; system \"touch pwned\" `id` \\U+0041 @x & ~ $HOME %s <script>alert(1)</script>\n!id {/=99 big}";

TEST(hostile_texts) {
    plot_figure f = {0};
    plot_panel *p = plot_add_panel(&f, hostile, hostile, hostile);
    plot_series *s = plot_add_series(&f, p, hostile, PLOT_LINESPOINTS, -1);
    for (int i = 1; i < 5; i++) plot_add_point(&f, s, i, i * i, i, 20);
    plot_add_mark(&f, p, 'y', 3, hostile);
    plot_add_name(&f, p, hostile);
    plot_text(&f, &f.title, "%s", hostile);
    plot_settle(&f, &(plot_look){0});
    for (plot_format k = PLOT_SVG; k <= PLOT_GP; k++) {
        char *script = script_of(&f, k);
        CHECK(harmless(script));
        free(script);
    }
    char *page = NULL;
    size_t size;
    json_t *commands = json_pack("[s]", "<script>&");
    FILE *to = open_memstream(&page, &size);
    plot_html(to, &f, "<?xml?><svg></svg>", 18, commands);
    fclose(to);
    CHECK(!strstr(page, "<script") && strstr(page, "&lt;script&gt;&amp;") && !strstr(page, "<?xml"));
    free(page);
    json_decref(commands);
    plot_free(&f);
    CHECK(!harmless("set title 'a' `id`\n"));
    CHECK(!harmless("set title 'it's'\n"));
    CHECK(!harmless("set title '''x'\n"));
    CHECK(harmless("set title ''\n"));
    CHECK(!harmless("$a << END\n 1 2\nquit\nEND\n"));
}

/* ---- axes ---- */

/* One panel with one series, settled; *f is to be freed */
static plot_panel *settled(plot_figure *f, size_t n, const double *x, const double *y, plot_scale scale) {
    *f = (plot_figure){0};
    plot_panel *p = plot_add_panel(f, NULL, NULL, NULL);
    plot_series *s = plot_add_series(f, p, "s", PLOT_LINESPOINTS, -1);
    for (size_t i = 0; i < n; i++) plot_add_point(f, s, x ? x[i] : (double)i + 1, y[i], NAN, NAN);
    p->y.scale = scale;
    plot_settle(f, &(plot_look){0});
    return p;
}

TEST(axes) {
    plot_figure f;
    static const struct {
        double y[5];
        plot_scale given, want;
    } cases[] = {
        {{4, 5, 6, 7, 8}, PLOT_AUTO, PLOT_LINEAR}, /* all positive, and nearly the same */
        {{1, 2, 3, 4, 5}, PLOT_AUTO, PLOT_LOG},
        {{0, 2, 3, 4, 5}, PLOT_AUTO, PLOT_LINEAR},
        {{1, 10, 100, 1000, 10000}, PLOT_AUTO, PLOT_LOG},
        {{1, 10, 100, 1000, -1}, PLOT_AUTO, PLOT_LOG}, /* one of five is not positive */
        {{1, 1000, 0, 0, -1}, PLOT_AUTO, PLOT_LINEAR}, /* most are */
        {{0, 0, 0, 0, 0}, PLOT_LOG, PLOT_LINEAR},      /* there is nothing to take a logarithm of */
        {{7, 7, 7, 7, 7}, PLOT_AUTO, PLOT_LINEAR},
        {{7, 7 + 1e-15, 7, 7, 7}, PLOT_AUTO, PLOT_LINEAR},
        {{1e289, -1e289, 0, 0, 0}, PLOT_AUTO, PLOT_LINEAR},
        {{1e-320, 1, 2, 3, 4}, PLOT_LOG, PLOT_LOG},
        {{NAN, NAN, NAN, NAN, NAN}, PLOT_AUTO, PLOT_LINEAR},
        {{NAN, NAN, 3, NAN, NAN}, PLOT_LOG, PLOT_LOG},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        plot_panel *p = settled(&f, 5, NULL, cases[k].y, cases[k].given);
        CHECK_MSG(p->y.scale == cases[k].want, "case %zu", k);
        CHECK_MSG(isfinite(p->y.low) && isfinite(p->y.high) && p->y.low < p->y.high, "case %zu: %g to %g", k,
                  p->y.low, p->y.high);
        CHECK_MSG(p->y.scale != PLOT_LOG || p->y.low > 0, "case %zu", k);
        size_t hidden = 0;
        for (int i = 0; i < 5; i++) {
            double y = cases[k].y[i];
            if (p->y.scale == PLOT_LOG && y < 1e-290)
                hidden++;
            else if (isfinite(y))
                CHECK_MSG(y >= p->y.low && y < p->y.high, "case %zu: %g", k, y);
        }
        CHECK_MSG((p->note != NULL) == (hidden > 0), "case %zu: %s", k, p->note ? p->note : "");
        plot_free(&f);
    }
    const double even[5] = {1, 64, 128, 192, 256}, geometric[5] = {1e-4, 1e-3, 1e-2, 1e-1, 1},
                 y[5] = {1, 2, 3, 4, 5};
    CHECK(settled(&f, 5, even, y, PLOT_AUTO)->x.scale == PLOT_LINEAR);
    plot_free(&f);
    CHECK(settled(&f, 5, geometric, y, PLOT_AUTO)->x.scale == PLOT_LOG);
    plot_free(&f);
}

/* An error bar that reaches far out does not make the rest a line. */
TEST(far_error_bars) {
    plot_figure f = {0};
    plot_panel *p = plot_add_panel(&f, NULL, NULL, NULL);
    plot_series *s = plot_add_series(&f, p, NULL, PLOT_POINTS, -1);
    for (int i = 1; i <= 4; i++) plot_add_point(&f, s, i, i, i == 3 ? -1e9 : i - 0.5, i == 3 ? 1e9 : i + 0.5);
    p->y.scale = PLOT_LINEAR;
    plot_settle(&f, &(plot_look){0});
    CHECK(p->y.low > -10 && p->y.low < 0.5 && p->y.high < 15 && p->y.high > 4.5);
    plot_free(&f);
}

/* ---- thinning ---- */

static void outline(const plot_point *q, size_t n, size_t part, size_t parts, double from, double to,
                    double *low, double *high) {
    *low = INFINITY, *high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double place = floor((q[i].x - from) / (to - from) * (double)parts);
        if (place == (double)part) *low = fmin(*low, q[i].y), *high = fmax(*high, q[i].y);
    }
}

TEST(thinning) {
    enum { N = 100000, PARTS = 300 };
    double *y = malloc(N * sizeof *y);
    for (size_t i = 0; i < N; i++) y[i] = sin(1e-3 * (double)i) + 1e-3 * (double)draw(1000);
    y[54321] = 99; /* one spike */
    plot_figure f;
    plot_panel *p = settled(&f, N, NULL, y, PLOT_LINEAR);
    const plot_series *s = p->series[0];
    CHECK_MSG(s->count <= 2000 && s->count >= PARTS && s->all == N, "%zu points", s->count);
    CHECK(s->at[0].x == 1 && s->at[s->count - 1].x == N);
    plot_point *all = malloc(N * sizeof *all);
    for (size_t i = 0; i < N; i++) all[i] = (plot_point){(double)i + 1, y[i], NAN, NAN};
    for (size_t k = 0; k < PARTS; k += 7) {
        double low, high, thin_low, thin_high;
        outline(all, N, k, PARTS, p->x.low, p->x.high, &low, &high);
        outline(s->at, s->count, k, PARTS, p->x.low, p->x.high, &thin_low, &thin_high);
        CHECK_MSG(low == thin_low && high == thin_high, "part %zu: %g to %g, not %g to %g", k, thin_low,
                  thin_high, low, high);
    }
    for (size_t i = 1; i < s->count; i++) CHECK(s->at[i].x > s->at[i - 1].x);
    plot_free(&f);
    for (size_t i = 0; i < N; i++) all[i].x = (double)draw(N); /* in no order */
    double *x = malloc(N * sizeof *x);
    for (size_t i = 0; i < N; i++) x[i] = all[i].x;
    p = settled(&f, N, x, y, PLOT_LINEAR);
    CHECK_MSG(p->series[0]->count <= 2000, "%zu points", p->series[0]->count);
    plot_free(&f);
    /* gaps stay, and hide neither the least nor the largest of the rest */
    for (size_t i = 0; i < N; i += 10) y[i] = NAN;
    p = settled(&f, N, NULL, y, PLOT_LINEAR);
    s = p->series[0];
    for (size_t i = 0; i < N; i++) all[i] = (plot_point){(double)i + 1, y[i], NAN, NAN};
    size_t gaps = 0;
    for (size_t i = 0; i < s->count; i++) gaps += isnan(s->at[i].y);
    CHECK_MSG(gaps >= PARTS - 30, "%zu gaps", gaps); /* the axis is a tenth longer than the row */
    for (size_t k = 0; k < PARTS; k++) {
        double low, high, thin_low, thin_high;
        outline(all, N, k, PARTS, p->x.low, p->x.high, &low, &high);
        outline(s->at, s->count, k, PARTS, p->x.low, p->x.high, &thin_low, &thin_high);
        CHECK_MSG(low == thin_low && high == thin_high, "part %zu: %g to %g, not %g to %g", k, thin_low,
                  thin_high, low, high);
    }
    plot_free(&f);
    p = settled(&f, 2000, NULL, y, PLOT_LINEAR);
    CHECK(p->series[0]->count == 2000); /* few enough to stay */
    plot_free(&f);
    free(x);
    free(y);
    free(all);
}

/* ---- damaged results ---- */

static const char *const results[] = {
    "{'command':'moments','rows':9,'cols':8,'trials':2,'truth':[1,0.5],'estimates':[{'estimator':'naive','n':"
    "1,'value':1,"
    "'stderr':0.1,'ci_low':0.8,'ci_high':1.2,'root':1},{'estimator':'exact','n':2,'value':-0.2,'ci_low':-0.5,"
    "'ci_high':0.1}]}",
    "{'command':'spectrum','rows':9,'cols':8,'eigenvalues':[3,2,1e-20,0],'ci_low':[2,1,0,0],'ci_high':[4,3,1,"
    "0],"
    "'singular_values':[4,3,1e-17,1e-18,0]}",
    "{'command':'theory','kernel':'rbf','space':'sphere','dim':3,'moments':[1,0.1,null],'log_moments':[0,-2."
    "3,-900],"
    "'eigenvalues':[0.5,0.2,0],'log_eigenvalues':[-0.7,-1.6,-900],'multiplicities':[1,3,1e300],'log_"
    "multiplicities':[0,1.1,690]}",
    "{'command':'norm','rows':9,'cols':3,'kernel':'gaussian','sigma':1,'results':[{'method':'eigen','value':"
    "5,'seconds':1e-3,"
    "'bound':null},{'method':'rff-power','value':6,'seconds':1e-4,'bound':9,'spread':0.5},{'method':'rff-"
    "debiased','value':5.1,"
    "'seconds':1e-2,'ci_low':4,'ci_high':6}]}",
    "{'command':'ridge','rows':10,'cols':3,'sigma':1,'points':[{'features':5,'lambda':0,'train_mse':0.1,'"
    "test_mse':null},"
    "{'features':5,'lambda':0.001,'train_mse':0.1,'test_mse':0.2,'empirical_train_mse':0.1,'empirical_train_"
    "sd':0.01,"
    "'kernel_train_mse':0.05},{'features':9,'lambda':1,'train_mse':0.3,'test_mse':0.4,'empirical_test_mse':0."
    "5,'empirical_test_sd':0.1}]}",
    "{'command':'wls','mode':'theory','grid':4,'modes':8,'alpha':0,'beta':1,'noise':0.1,'points':[{'p':2,'"
    "error_noise_free':0.5,"
    "'error_noise':0.01,'empirical':0.52,'empirical_stderr':0.05},{'p':4,'error_noise_free':0.9,'error_noise'"
    ":0.02}]}",
    "{'command':'wls','mode':'fit','grid':4,'points':[{'p':2,'residual':0.5,'theta':[[1,2],[0.1,0.2]]}]}",
    "{'command':'wls','mode':'features','points':[{'p':2,'residual':0.5,'singular_values':[2,1],'error_noise_"
    "free':1,'error_noise':2},"
    "{'p':3,'residual':0,'singular_values':[2,1,0.1],'error_noise_free':1,'error_noise':2}]}",
    "{'command':'wls','mode':'bound','points':[{'p':2,'error':0.5,'bound':5},{'p':3,'error':0.4,'bound':4}]}",
    "{'command':'wls','mode':'decay','kernel':'gaussian','exponent':2.2,'singular_values':[3,1,0.1,0]}",
    "{'command':'learn','runs':[{'width':32,'seed':0,'epochs':[{'epoch':0,'loss':1,'naive':[1,0.5,0.3],'"
    "unbiased':[1,0.2,0.1],"
    "'unbiased_subsample':[1,0.2,0.1],'naive_subsample':[1,2,3]},{'epoch':2,'naive':[1,0.6,0.4],'unbiased':["
    "1,0.3,0.2]}]},"
    "{'width':32,'seed':1,'epochs':[{'epoch':0,'naive':[1,0.4,0.2],'unbiased':[1,0.1,0.1]}]}]}",
    "{'command':'generate','process':'rff','rows':9,'cols':9,'dim':2,'moments':[1,0.2,0.1]}",
    "{'command':'figure','title':'t','columns':2,'panels':[{'title':'p','xlabel':'x','ylabel':'y','xscale':'"
    "log','yscale':'linear',"
    "'xrange':[1,9],'yrange':[null,3],'series':[{'label':'a','x':[1,2,3],'y':[1,null,3],'low':[0,1,2],'high':"
    "[2,3,4],'style':'band',"
    "'color':3,'shift':0.1},{'y':[1,2]}],'marks':[{'axis':'x','at':2,'label':'m'}],'names':['a','b']}]}",
};
enum { RESULTS = sizeof results / sizeof *results };

static json_t *parse(const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        if (*c == '\'') *c = '"';
    json_error_t where;
    json_t *o = json_loads(copy, 0, &where);
    if (!o) printf("line %d: %s\n", where.line, where.text);
    free(copy);
    return o;
}

static json_t *odd_value(void) {
    static const double numbers[] = {0, -1, 1e308, -1e308, 5e-324, 1e-300, 0.5, 3, 1e15, -0.0, 1e289};
    switch (draw(9)) {
    case 0: return json_null();
    case 1: return json_true();
    case 2: return json_string(hostile);
    case 3: return json_string("");
    case 4: return json_array();
    case 5: return json_object();
    case 6: return json_integer(INT64_MIN);
    default: return json_real(numbers[draw(sizeof numbers / sizeof *numbers)]);
    }
}

/* Changes one thing somewhere in o: a value, a key, the length of a list. */
static void damage(json_t *o) {
    size_t n = json_is_array(o) ? json_array_size(o) : json_object_size(o);
    if (n == 0) return;
    size_t k = draw(n);
    const char *key = NULL;
    json_t *child = json_is_array(o) ? json_array_get(o, k) : NULL;
    if (json_is_object(o)) {
        void *at = json_object_iter(o);
        while (k--) at = json_object_iter_next(o, at);
        key = json_object_iter_key(at);
        child = json_object_iter_value(at);
    }
    if ((json_is_array(child) || json_is_object(child)) && draw(4)) {
        damage(child);
    } else if (json_is_object(o)) {
        if (draw(3))
            json_object_set_new(o, key, odd_value());
        else
            json_object_del(o, key);
    } else {
        switch (draw(4)) {
        case 0: json_array_remove(o, k); break;
        case 1: json_array_append_new(o, json_deep_copy(child)); break;
        case 2: json_array_clear(o); break;
        default: json_array_set_new(o, k, odd_value());
        }
    }
}

/* Draws it, as far as gnuplot; the exit status */
static int try(json_t *const *objects, size_t count) {
    plot_source s[3] = {{0}};
    char names[3][8] = {"a", "b", "c"};
    for (size_t i = 0; i < count; i++)
        s[i] = (plot_source){objects[i], plot_word(objects[i], "command", NULL), "damaged.json",
                             count > 1 ? names[i] : NULL};
    plot_figure f = {0};
    int status = plot_make(&f, s, count);
    if (!status && f.panel_count <= 64) {
        plot_look look = {.x = (plot_scale)draw(3), .y = (plot_scale)draw(3)};
        plot_settle(&f, &look);
        CHECK(!f.failed);
        for (size_t i = 0; i < f.panel_count; i++) {
            const plot_axis *a[2] = {&f.panels[i]->x, &f.panels[i]->y};
            for (int k = 0; k < 2; k++) CHECK_MSG(a[k]->low < a[k]->high, "%g to %g", a[k]->low, a[k]->high);
        }
        char *script = script_of(&f, PLOT_SVG), *page = NULL;
        size_t size;
        CHECK(harmless(script));
        FILE *to = open_memstream(&page, &size);
        plot_html(to, &f, "<svg/>", 6, NULL);
        fclose(to);
        CHECK(!strstr(page, "<script"));
        free(page);
        free(script);
        json_decref(plot_to_json(&f));
    }
    plot_free(&f);
    return status;
}

TEST(damaged_results) {
    size_t outcomes[2] = {0, 0};
    if (!freopen("/dev/null", "w", stderr)) SKIP("no /dev/null"); /* their messages */
    for (int k = 0; k < RESULTS; k++) {
        json_t *o = parse(results[k]);
        CHECK_MSG(o && try(&o, 1) == EXIT_DONE, "%s", results[k]);
        json_decref(o);
    }
    for (int trial = 0; trial < 4000; trial++) {
        size_t count = draw(8) ? 1 : 2 + draw(2), which = draw(RESULTS);
        json_t *o[3];
        for (size_t i = 0; i < count; i++) {
            o[i] = parse(results[draw(2) ? which : draw(RESULTS)]);
            for (size_t times = 1 + draw(3); times; times--) damage(o[i]);
        }
        int status = try(o, count);
        CHECK(status == EXIT_DONE || status == EXIT_INPUT);
        outcomes[status != EXIT_DONE]++;
        for (size_t i = 0; i < count; i++) json_decref(o[i]);
    }
    CHECK_MSG(outcomes[0] > 1000 && outcomes[1] > 500, "%zu drawn, %zu refused", outcomes[0], outcomes[1]);
}

int main(void) {
    RUN(texts);
    RUN(hostile_texts);
    RUN(axes);
    RUN(far_error_bars);
    RUN(thinning);
    RUN(damaged_results);
    return test_done();
}
