// SPDX-License-Identifier: MIT
// See account.h.
#include "tracer/budget/account.h"
#include "ipc/base/now.h"
#include "tracer/session/session.h"

#include <math.h>
#include <time.h>

void Account_init(struct Account *account, const struct Session *session)
{
    const struct BudgetReading zero = {0};

    pthread_mutex_init(&account->mutex, NULL);
    account->wall = Now_s(CLOCK_MONOTONIC);
    account->cpu = Now_s(CLOCK_PROCESS_CPUTIME_ID);
    account->timed = account->hooks = 0;
    Budget_init(&account->budget, session->budget, &zero);
}

void Account_release(struct Account *account)
{
    pthread_mutex_destroy(&account->mutex);
}

static double worker_s(const struct Worker *worker)
{
    return (double)Worker_cpu_ns(worker) / 1e9;
}

static double hooks_s(struct Session *session)
{
    struct Engine *engine = session->engine;
    struct Account *account = &session->account;
    // Less than nothing, by some ns, where all there was yet is a hook that
    // gives back more than it takes.
    double timed = fmax((double)(int64_t)Lanes_sum(&engine->lanes).debt, 0) /
                   Clock_hz(&engine->clock);

    account->hooks += (timed - account->timed) *
                      (account->budget.share > 0 ? ACCOUNT_COLD : 1);
    account->timed = timed;
    return account->hooks;
}

static struct BudgetReading read_all(struct Session *session)
{
    struct Account *account = &session->account;
    struct SamplerTotals sampler = {0};
    struct BudgetReading reading;

    if (session->sampler)
        Sampler_totals(session->sampler, &sampler);
    reading.hooks = hooks_s(session);
    reading.rearm = worker_s(&session->governor);
    reading.sampling = sampler.handlers_s;
    reading.samples = sampler.taken;
    reading.threads = sampler.handlers_s + sampler.cpu_s +
                      worker_s(&session->collector.worker) +
                      worker_s(&session->export.worker);
    reading.threads += (double)Cell_get(&session->forks_ns) / 1e9;
    if (session->server)
        reading.threads +=
            (double)(Server_cpu_ns(session->server) - session->server_base_ns) /
            1e9;
    // Last, so that what is ours is never more than all.
    reading.cpu = Now_s(CLOCK_PROCESS_CPUTIME_ID) - account->cpu;
    reading.wall = Now_s(CLOCK_MONOTONIC) - account->wall;
    return reading;
}

struct Budget *Account_open(struct Session *session)
{
    struct Account *account = &session->account;
    struct BudgetReading reading;

    pthread_mutex_lock(&account->mutex);
    reading = read_all(session);
    // Pairs with Session_set_budget.
    Budget_set(&account->budget,
               atomic_load_explicit(&session->budget, memory_order_relaxed));
    Budget_read(&account->budget, &reading);
    return &account->budget;
}

void Account_close(struct Session *session)
{
    pthread_mutex_unlock(&session->account.mutex);
}

bool Account_is_overdrawn(struct Session *session)
{
    const struct Budget *budget = Account_open(session);
    bool overdrawn = Budget_is_overdrawn(budget);

    Account_close(session);
    return overdrawn;
}
