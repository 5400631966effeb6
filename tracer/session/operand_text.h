// SPDX-License-Identifier: MIT
// The arguments of a code object's instructions as text: its names, variables
// and constants, short and printable. python/service/operand_reader.c fills it
// under the GIL, in several slices. After that no thread changes the text, and
// any thread may read it.
#ifndef OCULAR_TRACER_SESSION_OPERAND_TEXT_H
#define OCULAR_TRACER_SESSION_OPERAND_TEXT_H

#include "ipc/base/bytes.h"

enum OperandTextKind { TEXT_CONSTS, TEXT_NAMES, TEXT_LOCALS, TEXT_KINDS };

struct TextList {
    struct Bytes text;  // all texts, each with a NUL
    struct Bytes start; // offset of each text, as u32
    uint32_t count;
};

struct OperandText {
    uint32_t id; // of the function
    struct TextList lists[TEXT_KINDS];
    struct OperandText *next; // links delivered texts
};

struct OperandText *OperandText_new(uint32_t id);    // NULL if memory is out
void OperandText_free(struct OperandText *operands); // NULL is fine
size_t OperandText_bytes(const struct OperandText *operands);
// Appends a text of this kind. Returns 0 or -ENOMEM.
int OperandText_add(struct OperandText *operands, enum OperandTextKind kind,
                    const char *text);
// Returns the text with this index, or NULL if the list is shorter.
const char *OperandText_get(const struct OperandText *operands,
                            enum OperandTextKind kind, uint32_t index);

#endif
