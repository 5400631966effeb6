// SPDX-License-Identifier: MIT
// Measures how long a walk over C functions takes in a signal handler. Prints
// the median and the 99th percentile in us, and the median number of functions.
#include "formats/native_rows.h"
#include "ipc/base/now.h"
#include "tracer/sample/native.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <zlib.h>

#define WALKS 2000u
#define DEPTH 8 // Number of nested calls of work().

#if defined(OCULAR_LIBDW) && defined(__x86_64__)
static struct Native native;
static struct NativeWalk walk;
static volatile unsigned taken;
static double us[WALKS], depths[WALKS];
static Bytef from[1 << 16], to[1 << 17];

static void on_signal(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uint64_t begun = Now_ns(CLOCK_MONOTONIC);

    (void)number, (void)info;
    if (taken == WALKS)
        return;
    walk.pc = (uintptr_t)registers[REG_RIP];
    walk.sp = (uintptr_t)registers[REG_RSP];
    walk.bp = (uintptr_t)registers[REG_RBP];
    NativeTable_walk(atomic_load(&native.table), &walk);
    us[taken] = (double)(Now_ns(CLOCK_MONOTONIC) - begun) / 1e3;
    depths[taken++] = walk.depth;
}

static __attribute__((noinline)) int work(int depth)
{
    uLongf size = sizeof to;

    return depth ? work(depth - 1) + 1
                 : compress2(to, &size, from, sizeof from, 6);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerval every = {{0, 1000}, {0, 1000}};
    uint32_t ids[NATIVE_IDS];

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (Bytef)(random() % 64);
    Native_init(&native, NativeRows_read);
    atomic_store(&native.wanted_ns, UINT64_MAX);
    Native_step(&native, 1);
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    // Ocular reads the unwind tables that the first walks need.
    for (unsigned i = 0; taken < WALKS; i++) {
        work(DEPTH);
        if (i < 50) {
            Native_step(&native, 2);
            Native_resolve(&native, walk.pcs, walk.depth, walk.end, ids);
            taken = 0;
        }
    }
    qsort(us, WALKS, sizeof *us, by_size);
    qsort(depths, WALKS, sizeof *depths, by_size);
    printf("%.2f %.2f %.0f\n", us[WALKS / 2], us[WALKS * 99 / 100],
           depths[WALKS / 2]);
    Native_release(&native);
    return 0;
}
#else
int main(void)
{
    return 77; // Ocular was built without elfutils.
}
#endif
