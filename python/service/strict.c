// SPDX-License-Identifier: MIT
// After tracing has ended this way, the phase stays PHASE_STOPPING until the
// process ends. Ocular's hooks then do nothing, and the session is not freed.
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
#define PATIENCE_S 3.0 // Longer than the governor's longest sleep.
#define WHY "no time stamp counter any more (seccomp's strict mode)"

// `ender` is the thread that ends the session. `ender` is global, because a
// signal handler gets no other data, and because it outlives the session's
// threads.
static struct Worker ender;
// True if silence() has ended the tracing, so that only `ender` ends the
// session.
static atomic_bool ended;
// Strict_is_found stores the time of its newest call here, CLOCK_MONOTONIC.
static _Atomic double looked_s;
// CPU time of the main thread at `looked_s`, or 0 if it was not read
static _Atomic uint64_t ran_ns;

static void nothing(void)
{
}

// The thread that may not read the time stamp counter calls this function, in a
// hook or in a signal handler.
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

// Reads the main thread's file `name` in /proc. Returns `text`, or NULL if the
// file cannot be read.
static const char *read_of_main(const char *name, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)getpid(), name);
    return Opened_read(path, text, size) > 0 ? text : NULL;
}

// Returns true if the main thread has used CPU time since the last call. A
// thread that has used no CPU time cannot have changed its seccomp mode.
static bool main_has_run(void)
{
    uint64_t now_ns = Now_ns(Now_clock_of(getpid()));

    atomic_store_explicit(&looked_s, Now_s(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    return atomic_exchange(&ran_ns, now_ns) != now_ns || !now_ns;
}

// Returns true if a thread may not read the time stamp counter, or if the main
// thread is in seccomp's strict mode. If the kernel has killed the main thread
// for a forbidden system call, /proc shows a mode that is larger than all
// defined modes.
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
    if (mode == SECCOMP_MODE_STRICT || mode > SECCOMP_MODE_FILTER)
        TscGuard_trip();
    // A thread may have lost the right to read the counter while the file was
    // read.
    return TscGuard_has_tripped();
}

// Returns true if the main thread has ended. The kernel shows an ended main
// thread as a zombie with its exit status.
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

// Returns true if the main thread is the program's only thread that is left.
static bool others_have_ended(void)
{
    static const char field[] = "\nThreads:";
    char text[4096];
    const char *at = read_of_main("status", text, sizeof text);

    at = at ? strstr(at, field) : NULL;
    return at && atoi(at + sizeof field - 1) == 1 + Worker_count();
}

// If all threads of the program have ended, ends the process with the main
// thread's exit status, as if Ocular had not run. Otherwise the kernel would
// use the status of Ocular's last thread. Returns true if the main thread has
// ended and other threads run.
static bool end_as_main_thread(void)
{
    int status;

    if (!main_has_ended(&status))
        return false;
    if (others_have_ended()) {
        if (WIFSIGNALED(status))
            // The kernel kills with SIGKILL in strict mode.
            kill(getpid(), SIGKILL);
        _exit(WEXITSTATUS(status));
    }
    poll(NULL, 0, PAUSE_MS);
    return true;
}

// Ends Ocular's threads. The governor ends by itself, unless the main thread
// has ended with the GIL held and the governor waits for the GIL. After the
// governor's end the activation thread is woken.
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

// Returns true if the governor has not called Strict_is_found for PATIENCE_S
// seconds, because the governor may wait for the GIL.
static bool governor_is_late(void)
{
    double s = Now_s(CLOCK_MONOTONIC) -
               atomic_load_explicit(&looked_s, memory_order_relaxed);

    return s > PATIENCE_S;
}

// Drains the events into the recording and prints the recording's path. The
// recording is not converted here, because the interpreter may hang forever.
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
