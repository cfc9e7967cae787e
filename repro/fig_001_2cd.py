#!/usr/bin/env python3
"""Figure 2 (c), (d): rff-power against the number of random features q, on Crime and Wine.

All rows, five updates, 50 trials (quick: 60, as printed 20). "Its estimate converges to the baseline at a
rate close to our theoretical prediction 1/sqrt(q). On Crime, it becomes close to baseline at q = 50; on Wine,
it becomes close [at] q = 150." The rate is the slope of the root mean square error against q, both
logarithmic; it counts as close to -1/2 if it is nearer to that than to -1.
"""
from harness import mean, slope, variance
from paper001 import CASES, CRIME, MINMAX, PRINTED, Norms, close, panel

figure = Norms("001-2cd", "Norm estimates against the number of random features")
FEATURES = [25, 50, 100, 150, 300]
FIVE, CONVERGED = ("--updates", 5), ()
FLOOR = "K is near the identity. rff-power measures n/q, not the norm, and so falls as 1/q"
EXCESS = "with few features the mean exceeds the norm; the excess falls as 1/q"


def one(job):
    case, q, updates = job
    trials = (1, figure.pick(60 if case[0] == MINMAX else 20, 50))
    return figure.draws(*case, ["rff-power"], "--features", q, *updates, trials=trials)["rff-power"]


jobs = [(case, q, FIVE) for case in CASES for q in FEATURES]
jobs += [((MINMAX, CRIME), q, CONVERGED) for q in FEATURES]  # on Wine five updates are enough (2ab)
values = dict(zip(jobs, figure.map(one, jobs)))
panels = []
for case, letter in zip(CASES, "cdcdcdcd"):
    setting, data = case
    norm = figure.baseline(*case)
    five = [values[case, q, FIVE] for q in FEATURES]
    rate = slope(FEATURES, [mean([(v / norm - 1) ** 2 for v in x]) ** 0.5 for x in five])
    figure.judge(case, "the error falls at a rate close to 1/√q (nearer than to 1/q)", f"q^{rate:.2f}",
                 -0.75 < rate < -0.25, FLOOR if setting == PRINTED else None)
    ratio = mean(values[case, data.features, FIVE]) / norm
    figure.judge(case, f"rff-power is close to the norm at q = {data.features} (mean within 5%)",
                 f"{ratio:.4g} times the norm", close([ratio]),
                 FLOOR if setting == PRINTED else EXCESS if data == CRIME else None)
    if setting == MINMAX:
        converged = [values.get((case, q, CONVERGED), values[case, q, FIVE]) for q in FEATURES]
        rate = slope(FEATURES, [variance(x) ** 0.5 for x in converged])
        figure.expect(f"{data.name}, {setting}: once converged, the spread of the draws falls as 1/√q "
                      "(exponent within 0.15)", f"q^{rate:.2f}", abs(rate + 0.5) <= 0.15)
    if case == (MINMAX, CRIME):
        excess = [mean(x) / norm - 1 for x in converged]
        rate = slope(FEATURES, [max(e, 1e-3) for e in excess])
        figure.expect(f"{data.name}, {setting}: once converged, the excess of the mean falls about as 1/q "
                      "(exponent within 0.3), to below 5%",
                      f"q^{rate:.2f}; {excess[1]:.1%} at q = 50, {excess[-1]:.1%} at {FEATURES[-1]}",
                      abs(rate + 1) <= 0.3 and excess[-1] < 0.05)
    panels.append(panel(case, letter, "random features q", FEATURES, [norm] * len(FEATURES),
                        {"rff-power": five}))
figure.draw(panels)
figure.finish()
