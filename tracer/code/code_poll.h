// SPDX-License-Identifier: MIT
// struct CodePoll, a part of struct Code, says how CPython has specialised the
// code's bytecode. Specialisation_scan writes struct CodePoll. The governor's
// thread and the thread that stops the session call Specialisation_scan with
// the GIL.
#pragma once

#include "tracer/code/specialisation.h"

struct CodePoll {
    // A writer of `history` holds the GIL and the mutex of the log of
    // specialisations. A reader of `history` holds the GIL or the mutex of the
    // log.
    struct Specialisation history;
    // Number of instructions that the newest scan found specialised. Any thread
    // may read `specialized`.
    _Atomic uint32_t specialized;
    // Number of instructions that can be specialised, or UINT32_MAX before the
    // first scan. Any thread may read `specializable`.
    _Atomic uint32_t specializable;
};
