// SPDX-License-Identifier: MIT
// See strict.h. The process stays PHASE_STOPPING for good: nothing of ours is
// called any more, and the session is not freed.
#include "python/service/strict.h"
#include "ipc/base/now.h"
#include "ipc/base/opened.h"
#include "python/hooks/hooks.h"
#include "python/service/service.h"
#include "python/service/termination.h"
#include "tracer/base/tsc_guard.h"
#include "tracer/session/collect.h"
#include "tracer/session/lifetime.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES (256u << 10)
#define PAUSE_MS 10
#define PATIENCE_S 3.0 // the governor looks more often, unless it waits
#define WHY "no time stamp counter any more (seccomp's strict mode)"

// Global: the handler has nothing else, and its end outlives the session's
// threads.
static struct Worker ender;
static atomic_bool ended;       // by us: nobody else stops the session
static _Atomic double looked_s; // CLOCK_MONOTONIC, when Strict_is_found did
static _Atomic uint64_t ran_ns; // CPU time of the main thread then; 0: never

static void nothing(void)
{
}

// On the thread that it is about, in a hook or in a signal's handler.
static void silence(void)
{
    if (ocular_state.phase != PHASE_TRACING)
        return;
    ocular_state.phase = PHASE_STOPPING;
    atomic_store(&ended, true);
    Hooks_silence(&ocular_state, nothing);
}

void Strict_start(void)
{
    atomic_store(&ended, false);
    atomic_store(&ran_ns, 0);
    TscGuard_start(silence);
}

void Strict_stop(void)
{
    TscGuard_stop();
    if (!ocular_service.activation.persistent.server)
        Termination_serves_no_more();
}

// A file of the main thread's in /proc; NULL: it cannot be read.
static const char *read_of_main(const char *name, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)getpid(), name);
    return Opened_read(path, text, size) > 0 ? text : NULL;
}

// A thread that has not run since cannot have changed its mode.
static bool main_has_run(void)
{
    uint64_t now_ns = Now_ns(Now_clock_of(getpid()));

    atomic_store_explicit(&looked_s, Now_s(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    return atomic_exchange(&ran_ns, now_ns) != now_ns || !now_ns;
}

// In that mode, or killed by it or by a filter, which the kernel shows as a
// mode beyond those that there are.
bool Strict_is_found(void)
{
    static const char field[] = "\nSeccomp:";
    char text[4096];
    const char *at;
    long mode;

    if (TscGuard_has_tripped())
        return true;
    if (!main_has_run())
        return false;
    at = read_of_main("status", text, sizeof text);
    at = at ? strstr(at, field) : NULL;
    mode = at ? strtol(at + sizeof field - 1, NULL, 10) : 0;
    if (mode != SECCOMP_MODE_STRICT && mode <= SECCOMP_MODE_FILTER)
        return false;
    TscGuard_trip();
    return true;
}

// The main thread has ended, which is shown as a zombie then, with that status.
static bool main_has_ended(int *status)
{
    char text[1024];
    const char *at = read_of_main("stat", text, sizeof text);

    at = at ? strrchr(at, ')') : NULL;
    if (!at || strncmp(at, ") Z", 3) != 0)
        return false;
    *status = atoi(strrchr(at, ' ')); // exit_code, the last field
    return true;
}

// No thread of the program is left but the main one.
static bool others_have_ended(void)
{
    static const char field[] = "\nThreads:";
    char text[4096];
    const char *at = read_of_main("status", text, sizeof text);

    at = at ? strstr(at, field) : NULL;
    return at && atoi(at + sizeof field - 1) == 1 + Worker_count();
}

// Without us the process would have ended with the main thread: it does now,
// with its status. Else the kernel would take that of our last thread. Returns
// whether it may come to that.
static bool end_as_main_thread(void)
{
    int status;

    if (!main_has_ended(&status))
        return false;
    if (others_have_ended()) {
        if (WIFSIGNALED(status))
            kill(getpid(), SIGKILL); // as that mode does
        _exit(WEXITSTATUS(status));
    }
    poll(NULL, 0, PAUSE_MS);
    return true;
}

// The governor ends by itself; not if it waits for the interpreter's lock, and
// the main thread has ended with that. Then the activation thread is woken.
static void end_threads(void *context)
{
    struct Session *session = context;
    struct Server *server = ocular_service.activation.persistent.server;

    while (atomic_load(&session->governor.tid))
        if (!end_as_main_thread())
            poll(NULL, 0, PAUSE_MS);
    Session_finish(session);
    if (server)
        Server_pause(server);
    Activation_end(&ocular_service.activation);
    while (end_as_main_thread())
        continue;
}

// The governor may have waited for the interpreter's lock when it came to that.
static bool governor_is_late(void)
{
    double s = Now_s(CLOCK_MONOTONIC) -
               atomic_load_explicit(&looked_s, memory_order_relaxed);

    return s > PATIENCE_S;
}

// The interpreter may be stuck for good: nothing is made of the recording here.
static void say_what_is_left(struct Session *session)
{
    Collect_drain(session);
    session->keeps_recording = true;
    if (session->recording)
        dprintf(2, "ocular: " WHY ": tracing has ended, and %s has it\n",
                Recording_path(session->recording));
}

void Strict_serve(struct Session *session)
{
    if (ender.started || !(TscGuard_has_tripped() || governor_is_late()) ||
        !Strict_is_found() || !atomic_load(&ended))
        return;
    say_what_is_left(session);
    Termination_serves_no_more();
    Worker_start(&ender, "ocular-end", end_threads, session, STACK_BYTES);
}
