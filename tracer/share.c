// SPDX-License-Identifier: MIT
// Exponentially windowed time: the window is kept as of its newest credit and
// decayed on reading. The sampler adds, any thread reads.
#include "tracer/share.h"

#include <math.h>

#define TAU (SHARE_WINDOW * 1e9) // ns
#define LONG (40 * TAU)          // what is left after that rounds to nothing

static double decayed(const struct ShareValue *value, double now)
{
    double age = now - Cell_get_double(&value->window_at);

    // A reader's `now` may be a moment older than the newest credit.
    return Cell_get_double(&value->window_ns) * (age > 0 ? exp(-age / TAU) : 1);
}

void ShareCredit_init(struct ShareCredit *credit, double now, double ns)
{
    credit->now = now;
    credit->ns = ns > 0 ? ns : 0;
    // The credit was earned over at least `ns` up to now, and its older part
    // has decayed already: so a process that was stopped for a minute does not
    // show a share of twelve.
    credit->gain = ns > 0 ? -TAU * expm1(-ns / TAU) : 0;
    credit->at = now;
    credit->kept = 1;
}

void ShareValue_credit(struct ShareValue *value, struct ShareCredit *credit)
{
    double at = Cell_get_double(&value->window_at);

    if (!(credit->ns > 0))
        return;
    if (at != credit->at) { // most were credited with the sample before
        credit->at = at;
        credit->kept = exp(-fmax(credit->now - at, 0) / TAU);
    }
    Cell_add(&value->total_ns, (uint64_t)(credit->ns + 0.5));
    Cell_set_double(&value->window_ns,
                    Cell_get_double(&value->window_ns) * credit->kept +
                        credit->gain);
    Cell_set_double(&value->window_at, credit->now);
}

void ShareValue_add(struct ShareValue *value, double now, double ns)
{
    struct ShareCredit credit;

    ShareCredit_init(&credit, now, ns);
    ShareValue_credit(value, &credit);
}

void ShareValue_join(struct ShareValue *value, const struct ShareValue *other,
                     double now)
{
    Cell_add(&value->total_ns, Cell_get(&other->total_ns));
    Cell_set_double(&value->window_ns,
                    decayed(value, now) + decayed(other, now));
    Cell_set_double(&value->window_at, now);
}

// What a full core would have gathered since the start.
static double full(double now)
{
    return now < LONG ? -TAU * expm1(-now / TAU) : TAU;
}

double ShareValue_window(const struct ShareValue *value, double now)
{
    // Most functions have never waited, and most have not been met at all.
    if (Cell_get_double(&value->window_ns) == 0 || !(now > 0))
        return 0;
    return decayed(value, now) / full(now);
}

double ShareValue_total(const struct ShareValue *value, double now)
{
    return now > 0 ? (double)Cell_get(&value->total_ns) / now : 0;
}
