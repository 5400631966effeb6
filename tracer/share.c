// SPDX-License-Identifier: MIT
// Exponentially windowed time: the window is kept as of its newest credit and
// decayed on reading. The sampler adds, any thread reads.
#include "tracer/share.h"

#include <math.h>

#define TAU (SHARE_WINDOW * 1e9) // ns

static double decayed(const struct ShareValue *value, double now)
{
    double age = now - Cell_get_double(&value->window_at);

    // A reader's `now` may be a moment older than the newest credit.
    return Cell_get_double(&value->window_ns) * (age > 0 ? exp(-age / TAU) : 1);
}

void ShareValue_add(struct ShareValue *value, double now, double ns)
{
    if (!(ns > 0))
        return;
    Cell_add(&value->total_ns, (uint64_t)(ns + 0.5));
    // The credit was earned over at least `ns` up to now, and its older part
    // has decayed already: so a process that was stopped for a minute does not
    // show a share of twelve.
    Cell_set_double(&value->window_ns,
                    decayed(value, now) - TAU * expm1(-ns / TAU));
    Cell_set_double(&value->window_at, now);
}

double ShareValue_window(const struct ShareValue *value, double now)
{
    // What a full core would have gathered since the start.
    double full = -TAU * expm1(-now / TAU);

    return full > 0 ? decayed(value, now) / full : 0;
}

double ShareValue_total(const struct ShareValue *value, double now)
{
    return now > 0 ? (double)Cell_get(&value->total_ns) / now : 0;
}
