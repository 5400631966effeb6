// SPDX-License-Identifier: MIT
// Exponentially windowed time: the window is kept as of its newest credit and
// decayed on reading. The sampler adds, any thread reads.
#include "tracer/share.h"

#include <math.h>
#include <string.h>

#define TAU (SHARE_WINDOW * 1e9) // ns

static double load(const cell_t *cell)
{
    uint64_t bits = Cell_get(cell);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void store(cell_t *cell, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    Cell_set(cell, bits);
}

static double decayed(const struct ShareValue *value, double now)
{
    double age = now - load(&value->window_at);

    // A reader's `now` may be a moment older than the newest credit.
    return load(&value->window_ns) * (age > 0 ? exp(-age / TAU) : 1);
}

void ShareValue_add(struct ShareValue *value, double now, double ns)
{
    if (!(ns > 0))
        return;
    Cell_add(&value->total_ns, (uint64_t)(ns + 0.5));
    // The credit was earned over at least `ns` up to now, and its older part
    // has decayed already: so a process that was stopped for a minute does not
    // show a share of twelve.
    store(&value->window_ns, decayed(value, now) - TAU * expm1(-ns / TAU));
    store(&value->window_at, now);
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
