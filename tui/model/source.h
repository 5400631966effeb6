// SPDX-License-Identifier: MIT
// The source of a function, read from disk as the traced process sees it. Its
// path is a stranger's: only regular files are opened, without waiting, up to a
// size, below the process's root. One thread.
#ifndef OCULAR_TUI_MODEL_SOURCE_H
#define OCULAR_TUI_MODEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SOURCE_BYTES ((size_t)8 << 20) // larger files are not read

enum SourceState {
    SOURCE_FINE,
    SOURCE_NONE,    // the code comes from no file
    SOURCE_MISSING, // or it may not be read
    SOURCE_CHANGED, // since the process began: it is not what runs
    SOURCE_REFUSED  // no regular file, too large, no archive that can be read
};

struct SourceWish {
    pid_t pid;              // whose root and directory count; 0: our own
    const char *file;       // as the code object names it; borrowed
    double process_start_s; // Unix time; NaN: not known
};

struct Source {
    enum SourceState state;
    char why[200]; // in words, where the state is not fine, or may not be so;
                   // else empty; harmless
    struct stat file;
    char *text;         // lines end in NUL, and hold none
    const char **lines; // of text
    size_t line_count;
};

// Never fails: *source says what there is. Release it.
void Source_load(struct Source *source, const struct SourceWish *wish);
void Source_release(struct Source *source);
// Is it, on disk, another one than was loaded, or gone, or there now?
bool Source_is_stale(const struct Source *source,
                     const struct SourceWish *wish);
// A line, counted from 1, or NULL.
const char *Source_line(const struct Source *source, uint64_t line);
// A copy of a line's beginning with its tabs expanded.
void Source_expand(char *out, size_t size, const char *line);

#endif
