// SPDX-License-Identifier: MIT
#include "tracer/code/links.h"
#include "ipc/base/heap.h"
#include "tracer/code/arming.h"

#include <errno.h>

// Number of a function's newest known callees that are kept.
#define CALLEES_MOST 64
// Largest number of callers that are kept for code that never loses its hooks.
#define CALLERS_UNBOUNDED 64

bool Code_has_caller(const struct Code *code, uint32_t caller)
{
    uint32_t i;

    for (i = 0; i < code->links.caller_count; i++)
        if (code->links.callers[i] == caller)
            return true;
    return false;
}

static bool add_caller(struct Code *code, uint32_t caller)
{
    if (code->hot.stop_at == CODE_NEVER &&
        code->links.caller_count == CALLERS_UNBOUNDED)
        return false;
    if (code->links.caller_count == code->links.caller_room) {
        uint32_t room =
            code->links.caller_room ? 2 * code->links.caller_room : 4;
        uint32_t *callers =
            Heap_resize(code->links.callers, room * sizeof *callers);

        if (!callers)
            return false;
        code->links.callers = callers;
        code->links.caller_room = room;
    }
    code->links.callers[code->links.caller_count++] = caller;
    return true;
}

static void add_callee(struct Code *code, uint32_t callee)
{
    if (code->links.callee_count == code->links.callee_room) {
        uint32_t room =
            code->links.callee_room ? 2 * code->links.callee_room : 4;
        uint32_t *callees;

        // The new callee replaces the oldest callee, because the code of the
        // oldest callee might no longer exist.
        if (room > CALLEES_MOST) {
            code->links.callees[code->links.callee_next++ % CALLEES_MOST] =
                callee;
            return;
        }
        callees = Heap_resize(code->links.callees, room * sizeof *callees);
        if (!callees)
            return;
        code->links.callees = callees;
        code->links.callee_room = (uint16_t)room;
    }
    code->links.callees[code->links.callee_count++] = callee;
}

void Code_link(struct Code *caller, struct Code *code)
{
    if (!add_caller(code, caller->hot.id))
        return;
    add_callee(caller, code->hot.id);
    if (code->hot.dark && code->cold.reported)
        Code_gain_dark_callee(caller);
}
