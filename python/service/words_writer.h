// SPDX-License-Identifier: MIT
// What viewers are shown for the arguments of instructions, read from code
// objects a slice at a time. Owns the words that are being written. The
// governor's thread.
#ifndef OCULAR_PYTHON_SERVICE_WORDS_WRITER_H
#define OCULAR_PYTHON_SERVICE_WORDS_WRITER_H

#include "tracer/session/engine.h"
#include "tracer/session/session.h"

struct WordsWriter {
    struct Words *words; // NULL between two functions
};

// Interpreter's lock held. true: there is more to do.
bool WordsWriter_write(struct WordsWriter *writer, struct Engine *engine,
                       uint64_t deadline);
void WordsWriter_release(struct WordsWriter *writer);

#endif
