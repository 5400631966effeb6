// SPDX-License-Identifier: MIT
// A Converter makes the file of an export from the recording that the process
// has handed out. A Converter has a thread of its own in the viewer. A
// Converter sends the feed messages like those of a process. REPLYs report the
// progress. The last message is an ERROR, or a REPLY with the value 1, whose
// text says what the file lacks. The feed owns the Converter. Only the viewer's
// main thread calls these functions, and only Converter_free waits.
#pragma once

#include "ipc/wire.h"
#include "tui/model/export_file.h"

struct Converter;

struct ConverterRequest {
    // The RECORDING of the process. The Converter copies the descriptor.
    const struct Message *recording;
    // Time (Feed_now()) at which the viewer asked for the recording.
    double asked_s;
    // `file` must outlive the Converter.
    const struct ExportFile *file;
    uint32_t number; // Request number of the Converter's messages.
    int beside;      // Descriptor of the connection, for Converter_fd.
};

// Starts the thread that converts the recording. Returns 0 or -errno.
int Converter_start(struct Converter **converter,
                    const struct ConverterRequest *request);
// Returns a descriptor, which is readable if a message is due or if `beside` is
// readable.
int Converter_fd(const struct Converter *converter);
// Returns 1 and fills in *message, which the caller releases, or returns 0. A
// message with the value 1 or of the type ERROR is the last one.
int Converter_next(struct Converter *converter, struct Message *message);
void Converter_cancel(struct Converter *converter);
// Cancels the conversion if it runs, and waits for the thread. `converter` may
// be NULL.
void Converter_free(struct Converter *converter);
