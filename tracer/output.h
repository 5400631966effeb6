// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: written beside its place under
// another name, gzipped where its own ends in ".gz", and renamed at the end.
// One thread, which may block.
#ifndef OCULAR_TRACER_OUTPUT_H
#define OCULAR_TRACER_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

struct Output {
    void *stream; // zlib's
    char *path;
    char *temporary;
};

// 0 or -errno. What is there and no plain file is refused: -EISDIR, -EINVAL.
int Output_open(struct Output *output, const char *path);
int Output_write(struct Output *output, const void *data, size_t size);
// Puts the file in its place; *bytes is its size. Always releases.
int Output_commit(struct Output *output, uint64_t *bytes);
// Removes what was written. Always releases.
void Output_abort(struct Output *output);

#endif
