// SPDX-License-Identifier: MIT
// The programs of ocular/_probes.py: runs one without hooks, then with them,
// and says what the hooks have added. What a hook costs there is the median
// over the rounds, so that neither a slow phase of the machine nor a single
// interruption is taken for it. Interpreter's lock held, on the calling thread.
#ifndef OCULAR_PYTHON_HOOKS_PROBE_H
#define OCULAR_PYTHON_HOOKS_PROBE_H

#include "python/hooks/state.h"

#define PROBE_ROUNDS 5 // that count, after those that warm it up
#define PROBE_PASSES 4 // at start, of which the best one counts

enum ProbeKind { PROBE_CALL, PROBE_RESUME, PROBE_LOOP, PROBE_FAR, PROBE_KINDS };

enum ProbeTrial { PROBE_BASE, PROBE_BARE, PROBE_HOOKED, PROBE_TRIALS };

// Of several runs the median ones.
struct Runs {
    double ticks;
    double self; // of the callee, as its counter shows it
};

// One row of the table, which holds all the objects.
struct Probe {
    enum ProbeKind kind;
    PyObject *run, *hooked_run, *base, *callee, *hooked_callee, *argument;
    PyCodeObject *code;          // that has the hooks
    const struct Code *counters; // its, of which no cost is taken off
    struct Runs least[PROBE_TRIALS];
    double whole;                  // ticks that the hooks add to a run
    double inside;                 // what of that lies within the callee's span
    double calls, jumps, branches; // events of a run
};

// From a row of the table, which is borrowed. 0, or -1 with an exception, as
// all others here.
int Probe_init(struct State *state, struct Probe *probe, PyObject *row);
int Probe_arm(struct State *state, const struct Probe *probe);
// Goes on after errors: the tool's id may be another's by now.
void Probe_disarm(struct State *state, const struct Probe *probe);
// One pass of all its trials.
int Probe_time(const struct State *state, struct Probe *probe);
// After all passes: what the hooks have added, and to how many events.
void Probe_sum_up(struct Probe *probe);

#endif
