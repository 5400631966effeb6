// SPDX-License-Identifier: MIT
// The story of one code object's specialisation: at each look its live bytecode
// is compared with what was known before, and what changed goes to the log of
// transitions. Interpreter's lock held, but for Story_release and for reading a
// copy (the collector), and for Story_copy, where the log's mutex will do.
#ifndef OCULAR_TRACER_CODE_STORY_H
#define OCULAR_TRACER_CODE_STORY_H

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

struct Story {
    bool looked;
    uint64_t hash;             // of the live bytecode at the newest look
    struct KnownOpcode *known; // by unit
    uint32_t count, room;
};

void Story_release(struct Story *story);
size_t Story_bytes(const struct Story *story);
// What is known now, for whoever has not the interpreter's lock; the log's
// mutex is held. 0 or -ENOMEM.
int Story_copy(struct Story *copy, const struct Story *story);
// What is known to be at a unit whose base opcode is `base`.
uint8_t Story_opcode(const struct Story *story, uint32_t unit, uint8_t base);
// Has the instruction there been seen specialised?
bool Story_has(const struct Story *story, uint32_t unit);

#endif
