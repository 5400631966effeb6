// SPDX-License-Identifier: MIT
// Writer: Specialisation_scan, which the governor's thread calls with the
// interpreter's lock, and the thread that stops the session. The part of struct
// Code about the specialisation of its bytecode.
#ifndef OCULAR_TRACER_CODE_CODE_POLL_H
#define OCULAR_TRACER_CODE_CODE_POLL_H

#include "tracer/code/specialisation.h"

struct CodePoll {
    struct Specialisation history;  // guarded by the log's mutex as well: who
                                    // only reads may have either lock
    _Atomic uint32_t specialized;   // sites, as last known; any thread reads
    _Atomic uint32_t specializable; // sites; UINT32_MAX: not looked at yet; any
                                    // thread reads
};

#endif
