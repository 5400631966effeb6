// SPDX-License-Identifier: MIT
// See known_calls.h. The weak reference is made when a second walk finds a
// coroutine at an address, because most calls end before.
#include "python/hooks/known_calls.h"

static bool is_alive(const struct KnownCall *call)
{
    return call->weak &&
           ((PyWeakReference *)call->weak)->wr_object == call->coroutine;
}

// Returns the number of walks since the call was last found.
static unsigned missed(const struct KnownCalls *calls,
                       const struct KnownCall *call)
{
    return (uint16_t)(calls->walk - call->walk);
}

static void drop(struct KnownCall *call)
{
    Py_CLEAR(call->weak);
    call->coroutine = NULL;
}

// Returns the entry of a coroutine, or a free one, or the one that was not
// found for the longest time. Returns NULL if the newest walks have found all
// calls of the set.
static struct KnownCall *find(struct KnownCalls *calls,
                              const PyObject *coroutine)
{
    uint64_t hash = (uintptr_t)coroutine * 0x9e3779b97f4a7c15u;
    struct KnownCall *set = calls->entries[(hash >> 32) % CALL_SETS];
    struct KnownCall *oldest = NULL;

    for (unsigned i = 0; i < CALL_WAYS; i++) {
        struct KnownCall *call = &set[i];

        if (call->coroutine == coroutine)
            return call;
        if (missed(calls, call) > 1 && !is_alive(call))
            drop(call);
        if (!call->coroutine ||
            ((!oldest || oldest->coroutine) && missed(calls, call) > 1 &&
             (!oldest || missed(calls, call) > missed(calls, oldest))))
            oldest = call;
    }
    return oldest;
}

double KnownCalls_age(struct KnownCalls *calls, PyObject *coroutine,
                      double now_s)
{
    struct KnownCall *call = find(calls, coroutine);

    if (!call)
        return 0;
    if (call->coroutine != coroutine) {
        drop(call);
        call->coroutine = coroutine;
    } else if (!is_alive(call)) {
        Py_XSETREF(call->weak, PyWeakref_NewRef(coroutine, NULL));
        call->since_s = now_s;
    }
    call->walk = calls->walk;
    return call->weak ? now_s - call->since_s : 0;
}

void KnownCalls_clear(struct KnownCalls *calls)
{
    for (unsigned i = 0; i < CALL_SETS * CALL_WAYS; i++)
        drop(&calls->entries[i / CALL_WAYS][i % CALL_WAYS]);
}
