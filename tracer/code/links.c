// SPDX-License-Identifier: MIT
// See links.h.
#include "tracer/code/links.h"
#include "ipc/base/heap.h"
#include "tracer/code/arming.h"

#include <errno.h>

#define CALLEES_MOST 64      // kept: those that were met last
#define CALLERS_UNBOUNDED 64 // callers kept of code that never goes dark

bool Code_has_caller(const struct Code *code, uint32_t caller)
{
    uint32_t i;

    for (i = 0; i < code->caller_count; i++)
        if (code->callers[i] == caller)
            return true;
    return false;
}

int Code_add_caller(struct Code *code, uint32_t caller)
{
    if (Code_has_caller(code, caller))
        return 0;
    if (code->stop_at == CODE_NEVER && code->caller_count == CALLERS_UNBOUNDED)
        return 0;
    if (code->caller_count == code->caller_room) {
        uint32_t room = code->caller_room ? 2 * code->caller_room : 4;
        uint32_t *callers = Heap_resize(code->callers, room * sizeof *callers);

        if (!callers)
            return -ENOMEM;
        Cell_add(&code->grown_bytes,
                 (room - code->caller_room) * sizeof *callers);
        code->callers = callers;
        code->caller_room = room;
    }
    code->callers[code->caller_count++] = caller;
    return 1;
}

static void add_callee(struct Code *code, uint32_t callee)
{
    if (code->callee_count == code->callee_room) {
        uint32_t room = code->callee_room ? 2 * code->callee_room : 4;
        uint32_t *callees;

        if (room > CALLEES_MOST) { // the oldest may have gone
            code->callees[code->callee_next++ % CALLEES_MOST] = callee;
            return;
        }
        callees = Heap_resize(code->callees, room * sizeof *callees);
        if (!callees)
            return;
        Cell_add(&code->grown_bytes,
                 (room - code->callee_room) * sizeof *callees);
        code->callees = callees;
        code->callee_room = room;
    }
    code->callees[code->callee_count++] = callee;
}

int Code_link(struct Code *caller, struct Code *code)
{
    int news = Code_add_caller(code, caller->id);

    if (news != 1)
        return news;
    add_callee(caller, code->id);
    if (code->dark)
        Code_gain_dark_callee(caller);
    return news;
}
