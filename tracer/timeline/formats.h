// SPDX-License-Identifier: MIT
// Loads the library of formats/, which writes files. The library is next to the
// extension, and is loaded when Ocular writes its first file. So the extension
// in the traced program needs neither the code of the formats nor further
// libraries. Any thread that may block may call this code.
#ifndef OCULAR_TRACER_TIMELINE_FORMATS_H
#define OCULAR_TRACER_TIMELINE_FORMATS_H

#include "ipc/base/bytes.h"
#include "ipc/file_kind.h"
#include "ipc/snapshot.h"
#include "ipc/version.h"
#include "tracer/timeline/recording_names.h"
#include "tracer/timeline/trace.h"

// The place of a file, which is a path or an open file. The caller still owns
// the open file.
struct FormatsFile {
    const char *path;            // its ending says whether it is packed
    int descriptor;              // 0 if `path` is to be opened
    const struct Opened *opened; // the file that `descriptor` stands for
    bool overwrite;
};

// The input and the result of a conversion of recordings to a file.
struct Conversion {
    // Names of the recordings that are converted to one file. If `paths` is
    // NULL, `recording` is converted, which is open in this process.
    const char *const *paths;
    size_t path_count;
    struct Recording *recording;
    // Names of functions that `recording` lacks; NULL: there are none. A name
    // is valid until the next call.
    const struct RecordingSource *source;
    struct FormatsFile output;
    // Called from time to time with the finished part (0 to 1) and the present
    // size of the file. Returns false to cancel. May be NULL.
    bool (*progress)(void *context, double done, uint64_t bytes);
    void *context;
    // A new snapshot, which gets the facts about the first recording; NULL: not
    // wanted. For a profile it also gets the length and the number of samples.
    struct Snapshot *facts;
    uint64_t bytes;  // of the file
    uint64_t events; // number of events of the timeline
    bool unreadable; // true if a recording could not be read
    // One line for each recording with an error; "" if there was no error.
    char why[4096];
};

struct Formats {
    // See Conversion_run (formats/conversion.h).
    int (*convert)(struct Conversion *conversion);
};

// Functions that the library needs, and numbers that identify the extension's
// build. The library checks these numbers, because an installation may have
// replaced the library while the program ran.
struct FormatsHost {
    const char *version;
    size_t sizes[4];
    void *(*alloc)(size_t size);
    void *(*zeroed)(size_t count, size_t size);
    void *(*resize)(void *memory, size_t size);
    char *(*text)(const char *text);
    void (*free)(void *memory);
};
#define FORMATS_SIZES                                                          \
    {                                                                          \
        sizeof(struct Conversion), sizeof(struct RecordingHead),               \
            sizeof(struct RecordingBlock), sizeof(struct Snapshot)             \
    }
#define FORMATS_LIBRARY "libocular_formats.so"

// Loads the library. Returns NULL if the library cannot be loaded or is from
// another build. The error of the caller is then -ELIBACC.
const struct Formats *Formats_load(void);
// Makes Formats_load return `formats`, which a test has linked.
void Formats_use(const struct Formats *formats);

#endif
