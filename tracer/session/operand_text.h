// SPDX-License-Identifier: MIT
// struct OperandText has the arguments (names, variables and constants) of a
// code object's instructions as short, printable text.
// python/service/operand_reader.c fills an OperandText while it holds the GIL,
// in several steps. A complete OperandText never changes, and any thread may
// read it.
#pragma once

#include "ipc/base/bytes.h"

enum OperandTextKind { TEXT_CONSTS, TEXT_NAMES, TEXT_LOCALS, TEXT_KINDS };

struct TextList {
    // The texts of all arguments, each of which ends with a NUL.
    struct Bytes text;
    struct Bytes start; // Offset of each text in `text`, as a u32.
    uint32_t count;
};

struct OperandText {
    uint32_t id; // Id of the function.
    struct TextList lists[TEXT_KINDS];
    // Next struct OperandText in the list of those that the governor has
    // delivered.
    struct OperandText *next;
};

// Returns NULL if there is no memory.
struct OperandText *OperandText_new(uint32_t id);
void OperandText_free(struct OperandText *operands); // `operands` may be NULL.
// Appends the text of an argument of the given kind. Returns 0 or -ENOMEM.
int OperandText_add(struct OperandText *operands, enum OperandTextKind kind,
                    const char *text);
// Returns the text of the argument with the given kind and index, or NULL if
// there is no such text.
const char *OperandText_get(const struct OperandText *operands,
                            enum OperandTextKind kind, uint32_t index);
