// SPDX-License-Identifier: MIT
// See words_writer.h.
#include "python/service/words_writer.h"
#include "python/service/code_words.h"

#include <errno.h>

bool WordsWriter_write(struct WordsWriter *writer, struct Engine *engine,
                       uint64_t deadline)
{
    struct Session *session = engine->session;
    uint32_t id;

    while (writer->words || (id = Details_next_words(&session->details))) {
        struct Code *code;
        int done = -ENOENT;

        if (!writer->words)
            writer->words = Words_new(id);
        if (!writer->words)
            return false;
        code = Registry_by_id(engine->registry, writer->words->id);
        if (code)
            done = CodeWords_read(writer->words,
                                  (const PyCodeObject *)code->who.address,
                                  &engine->clock, deadline);
        if (done == 0)
            return true;
        if (done > 0)
            Details_deliver(&session->details, writer->words);
        else
            Words_free(writer->words);
        writer->words = NULL;
        if (Clock_read(&engine->clock) >= deadline)
            return true;
    }
    return false;
}

void WordsWriter_release(struct WordsWriter *writer)
{
    Words_free(writer->words);
    writer->words = NULL;
}
