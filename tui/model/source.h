// SPDX-License-Identifier: MIT
// struct Source contains the source of a function. The source is read from the
// file that the traced process would find at the code object's path. The path
// comes from the process and is not trusted. Only regular files below the
// process's root directory are therefore read, up to a maximum size, and
// reading never waits. The annotate view owns the source.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SOURCE_BYTES ((size_t)8 << 20) // A larger file is not read.

enum SourceState {
    SOURCE_FINE,
    SOURCE_NONE,    // The code does not come from a file.
    SOURCE_MISSING, // The file does not exist or may not be read.
    SOURCE_CHANGED, // The file was changed after the process began.
    // The file is not regular, is too large, or is in a bad archive.
    SOURCE_REFUSED
};

struct SourceRequest {
    // The process whose root and working directory are used (0 = this process).
    pid_t pid;
    const char *file; // Borrowed path of the file, as in the code object.
    // Start of the process as Unix time (NaN = unknown).
    double process_start_s;
};

struct Source {
    enum SourceState state;
    // The reason why the state is not SOURCE_FINE, or a warning, or "". The
    // reason is safe to print.
    char why[200];
    struct stat file;
    // All lines. Each line ends with a NUL and contains no other NUL.
    char *text;
    const char **lines; // Pointers to the beginnings of the lines in `text`.
    size_t line_count;
};

// Loads the source. source->state tells whether the source could be loaded. The
// caller must call Source_release.
void Source_load(struct Source *source, const struct SourceRequest *request);
void Source_release(struct Source *source);
// Returns true if the file on disk has changed, vanished or appeared since
// Source_load.
bool Source_is_stale(const struct Source *source,
                     const struct SourceRequest *request);
// Returns the line with this number, counted from 1, or NULL.
const char *Source_line(const struct Source *source, uint64_t line);
// Copies the beginning of a line, with its tabs expanded to blanks.
void Source_expand(char *out, size_t size, const char *line);
