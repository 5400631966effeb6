// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // __WALL
#include "tui/attach/stop.h"

#include "ipc/base/now.h"
#include "ipc/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define PATIENCE_NS 1000000000u // ns that a thread may take to stop.
#define PAUSE_NS 200000
// The list of threads is read at most PASSES_MOST times.
#define PASSES_MOST 32
// Largest number of tries to stop one thread.
#define SEIZES_MOST 3

static bool has(const struct Stop *stop, pid_t id)
{
    for (size_t i = 0; i < stop->count; i++) {
        if (stop->threads[i].id == id)
            return true;
    }
    return false;
}

// Waits until the thread has stopped. Returns 0, -ESRCH if the thread has
// ended, or -EBUSY after PATIENCE_NS.
static int await(struct StoppedThread *thread)
{
    const struct timespec pause = {0, PAUSE_NS};
    uint64_t until = Now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    for (;;) {
        int status;
        pid_t got = waitpid(thread->id, &status, __WALL | WNOHANG);
        if (got < 0)
            return -ESRCH;
        if (got > 0 && !WIFSTOPPED(status))
            return -ESRCH;
        if (got > 0) {
            // The thread has stopped because of PTRACE_INTERRUPT, or because of
            // a signal that came earlier. A signal that came earlier must not
            // be lost.
            bool ours = status >> 16 == PTRACE_EVENT_STOP;
            thread->signal = ours ? 0 : WSTOPSIG(status);
            return 0;
        }
        if (Now_ns(CLOCK_MONOTONIC) > until)
            return -EBUSY;
        nanosleep(&pause, NULL);
    }
}

// PTRACE_SEIZE fails with EPERM not only without the right to trace, but also
// if the thread is ending.
static bool has_ended(pid_t id)
{
    char status[PROCESS_STATUS];
    if (!Process_status(id, status))
        return true;
    char state = *Process_row(status, "\nState:\t");
    return state == 'Z' || state == 'X';
}

static bool is_traced(pid_t id)
{
    char status[PROCESS_STATUS];
    Process_status(id, status);
    return strtol(Process_row(status, "\nTracerPid:"), NULL, 10) > 0;
}

// Returns 0 or -errno: -ESRCH if the thread has ended, -EAGAIN if another
// process traces it.
static int seize(pid_t id)
{
    int error = 0;
    // Another ocular-top stops a thread only for a short time. That ocular-top
    // may have released the thread before is_traced() reads the thread's state.
    // So the loop tries again.
    for (int i = 0; i < SEIZES_MOST; i++) {
        if (ptrace(PTRACE_SEIZE, id, NULL, NULL) == 0)
            return 0;
        error = errno;
        if (error == ESRCH || (error == EPERM && has_ended(id)))
            return -ESRCH;
        if (error != EPERM)
            break;
        if (is_traced(id))
            return -EAGAIN;
    }
    return -error;
}

// Stops a thread. Returns 0 or an error of seize(). Also returns 0 if the
// thread has ended.
static int stop_one(struct Stop *stop, pid_t id)
{
    struct StoppedThread thread = {id, 0}, *threads;
    int error = seize(id);
    if (error)
        return error == -ESRCH ? 0 : error;
    threads = realloc(stop->threads, (stop->count + 1) * sizeof *threads);
    if (!threads)
        // When this process ends, the kernel lets the thread continue.
        return -ENOMEM;
    stop->threads = threads;
    if (ptrace(PTRACE_INTERRUPT, id, NULL, NULL) < 0)
        return errno == ESRCH ? 0 : -errno;
    error = await(&thread);
    if (!error)
        threads[stop->count++] = thread;
    return error == -ESRCH ? 0 : error;
}

// Stops the threads that have not stopped yet. Returns the number of threads
// that it has stopped, or -errno.
static long stop_new(struct Stop *stop, pid_t pid)
{
    char name[64];
    struct dirent *entry;
    long count = 0;
    int error = 0;
    snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(name);
    if (!tasks)
        return -errno;
    while (!error && (entry = readdir(tasks))) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id <= 0 || has(stop, id))
            continue;
        error = stop_one(stop, id);
        count++;
    }
    closedir(tasks);
    return error ? error : count;
}

static void explain(int error, pid_t pid, char *why, size_t why_size)
{
    if (error == -EPERM || error == -EAGAIN)
        snprintf(why, why_size,
                 "process %d may not be attached to: another debugger holds it "
                 "(see TracerPid in /proc/%d/status), or run this as root (see "
                 "`man ptrace`, \"ptrace_scope\")",
                 (int)pid, (int)pid);
    else if (error == -EBUSY)
        snprintf(why, why_size,
                 "process %d does not stop for a moment: the kernel holds a "
                 "thread of it, in input or output of a disk, say; try again",
                 (int)pid);
    else
        snprintf(why, why_size, "process %d has ended", (int)pid);
}

int Stop_all(struct Stop *stop, pid_t pid, char *why, size_t why_size)
{
    long new = 1;
    *stop = (struct Stop){0};
    for (int i = 0; i<PASSES_MOST &&new> 0; i++)
        new = stop_new(stop, pid);
    if (new == 0 && stop->count)
        return 0;
    Stop_release(stop);
    int error = new < 0 ? (int)new : new ? -EBUSY : -ESRCH;
    explain(error, pid, why, why_size);
    return error;
}

int Stop_let_run(struct Stop *stop, pid_t id, long ns)
{
    const struct timespec moment = {0, ns};
    for (size_t i = 0; i < stop->count; i++) {
        struct StoppedThread *thread = &stop->threads[i];
        if (thread->id != id)
            continue;
        if (ptrace(PTRACE_CONT, id, NULL, (void *)(intptr_t)thread->signal) < 0)
            return -errno;
        thread->signal = 0;
        nanosleep(&moment, NULL);
        if (ptrace(PTRACE_INTERRUPT, id, NULL, NULL) < 0)
            return -errno;
        return await(thread);
    }
    return -ESRCH;
}

void Stop_release(struct Stop *stop)
{
    for (size_t i = 0; i < stop->count; i++)
        ptrace(PTRACE_DETACH, stop->threads[i].id, NULL,
               (void *)(intptr_t)stop->threads[i].signal);
    free(stop->threads);
    *stop = (struct Stop){0};
}
