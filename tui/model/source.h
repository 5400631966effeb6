// SPDX-License-Identifier: MIT
// The source of a function, read from disk as the traced process sees it. The
// path comes from the process and is not trusted: we open only regular files,
// never wait, read up to a size, and stay below the process's root. Owned by
// the annotate view. One thread.
#ifndef OCULAR_TUI_MODEL_SOURCE_H
#define OCULAR_TUI_MODEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SOURCE_BYTES ((size_t)8 << 20) // we read no larger files

enum SourceState {
    SOURCE_FINE,
    SOURCE_NONE,    // the code comes from no file,
    SOURCE_MISSING, // the file does not exist, or we may not read it
    SOURCE_CHANGED, // the file changed since the process began
    SOURCE_REFUSED  // no regular file, too large, no archive that can be read
};

struct SourceWish {
    pid_t pid;              // process whose root and directory count; 0: ours
    const char *file;       // path as the code object has it; borrowed
    double process_start_s; // Unix time; NaN: not known
};

struct Source {
    enum SourceState state;
    char why[200]; // where the state is not fine, or the file may be wrong:
                   // why, in harmless words; else ""
    struct stat file;
    char *text;         // of all lines; each ends in NUL and holds none
    const char **lines; // begins of lines in `text`
    size_t line_count;
};

// Never fails: *source says what there is. For Source_release.
void Source_load(struct Source *source, const struct SourceWish *wish);
void Source_release(struct Source *source);
// Has the file on disk changed since it was loaded, or gone, or come?
bool Source_is_stale(const struct Source *source,
                     const struct SourceWish *wish);
// Returns a line, counted from 1, or NULL.
const char *Source_line(const struct Source *source, uint64_t line);
// Copies the beginning of a line, with its tabs expanded.
void Source_expand(char *out, size_t size, const char *line);

#endif
