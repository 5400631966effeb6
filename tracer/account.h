// SPDX-License-Identifier: MIT
// What a session costs, as its clocks and cells say, and its budget with it.
// The governor and whoever builds a snapshot open it; a mutex, held briefly,
// never with the interpreter's lock.
#ifndef OCULAR_TRACER_ACCOUNT_H
#define OCULAR_TRACER_ACCOUNT_H

#include "tracer/budget.h"

#include <pthread.h>
#include <stdbool.h>

// Within a budget hooks are apart, since what is hot is dark: they find less in
// the caches than where they were timed, and take so many times as long
// (docs/overhead.md).
#define ACCOUNT_APART 1.5

struct Session;

struct Account {
    pthread_mutex_t mutex; // guards the budget
    struct Budget budget;
    double wall, cpu;    // s of the clocks, when it began
    double timed, hooks; // s that hooks took as they were timed, and as they
                         // are taken to have
};

// What the process used before is no part of it.
void Account_init(struct Account *account, const struct Session *session);
void Account_release(struct Account *account);
// Takes a reading; the budget as it is now, until Account_close.
struct Budget *Account_open(struct Session *session);
void Account_close(struct Session *session);
// More has been spent than the budget has room for.
bool Account_is_overdrawn(struct Session *session);

#endif
