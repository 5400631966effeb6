// SPDX-License-Identifier: MIT
// Loads the library that contains formats/, the code that writes files. The
// library is in the extension's folder, and is loaded when Ocular writes its
// first file. The extension in the traced program therefore contains no code
// for file formats, and needs no further libraries. Any thread that may block
// may call the functions of formats.h.
#pragma once

#include "ipc/snapshot.h"
#include "ipc/version.h"
#include "tracer/base/native_row.h"
#include "tracer/timeline/recording_names.h"
#include "tracer/timeline/trace.h"

struct NativeNames;

// The input and the result of a conversion of recordings to a file.
struct Conversion {
    // Names of the recordings that are converted together to one file. If
    // `paths` is NULL, the open recording `recording` is converted.
    const char *const *paths;
    size_t path_count;
    struct Recording *recording;
    // Source of the names of functions that `recording` lacks, or NULL if there
    // is none. A name from `source` is valid until the next call.
    const struct RecordingSource *source;
    struct FormatsFile output;
    // Finds the names of C functions, or NULL if the program's files are those
    // of this process.
    struct NativeNames *names;
    // The conversion calls `progress` from time to time with the finished
    // fraction (0 to 1) and the present size of the file in bytes. If
    // `progress` returns false, the conversion ends. `progress` may be NULL.
    bool (*progress)(void *context, double done, uint64_t bytes);
    void *context;
    // A new snapshot for the facts about the first recording, which the
    // conversion fills in, or NULL if the caller does not want them. For a
    // profile, `facts` also gets the length and the number of samples.
    struct Snapshot *facts;
    uint64_t bytes;  // Size of the file in bytes.
    uint64_t events; // Number of events of the timeline in the file.
    bool unreadable; // True if a recording could not be read.
    // One line of text for each recording with an error, or "" if no recording
    // had an error.
    char why[4096];
};

struct Formats {
    // See Conversion_run (formats/conversion.h).
    int (*convert)(struct Conversion *conversion);
    // Reads the rows of a file with C functions. NULL if Ocular was built
    // without elfutils.
    NativeReader *native_rows;
};

// Functions of the traced program's extension that the library calls, and
// numbers that identify the build of the extension. The library checks the
// numbers in struct FormatsHost, because a new installation can have replaced
// the library while the program ran.
struct FormatsHost {
    const char *version;
    size_t sizes[5];
    void *(*alloc)(size_t size);
    void *(*zeroed)(size_t count, size_t size);
    void *(*resize)(void *memory, size_t size);
    char *(*text)(const char *text);
    void (*free)(void *memory);
};
#define FORMATS_SIZES                                                          \
    {                                                                          \
        sizeof(struct Conversion), sizeof(struct RecordingHead),               \
            sizeof(struct RecordingBlock), sizeof(struct Snapshot),            \
            sizeof(struct NativeRows)                                          \
    }
#define FORMATS_LIBRARY "libocular_formats.so"

// Loads the library of formats/. Returns NULL if the library cannot be loaded
// or is from another build. The caller of Formats_load then fails with
// -ELIBACC.
const struct Formats *Formats_load(void);
// For tests, makes Formats_load return `formats`, which is linked to the test.
void Formats_use(const struct Formats *formats);
