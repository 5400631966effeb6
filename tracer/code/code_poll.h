// SPDX-License-Identifier: MIT
// Writer: Specialisation_scan, which the governor's thread calls with the GIL,
// and the thread that stops the session. These fields of struct Code describe
// the specialisation of its bytecode.
#ifndef OCULAR_TRACER_CODE_CODE_POLL_H
#define OCULAR_TRACER_CODE_CODE_POLL_H

#include "tracer/code/specialisation.h"

struct CodePoll {
    // A writer of this field holds the GIL and the log's mutex. A reader holds
    // the GIL or the log's mutex.
    struct Specialisation history;
    // sites that are specialised, as last known; any thread reads
    _Atomic uint32_t specialized;
    // Sites that can be specialised, or UINT32_MAX before the first scan. Any
    // thread reads this field.
    _Atomic uint32_t specializable;
};

#endif
