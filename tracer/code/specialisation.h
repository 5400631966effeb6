// SPDX-License-Identifier: MIT
// The specialisation history of one code object: each scan compares its live
// bytecode with the last known one, and the changes go to the log of
// transitions. Interpreter's lock held, but for Specialisation_release and for
// reading a copy (the collector), and for Specialisation_copy, where the log's
// mutex will do.
#ifndef OCULAR_TRACER_CODE_SPECIALISATION_H
#define OCULAR_TRACER_CODE_SPECIALISATION_H

#include "tracer/base/opcode.h"
#include "tracer/code/transitions.h"

// The opcode of an instruction that has been seen specialised.
struct KnownOpcode {
    uint32_t unit;
    uint8_t opcode;                  // as last known
    uint8_t next;                    // slot of `polls`
    uint32_t polls[STORM_POLLS - 1]; // the newest that differed: ms since
                                     // tracing began, and 1; 0 = none
};

struct Specialisation {
    bool scanned;
    uint64_t hash;             // of the live bytecode at the newest scan
    struct KnownOpcode *known; // by unit
    uint32_t count, room;
};

void Specialisation_release(struct Specialisation *history);
size_t Specialisation_bytes(const struct Specialisation *history);
// Copies the present state, for a reader without the interpreter's lock; the
// log's mutex is held. 0 or -ENOMEM.
int Specialisation_copy(struct Specialisation *copy,
                        const struct Specialisation *history);
// The opcode that was last seen at a unit whose base opcode is `base`.
uint8_t Specialisation_opcode(const struct Specialisation *history,
                              uint32_t unit, uint8_t base);
// Has the instruction there been seen specialised?
bool Specialisation_has(const struct Specialisation *history, uint32_t unit);

#endif
