/* kspec_name(): each room keeps the names of its own enum. */
#include "base/doubt.h"
#include "base/error.h"
#include "moments/evidence.h"
#include "moments/plan.h"
#include "norm/methods.h"

const char *kspec_name(kspec_names of, unsigned value) {
    switch (of) {
    case KSPEC_NAMES_STATUS: return ks_status_name((kspec_status)value);
    case KSPEC_NAMES_DOUBT: return ks_doubt_name((kspec_doubt_code)value);
    case KSPEC_NAMES_EVIDENCE: return ks_evidence_name((kspec_evidence)value);
    case KSPEC_NAMES_ESTIMATOR: return ks_estimator_name((kspec_estimator)value);
    case KSPEC_NAMES_NORM_METHOD: return ks_norm_method_name((kspec_norm_method)value);
    }
    return NULL;
}
