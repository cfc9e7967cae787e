#include "moments/doubts.h"

#include "moments/jackknife.h"

#include <math.h>

/* An uncertainty beyond these factors either way leaves a dimension rough, or as good as unknown. */
static const double ROUGH = 1.75, UNKNOWN = 10;

void ks_doubt_dimension(ks_doubts to, const char *where, const ks_doubted *d) {
    /* of the interval before it is cut at 1 */
    const double factor = exp(KS_Z95 * d->std_error / d->value);
    if (d->value < 1 - 1e-9) /* one dimension is 1 but for rounding */
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_BELOW_ONE, where, NULL, d->value);
    else if (factor > UNKNOWN)
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_UNKNOWN, where, NULL, factor);
    else if (factor > ROUGH)
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_ROUGH, where, NULL, factor);
    if (isfinite(d->value) && !(d->moment > 0))
        ks_doubt(to, KSPEC_DOUBT_UNDERFLOW, where, NULL, 0);
    else if (!isfinite(d->value) && d->constant)
        ks_doubt(to, KSPEC_DOUBT_NO_VARIATION, where, d->constant, 0);
    else if (!isfinite(d->value)) {
        const int second = !(d->moment > 0);
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_UNDEFINED, where, second ? "m(2)" : "m(1)^2",
                 second ? d->moment : d->square);
    }
}
