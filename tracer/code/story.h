// SPDX-License-Identifier: MIT
// The story of one code object's specialisation: at each look its live bytecode
// is compared with what was known before, and what changed goes to the log of
// transitions. Interpreter's lock held, but for Story_release and for reading a
// copy (the collector), and for Story_copy, where the log's mutex will do.
//
// An opcode that was specialised and is the base one again was given up by the
// specialiser, or put back by instrumentation, anybody's, which may have come
// and gone between two looks. The instruction's counter tells: instrumentation
// leaves it as it is at birth, and only failures of the specialiser bring it
// beyond that. Where it says nothing, what was known last stays known: CPython
// specialises again, or fails, within two runs of the instruction.
#ifndef OCULAR_TRACER_CODE_STORY_H
#define OCULAR_TRACER_CODE_STORY_H

#include "tracer/base/opcode.h"
#include "tracer/code/transitions.h"

struct Code;

// An instruction that has been seen specialised.
struct Spot {
    uint32_t unit;
    uint8_t opcode;                  // as last known
    uint8_t next;                    // slot of `polls`
    uint32_t polls[STORM_POLLS - 1]; // the newest that differed: ms since
                                     // tracing began, and 1; 0 = none
};

struct Story {
    bool looked;
    uint64_t hash;      // of the live bytecode at the newest look
    struct Spot *spots; // by unit
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
// Reads the live bytecode (2 * unit_count bytes), counts what is specialised
// and logs what has changed; the log's mutex is held. 0 or -ENOMEM.
int Story_look(struct Code *code, const uint8_t *live,
               const struct Opcodes *opcodes, struct Transitions *log,
               uint64_t ticks);

#endif
