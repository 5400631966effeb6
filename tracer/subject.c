// SPDX-License-Identifier: MIT
// A sampled thread's clocks and debts; see the header. CPU time is credited
// only to stacks seen while the thread was running and the rest only to stacks
// seen while it was not: crediting both to every sample would give a thread
// that sleeps nine tenths of the time nine tenths of its CPU time in sleep().
#include "tracer/subject.h"

#include "tracer/rcu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NO_TIME UINT64_MAX // of a thread that has ended

void Subject_init(struct Subject *subject, uintptr_t state, pid_t tid)
{
    memset(subject, 0, sizeof(*subject));
    subject->state = state;
    subject->tid = tid;
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;

    if (clock_gettime(id, &now) != 0)
        return NO_TIME;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// The kernel's per-thread CPU clock by thread id. pthread_getcpuclockid would
// need a pthread_t, which dangles once the thread has ended.
static uint64_t read_cpu(pid_t tid)
{
    return read_clock((clockid_t)(~(unsigned)tid << 3 | 6));
}

enum SubjectLook Subject_look(struct Subject *subject, double now)
{
    uint64_t cpu_ns = read_cpu(subject->tid);
    uint64_t wall_ns = read_clock(CLOCK_MONOTONIC);
    double ran, waited;
    bool known = subject->known, idle;

    if (cpu_ns == NO_TIME)
        return SUBJECT_GONE;
    ran = (double)(int64_t)(cpu_ns - subject->cpu_ns);
    waited = (double)(int64_t)(wall_ns - subject->wall_ns) - ran;
    subject->cpu_ns = cpu_ns;
    subject->wall_ns = wall_ns;
    subject->known = true;
    if (!known || ran < 0) { // below zero: another thread with that number
        subject->walked = false;
        return SUBJECT_NEW;
    }
    idle = ran == 0 && subject->walked;
    // The two clocks are not read at one moment: a little below zero is
    // possible, and makes up for a little too much the time before.
    subject->debt[DEBT_RAN] += ran;
    subject->debt[idle ? DEBT_IDLED : DEBT_WAITED] += waited;
    ShareValue_add(&subject->cpu, now, ran);
    ShareValue_add(&subject->wait, now, waited);
    Cell_add(&subject->samples, 1);
    return idle ? SUBJECT_IDLE : SUBJECT_RAN;
}

bool Subject_runs(const struct Subject *subject)
{
    uint64_t cpu_ns = read_cpu(subject->tid);

    return cpu_ns != NO_TIME && cpu_ns > subject->cpu_ns;
}

// 'R' in /proc/self/task/TID/stat: running, or waiting for a CPU.
bool Subject_could_run(const struct Subject *subject)
{
    char path[64], text[256], *end;
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)subject->tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    end = strrchr(text, ')'); // of its name, which may hold anything
    return end && strncmp(end, ") R", 3) == 0;
}

void Subject_set_stack(struct Subject *subject, const struct Walk *walk)
{
    subject->depth = walk->depth;
    for (unsigned i = 0; i < walk->depth; i++)
        subject->stack[i] = walk->frames[i].code;
    subject->walked = true;
}

static bool among(struct Code *const *codes, unsigned count, struct Code *code)
{
    while (count-- > 0) {
        if (codes[count] == code)
            return true;
    }
    return false;
}

double Subject_credit(struct Subject *subject, enum SubjectDebt which,
                      struct Registry *registry, double now)
{
    struct Code *codes[WALK_DEPTH];
    unsigned count = 0, top = 0;
    double ns = subject->debt[which];
    bool ran = which == DEBT_RAN;

    if (!(ns > 0))
        return 0;
    subject->debt[which] = 0;
    Rcu_read_lock();
    for (unsigned i = 0; i < subject->depth; i++) {
        struct Code *code = Registry_find(registry, subject->stack[i]);

        if (code == NULL || among(codes, count, code))
            continue;
        if (count == 0)
            top = i;
        codes[count++] = code;
        ShareValue_add(&code->share.under, now, ns);
    }
    if (count > 0) {
        struct Share *share = &codes[0]->share;

        ShareValue_add(ran ? &share->cpu : &share->wait, now, ns);
        Cell_add(&share->samples, 1);
    }
    Rcu_read_unlock();
    return ran && (count == 0 || top > 0) ? ns : 0;
}
