// SPDX-License-Identifier: MIT
// Makes short and printable text of the arguments of a code object's
// instructions. The arguments are names, variables and constants.
// python/service/operand_reader.c fills in the text with the GIL held, in
// several steps. When the text is complete, no thread changes the text any
// more, and any thread may read the text.
#ifndef OCULAR_TRACER_SESSION_OPERAND_TEXT_H
#define OCULAR_TRACER_SESSION_OPERAND_TEXT_H

#include "ipc/base/bytes.h"

enum OperandTextKind { TEXT_CONSTS, TEXT_NAMES, TEXT_LOCALS, TEXT_KINDS };

struct TextList {
    struct Bytes text;  // all texts, each of which ends in a NUL
    struct Bytes start; // offset of each text, as u32
    uint32_t count;
};

struct OperandText {
    uint32_t id; // id of the function
    struct TextList lists[TEXT_KINDS];
    struct OperandText *next; // next text in the list of delivered texts
};

// Returns NULL if memory is out.
struct OperandText *OperandText_new(uint32_t id);
void OperandText_free(struct OperandText *operands); // `operands` may be NULL
size_t OperandText_bytes(const struct OperandText *operands);
// Appends a text of this kind. Returns 0 or -ENOMEM.
int OperandText_add(struct OperandText *operands, enum OperandTextKind kind,
                    const char *text);
// Returns the text with this index, or NULL if the list is shorter.
const char *OperandText_get(const struct OperandText *operands,
                            enum OperandTextKind kind, uint32_t index);

#endif
