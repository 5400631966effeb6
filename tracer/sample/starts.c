// SPDX-License-Identifier: MIT
#include "tracer/sample/starts.h"

// Of the threads that start in a second, at most this number get a timer.
#define MOST_STARTS 100

void Starts_init(struct Starts *starts)
{
    atomic_init(&starts->one_in, 1);
}

// Returns a pseudo-random number that is different for each input (splitmix64
// by Vigna, public domain).
static uint64_t scatter(uint64_t number)
{
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

void Starts_begin(struct Starts *starts, struct CpuTimers *timers,
                  uintptr_t state, uint64_t period_ns)
{
    const struct Clock *clock = timers->clock;
    uint64_t begin = Clock_read(clock);
    uint64_t number =
        scatter(begin + 0x9e3779b97f4a7c15u *
                            atomic_fetch_add_explicit(&starts->begun, 1,
                                                      memory_order_relaxed));
    uint32_t one_in =
        atomic_load_explicit(&starts->one_in, memory_order_relaxed);
    uint64_t took;

    if (!period_ns || number % one_in)
        return;
    CpuTimer_begin(timers, state, period_ns, one_in, number / one_in);
    took = Clock_read(clock) - begin;
    atomic_fetch_add_explicit(&starts->ticks,
                              took < timers->most ? took : timers->most,
                              memory_order_relaxed);
}

void Starts_step(struct Starts *starts, uint64_t now_ns)
{
    uint64_t begun = atomic_load_explicit(&starts->begun, memory_order_relaxed);
    double s = (double)(now_ns - starts->since_ns) * 1e-9;
    double rate = (double)(begun - starts->before) / (s > 0 ? s : 1);

    starts->before = begun;
    starts->since_ns = now_ns;
    atomic_store_explicit(&starts->one_in, 1 + (uint32_t)(rate / MOST_STARTS),
                          memory_order_relaxed);
}

double Starts_s(const struct Starts *starts, const struct Clock *clock)
{
    return (double)atomic_load_explicit(&starts->ticks, memory_order_relaxed) /
           Clock_hz(clock);
}
