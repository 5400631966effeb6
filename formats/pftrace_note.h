// SPDX-License-Identifier: MIT
// Makes annotations of events in Perfetto's protobuf format. The bytes of an
// annotation are made before the bytes of its event. pftrace.c calls
// PftraceNote_put on the thread that writes the file.
#ifndef OCULAR_FORMATS_PFTRACE_NOTE_H
#define OCULAR_FORMATS_PFTRACE_NOTE_H

#include "formats/pftrace_fields.h"
#include "formats/protobuf.h"

// Writes an annotation, whose name is a number of pftrace_fields.h and whose
// value is a varint. Returns the address behind the annotation.
static inline uint8_t *PftraceNote_put(uint8_t *at, unsigned name,
                                       unsigned field, uint64_t value)
{
    uint8_t *note = at;

    at = Protobuf_put_field(at + 2, NOTE_NAME_IID, name);
    at = Protobuf_put_field(at, field, value);
    note[0] = TRACK_EVENT_NOTE << 3 | 2;
    note[1] = (uint8_t)(at - note - 2);
    return at;
}

#endif
