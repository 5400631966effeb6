// SPDX-License-Identifier: MIT
#include "python/service/operand_writer.h"
#include "python/service/operand_reader.h"

#include <errno.h>

bool OperandWriter_write(struct OperandWriter *writer, struct Engine *engine,
                         uint64_t deadline)
{
    struct Session *session = engine->session;
    uint32_t id;

    while (writer->operands ||
           (id = ListingRequests_next_text(&session->requests))) {
        struct Code *code;
        int done = -ENOENT;

        if (!writer->operands)
            writer->operands = OperandText_new(id);
        if (!writer->operands)
            return false;
        code = Registry_by_id(engine->registry, writer->operands->id);
        if (code)
            done = OperandReader_read(writer->operands,
                                      (const PyCodeObject *)code->who.address,
                                      &engine->clock, deadline);
        if (done == 0)
            return true;
        if (done > 0)
            ListingRequests_deliver(&session->requests, writer->operands);
        else
            OperandText_free(writer->operands);
        writer->operands = NULL;
        if (Clock_read(&engine->clock) >= deadline)
            return true;
    }
    return false;
}

void OperandWriter_release(struct OperandWriter *writer)
{
    OperandText_free(writer->operands);
    writer->operands = NULL;
}
