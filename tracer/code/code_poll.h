// SPDX-License-Identifier: MIT
// struct CodePoll describes the specialisation of the code's bytecode, as a
// part of struct Code. Specialisation_scan writes struct CodePoll. The
// governor's thread and the thread that stops the session call
// Specialisation_scan with the GIL.
#pragma once

#include "tracer/code/specialisation.h"

struct CodePoll {
    // A writer of `history` holds the GIL and the mutex of the log. A reader of
    // `history` holds the GIL or the mutex of the log.
    struct Specialisation history;
    // Number of instructions that were specialised at the newest scan. Any
    // thread may read `specialized`.
    _Atomic uint32_t specialized;
    // Number of instructions that can be specialised, or UINT32_MAX before the
    // first scan. Any thread may read `specializable`.
    _Atomic uint32_t specializable;
};
