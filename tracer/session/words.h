// SPDX-License-Identifier: MIT
// What the arguments of one code object's instructions are called: its names,
// variables and constants as short printable text. Filled by
// python/service/code_words.c with the interpreter's lock held, in as many
// slices as it takes; read-only afterwards, any thread.
#ifndef OCULAR_TRACER_SESSION_WORDS_H
#define OCULAR_TRACER_SESSION_WORDS_H

#include "ipc/base/bytes.h"

enum WordsKind { WORDS_CONSTS, WORDS_NAMES, WORDS_LOCALS, WORDS_KINDS };

struct WordList {
    struct Bytes text;  // each ends in a NUL
    struct Bytes start; // u32 of each
    uint32_t count;
};

struct Words {
    uint32_t id; // of the function
    struct WordList lists[WORDS_KINDS];
    struct Words *next; // while it is on its way
};

struct Words *Words_new(uint32_t id); // NULL when memory is out
void Words_free(struct Words *words); // NULL is fine
size_t Words_bytes(const struct Words *words);
// The next of its kind. 0 or -ENOMEM.
int Words_add(struct Words *words, enum WordsKind kind, const char *text);
// NULL: there is none such.
const char *Words_get(const struct Words *words, enum WordsKind kind,
                      uint32_t index);

#endif
