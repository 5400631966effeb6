// SPDX-License-Identifier: MIT
// These fields of struct Code describe the specialisation of its bytecode.
// Specialisation_scan writes the fields. The governor's thread and the thread
// that stops the session call Specialisation_scan with the GIL.
#ifndef OCULAR_TRACER_CODE_CODE_POLL_H
#define OCULAR_TRACER_CODE_CODE_POLL_H

#include "tracer/code/specialisation.h"

struct CodePoll {
    // A writer of this field holds the GIL and the log's mutex. A reader holds
    // the GIL or the log's mutex.
    struct Specialisation history;
    // Number of sites that were specialised at the newest scan; any thread
    // reads this field.
    _Atomic uint32_t specialized;
    // Number of sites that can be specialised, or UINT32_MAX before the first
    // scan. Any thread reads this field.
    _Atomic uint32_t specializable;
};

#endif
