// SPDX-License-Identifier: MIT
// A sampled thread's clocks and what they are worth; see the header.
//
// A look finds a thread running or not, and the time since the look before goes
// to that: to CPU time or to waiting, of the function on top. Since the looks
// come at random times, that is right in the mean. It is then scaled by what
// the thread's CPU clock says: "running" includes waiting for a CPU (on a
// machine with one CPU a thread never runs while it is looked at).
#include "tracer/subject.h"

#include "tracer/rcu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RATIO 30e9         // ns
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
    double ran = (double)(int64_t)(cpu_ns - subject->cpu_ns);
    double since = (double)(int64_t)(wall_ns - subject->wall_ns);
    double fade = 1 / (1 + since / RATIO);
    bool known = subject->known;

    if (cpu_ns == NO_TIME)
        return SUBJECT_GONE;
    subject->before_ns = subject->cpu_ns;
    subject->cpu_ns = cpu_ns;
    subject->wall_ns = wall_ns;
    subject->known = true;
    if (!known || ran < 0) { // below zero: another thread with that number
        subject->walked = false;
        return SUBJECT_NEW;
    }
    subject->since_ns = since;
    subject->woke = false;
    subject->ran_ns = subject->ran_ns * fade + ran;
    subject->seen_ns *= fade;
    ShareValue_add(&subject->cpu, now, ran);
    ShareValue_add(&subject->wait, now, since - ran);
    Cell_add(&subject->samples, 1);
    if (ran > 0 || !subject->walked)
        return SUBJECT_RAN;
    subject->idle_ns += since;
    return SUBJECT_IDLE;
}

// Looks that are rare only while nothing runs do not come at random: if all of
// the span were credited to what is on top now, whatever a program does first
// when it wakes would be too much, by half a long interval each time.
void Subject_woke(struct Subject *subject)
{
    double ran = (double)(subject->cpu_ns - subject->before_ns);

    ran = ran < subject->since_ns ? ran : subject->since_ns;
    subject->idle_ns += subject->since_ns - ran;
    subject->since_ns = ran;
    subject->woke = true;
}

void Subject_forget(struct Subject *subject)
{
    subject->known = subject->walked = false;
    subject->idle_ns = 0;
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

void Subject_set_stack(struct Subject *subject, const struct Walk *walk,
                       uint32_t newest_id)
{
    subject->newest_id = newest_id;
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

// Splits what is to be credited into CPU time and waiting.
static void split(struct Subject *subject, enum SubjectDoing doing, double *cpu,
                  double *wait)
{
    double ratio;

    *cpu = 0;
    if (doing == DOING_IDLED) {
        *wait = subject->idle_ns;
        subject->idle_ns = 0;
        return;
    }
    *wait = subject->since_ns;
    if (doing == DOING_WAITED) {
        // Running: where, nobody saw. The ratio makes up for it.
        *wait = subject->woke ? 0 : subject->since_ns;
        return;
    }
    subject->seen_ns += subject->since_ns;
    ratio = subject->ran_ns / subject->seen_ns;
    *cpu = subject->since_ns * ratio;
    *wait = ratio < 1 ? subject->since_ns - *cpu : 0;
}

double Subject_credit(struct Subject *subject, enum SubjectDoing doing,
                      struct Registry *registry, double now)
{
    struct Code *codes[WALK_DEPTH];
    unsigned count = 0, top = 0;
    double cpu, wait;

    split(subject, doing, &cpu, &wait);
    if (!(cpu + wait > 0))
        return 0;
    Rcu_read_lock();
    for (unsigned i = 0; i < subject->depth; i++) {
        struct Code *code = Registry_find(registry, subject->stack[i]);

        if (code == NULL || Code_is_after(code, subject->newest_id) ||
            among(codes, count, code))
            continue;
        if (count == 0)
            top = i;
        codes[count++] = code;
        ShareValue_add(&code->share.under, now, cpu + wait);
    }
    if (count > 0) {
        ShareValue_add(&codes[0]->share.cpu, now, cpu);
        ShareValue_add(&codes[0]->share.wait, now, wait);
        Cell_add(&codes[0]->share.samples, 1);
    }
    Rcu_read_unlock();
    return count == 0 || top > 0 ? cpu : 0;
}
