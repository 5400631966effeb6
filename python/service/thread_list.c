// SPDX-License-Identifier: MIT
// See thread_list.h. CPython puts a new thread state before the others
// (add_threadstate in Python/pystate.c), with a larger id: what is there and
// what was listed before are in the same order.
#include "python/service/thread_list.h"
#include "ipc/base/heap.h"
#include "python/hooks/interpreter.h"
#include "python/hooks/thread_name.h"
#include "tracer/budget/policy.h"

// Asked for anew each time: a thread may be renamed.
#define NAMES 16
// Between two walks, for each thread; a new one is listed at once.
#define THREAD_S 1e-3

// Not one of ours, and not half made.
static bool is_programs(const struct OurThreads *ours,
                        const PyThreadState *thread)
{
    size_t i;

    for (i = 0; i < sizeof ours->states / sizeof *ours->states; i++)
        if (thread == ours->states[i])
            return false;
    return thread->native_thread_id != 0;
}

size_t ThreadList_count(const struct OurThreads *ours)
{
    PyThreadState *thread =
        PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    size_t count = 0;

    for (; thread; thread = PyThreadState_Next(thread))
        count += is_programs(ours, thread);
    return count;
}

// Room for one more; doubled. false: no memory.
static bool grow(struct ListedThread **threads, size_t count, size_t *room)
{
    struct ListedThread *more;

    if (count < *room)
        return true;
    more = Heap_resize(*threads, (2 * *room + 8) * sizeof *more);
    if (!more)
        return false;
    *threads = more;
    *room = 2 * *room + 8;
    return true;
}

// Where it stands in the list, from `at` on; the list's end: nowhere.
static size_t find(const struct ThreadList *list, size_t at,
                   const struct ListedThread *thread)
{
    size_t i;

    for (i = at; i < list->count; i++)
        if (list->threads[i].state == thread->state &&
            list->threads[i].tid == thread->tid)
            break;
    return i;
}

// All threads, with the names that were known of them. false: no memory.
static bool walk(struct ThreadList *list, const struct OurThreads *ours)
{
    PyThreadState *thread =
        PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    struct ListedThread *threads = NULL;
    size_t count = 0, room = 0, known = 0, asked = 0;

    list->newest = thread->id;
    for (; thread; thread = PyThreadState_Next(thread)) {
        struct ListedThread *listed;
        bool again = count >= list->next && asked < NAMES;
        size_t at;

        if (!is_programs(ours, thread))
            continue;
        if (!grow(&threads, count, &room)) {
            Heap_free(threads);
            return false;
        }
        listed = &threads[count++];
        *listed = (struct ListedThread){
            .state = (uintptr_t)thread,
            .tid = (pid_t)thread->native_thread_id,
        };
        at = find(list, known, listed);
        if (at < list->count)
            known = at + 1;
        if (at < list->count && !again)
            *listed = list->threads[at];
        else
            ThreadName_get(thread, listed->name, sizeof listed->name);
        asked += again;
    }
    list->next = asked < NAMES ? 0 : list->next + NAMES;
    Heap_free(list->threads);
    list->threads = threads;
    list->count = count;
    return true;
}

static uint64_t pause_of(const struct ThreadList *list, double hz)
{
    return (uint64_t)((double)list->count * THREAD_S * hz);
}

void ThreadList_update(struct ThreadList *list, struct State *state,
                       const struct OurThreads *ours)
{
    struct Engine *engine = &state->engine;
    struct Sampler *sampler = engine->session->sampler;
    uint64_t now = Clock_read(&engine->clock);
    double hz = Clock_hz(&engine->clock);

    if (Policy_is_ahead(list->due, now, pause_of(list, hz)) &&
        PyInterpreterState_ThreadHead(PyInterpreterState_Get())->id ==
            list->newest)
        return;
    if (!walk(list, ours))
        return;
    list->due = now + pause_of(list, hz);
    if (Interpreter_switch_interval(state) < 0) // the last one stays
        PyErr_Clear();
    // Where several threads share the interpreter, a span much longer than
    // the switch interval cannot have been run without a break.
    Contention_share(&engine->contention,
                     list->count > 1 ? state->switch_interval : 0);
    if (sampler)
        Sampler_set_threads(sampler, list->threads, list->count);
}

void ThreadList_release(struct ThreadList *list)
{
    Heap_free(list->threads);
    *list = (struct ThreadList){.count = 0};
}
