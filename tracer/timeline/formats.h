// SPDX-License-Identifier: MIT
// Who writes files: formats/, a library of its own beside the extension, which
// is loaded when the first file is written. So what runs in the traced program
// has neither the formats in it nor the libraries that they need. Any thread
// that may block.
#ifndef OCULAR_TRACER_TIMELINE_FORMATS_H
#define OCULAR_TRACER_TIMELINE_FORMATS_H

#include "ipc/base/bytes.h"
#include "ipc/file_kind.h"
#include "ipc/flame_table.h"
#include "ipc/version.h"
#include "tracer/timeline/trace.h"

struct ProfileFunction {
    const char *name; // never NULL
    const char *file; // "": it has none
    uint64_t line;    // its first; 0: not known
    double calls;     // NaN: not known
    double self_ns;   // CPU time, of all of its samples; NaN: not known
};

// Sampled stacks that are to be a file of another tool.
struct FormatsProfile {
    const struct FlameTable *table;
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    const char *command;
    void *context;
    // Sets what is known of the table's functions, whose names are the table's
    // or "<gone>".
    void (*describe)(void *context, const struct FlameTable *table,
                     struct ProfileFunction *functions);
};

// The place of a file: the path, or an open file, which stays its owner's.
struct FormatsFile {
    const char *path;            // its ending says whether it is packed
    int descriptor;              // 0: the one at the path
    const struct Opened *opened; // which file that is
    bool overwrite;
};

// A file that is to be made of a recording, and what came of it.
struct Conversion {
    // Names of recordings, of which one file is made; NULL: `recording` is
    // converted, which is open in this process.
    const char *const *paths;
    size_t path_count;
    struct Recording *recording;
    struct FormatsFile output;
    // Called now and then with 0..1 and the bytes of the file so far; false
    // cancels. May be NULL.
    bool (*progress)(void *context, double done, uint64_t bytes);
    void *context;
    uint64_t bytes;  // of the file
    uint64_t events; // of the timeline that it is made of
    bool unreadable; // true if a recording could not be read
    // What was wrong with the recordings, a line for each; "": nothing.
    char why[4096];
};

struct Formats {
    // 0, -ENOMEM, or -EINVAL: of what is no profile.
    int (*profile)(const struct FormatsProfile *profile,
                   enum FileContent content, struct Bytes *out);
    // 0 or -errno: -EEXIST, something is there by now.
    int (*store)(const struct FormatsFile *file, const struct Bytes *bytes,
                 uint64_t *size);
    // Conversion_run (formats/conversion.h).
    int (*convert)(struct Conversion *conversion);
};

// The library's needs, and the signs by which it knows its own build: an
// installation may have replaced it while the program ran.
struct FormatsHost {
    const char *version;
    size_t sizes[3];
    void *(*alloc)(size_t size);
    void *(*zeroed)(size_t count, size_t size);
    void *(*resize)(void *memory, size_t size);
    char *(*text)(const char *text);
    void (*free)(void *memory);
};
#define FORMATS_SIZES                                                          \
    {                                                                          \
        sizeof(struct Conversion), sizeof(struct FormatsProfile),              \
            sizeof(struct FlameTable)                                          \
    }
#define FORMATS_LIBRARY "libocular_formats.so"

// NULL: it cannot be loaded, or is of another build (-ELIBACC, for who asks).
const struct Formats *Formats_load(void);
// From now on these, which a test has linked.
void Formats_use(const struct Formats *formats);

#endif
