// SPDX-License-Identifier: MIT
// Scans the live bytecode of a code object once, for tests that do not use the
// log of transitions.
#pragma once

#include "tracer/code/specialisation_scan.h"

#include <stdlib.h>

static inline int scan(struct Code *code, const uint8_t *live,
                       const struct Opcodes *opcodes)
{
    static struct Clock clock;
    struct Transitions *log = malloc(sizeof *log);
    int error;

    if (!log)
        abort();
    if (!clock.start_ticks)
        Clock_start(&clock);
    Transitions_init(log, opcodes, &clock, 1);
    error = Specialisation_scan(code, live, opcodes, log, 1);
    Transitions_release(log);
    free(log);
    return error;
}
