// SPDX-License-Identifier: MIT
#include "tracer/hook/contention.h"
#include "tracer/hook/preemption.h"

void Contention_init(struct Contention *contention, double hz)
{
    *contention = (struct Contention){.hz = hz, .preempted = true};
    Contention_share(contention, 0);
}

void Contention_share(struct Contention *contention, double turn_s)
{
    int64_t turn = turn_s > 0 ? (int64_t)(turn_s * contention->hz) : INT64_MAX;
    int64_t brief = (int64_t)(PREEMPTION_BRIEF_NS * 1e-9 * contention->hz);

    contention->long_span = turn;
    contention->brief_span = turn < brief ? turn : brief;
}
