// SPDX-License-Identifier: MIT
// CPython inserts a new thread state at the head of CPython's list and gives
// the thread state a larger id (add_threadstate in Python/pystate.c). Therefore
// the threads that are in both lists, the old one and the new one, have the
// same order in both.
#include "python/service/thread_list.h"
#include "ipc/base/heap.h"
#include "python/hooks/interpreter_facts.h"
#include "python/hooks/thread_name.h"
#include "python/hooks/thread_state.h"
#include "tracer/budget/control.h"
#include "tracer/hook/running_threads.h"

#include <string.h>

// One update reads the names of this number of known threads again, because a
// thread may be renamed.
#define NAMES 16
// Between two updates at least THREAD_S seconds pass for each thread in the
// list, but a new thread causes an update at once.
#define THREAD_S 1e-3

// Returns true if the thread is one of the program's threads and completely
// made.
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

static struct StateListed describe(const struct OurThreads *ours,
                                   const PyThreadState *thread)
{
    return (struct StateListed){
        .address = (uintptr_t)thread,
        .id = thread->id,
        .tid = (pid_t)thread->native_thread_id,
        .ident = (uintptr_t)thread->thread_id,
        .has_run = ThreadState_chunk(thread) != 0,
        .ours = !is_programs(ours, thread),
    };
}

// Returns all thread states of the interpreter, or NULL if memory is out. The
// caller frees the array.
static struct StateListed *list_states(const struct OurThreads *ours,
                                       size_t *count)
{
    PyThreadState *first =
        PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    struct StateListed *states;
    PyThreadState *thread;

    *count = 0;
    for (thread = first; thread; thread = PyThreadState_Next(thread))
        ++*count;
    states = Heap_alloc(*count * sizeof *states);
    *count = 0;
    for (thread = first; states && thread; thread = PyThreadState_Next(thread))
        states[(*count)++] = describe(ours, thread);
    return states;
}

// Searches the list from index `at` on. Returns the index of `thread`, or
// list->count if the thread is not found.
static size_t find(const struct ThreadList *list, size_t at,
                   const struct ListedThread *thread)
{
    size_t i;

    for (i = at; i < list->count; i++)
        if (list->threads[i].tid == thread->tid &&
            list->threads[i].number == thread->number)
            break;
    return i;
}

// Fills `threads` from `running` and the known names, and stores `threads` as
// the new list.
static void take(struct ThreadList *list, const struct RunningThread *running,
                 struct ListedThread *threads, size_t count)
{
    size_t known = 0, asked = 0, at, i;

    list->sharing = 0;
    for (i = 0; i < count; i++) {
        struct ListedThread *listed = &threads[i];
        bool again = i >= list->next && asked < NAMES;

        *listed = (struct ListedThread){.state = running[i].state,
                                        .tid = running[i].tid,
                                        .number = running[i].number};
        list->sharing += listed->state != 0;
        at = find(list, known, listed);
        if (at < list->count)
            known = at + 1;
        if (at < list->count && !again)
            memcpy(listed->name, list->threads[at].name, sizeof listed->name);
        else
            ThreadName_get(running[i].ident, listed->name, sizeof listed->name);
        asked += again;
    }
    list->next = asked < NAMES ? 0 : list->next + NAMES;
    Heap_free(list->threads);
    list->threads = threads;
    list->count = count;
}

// Makes a new list of all threads. Returns false if memory is out.
static bool walk(struct ThreadList *list, struct ThreadTraces *traces,
                 const struct OurThreads *ours)
{
    struct RunningThread *running = NULL;
    struct ListedThread *threads = NULL;
    size_t state_count;
    struct StateListed *states = list_states(ours, &state_count);
    long count =
        states ? RunningThreads_find(traces, states, state_count, &running)
               : -1;

    if (count >= 0)
        threads = Heap_alloc(((size_t)count + 1) * sizeof *threads);
    if (threads) {
        list->newest = states[0].id;
        take(list, running, threads, (size_t)count);
    }
    Heap_free(running);
    Heap_free(states);
    return threads;
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

    if (Control_is_ahead(list->due, now, pause_of(list, hz)) &&
        PyInterpreterState_ThreadHead(PyInterpreterState_Get())->id ==
            list->newest)
        return;
    if (!walk(list, &engine->traces, ours))
        return;
    list->due = now + pause_of(list, hz);
    // If the interval cannot be read, the old interval stays.
    if (InterpreterFacts_switch_interval(state) < 0)
        PyErr_Clear();
    // If several threads share the GIL, a thread cannot have run without a
    // break for much longer than the switch interval.
    Counting_begin(&engine->counting);
    Contention_share(&engine->contention,
                     list->sharing > 1 ? state->switch_interval : 0);
    Counting_set_brief(&engine->counting);
    Counting_end(&engine->counting);
    if (sampler)
        Sampler_set_threads(sampler, list->threads, list->count);
}

void ThreadList_release(struct ThreadList *list)
{
    Heap_free(list->threads);
    *list = (struct ThreadList){.count = 0};
}
