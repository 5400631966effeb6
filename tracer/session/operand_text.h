// SPDX-License-Identifier: MIT
// The arguments of one code object's instructions as text: its names, variables
// and constants, short and printable. Filled by python/service/operand_reader.c
// with the interpreter's lock held, in as many slices as it takes; read-only
// afterwards, any thread.
#ifndef OCULAR_TRACER_SESSION_OPERAND_TEXT_H
#define OCULAR_TRACER_SESSION_OPERAND_TEXT_H

#include "ipc/base/bytes.h"

enum OperandTextKind { TEXT_CONSTS, TEXT_NAMES, TEXT_LOCALS, TEXT_KINDS };

struct TextList {
    struct Bytes text;  // each ends in a NUL
    struct Bytes start; // u32 of each
    uint32_t count;
};

struct OperandText {
    uint32_t id; // of the function
    struct TextList lists[TEXT_KINDS];
    struct OperandText *next; // while it is on its way
};

struct OperandText *OperandText_new(uint32_t id);    // NULL when memory is out
void OperandText_free(struct OperandText *operands); // NULL is fine
size_t OperandText_bytes(const struct OperandText *operands);
// The next of its kind. 0 or -ENOMEM.
int OperandText_add(struct OperandText *operands, enum OperandTextKind kind,
                    const char *text);
// NULL: there is none such.
const char *OperandText_get(const struct OperandText *operands,
                            enum OperandTextKind kind, uint32_t index);

#endif
