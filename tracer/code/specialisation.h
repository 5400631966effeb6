// SPDX-License-Identifier: MIT
// Keeps the history of one code object's specialisation. Each scan compares the
// live bytecode with what the last scan saw, and writes the changes to the log
// of transitions. The caller of the functions of specialisation.h holds the
// GIL, with two exceptions. The collector's thread calls Specialisation_release
// and reads copies without the GIL. A caller of Specialisation_copy needs only
// the mutex of the log.
#pragma once

#include "tracer/code/transitions.h"

// The last known opcode of an instruction that was once specialised.
struct KnownOpcode {
    uint32_t unit;
    uint8_t opcode; // Opcode of the instruction that a scan last saw.
    uint8_t next;   // Index of the entry of `polls` that is written next.
    // The times of the newest scans that found the instruction changed, as 1
    // plus the ms from the beginning of tracing, or 0 if there was no such
    // scan.
    uint32_t polls[STORM_POLLS - 1];
};

struct Specialisation {
    bool scanned;
    uint64_t hash;             // Hash of the live bytecode at the newest scan.
    struct KnownOpcode *known; // Sorted by KnownOpcode.unit.
    uint32_t count, room;
};

void Specialisation_release(struct Specialisation *history);
// Copies the history for a thread that does not hold the GIL. The caller of
// Specialisation_copy holds the log's mutex. Returns 0 or -ENOMEM.
int Specialisation_copy(struct Specialisation *copy,
                        const struct Specialisation *history);
// Returns the opcode that a scan last saw at the code unit `unit`, or `base`,
// the unspecialised opcode, if no scan has seen another one.
uint8_t Specialisation_opcode(const struct Specialisation *history,
                              uint32_t unit, uint8_t base);
// Returns true if a scan has seen the instruction at `unit` specialised.
bool Specialisation_has(const struct Specialisation *history, uint32_t unit);
