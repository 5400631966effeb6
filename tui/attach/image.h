// SPDX-License-Identifier: MIT
// A program or library as it lies in another process's memory: where its
// exported symbols are. Needs no file, so it also works if the file was
// replaced by an update, or is another mount namespace's. Called by
// interpreter.c. Reading ends, whatever bytes are there instead.
#ifndef OCULAR_TUI_ATTACH_IMAGE_H
#define OCULAR_TUI_ATTACH_IMAGE_H

#include <stdint.h>
#include <sys/types.h>

struct Image {
    pid_t pid;
    uint16_t machine; // EM_X86_64...
    uint64_t bias;    // added to the addresses in the file
    uint64_t symbols; // addresses in the process, as the next two
    uint64_t names;
    uint64_t hash; // of the GNU format
};

struct Symbol {
    uint64_t address;
    uint64_t size; // bytes; 0: not known
};

// `base`: where the beginning of the file is mapped. 0, -ENOEXEC: no 64-bit ELF
// with exported symbols, or what ProcessMemory_read returns.
int Image_load(struct Image *image, pid_t pid, uint64_t base);
// 0, -ENOENT: it does not define that, or as ProcessMemory_read.
int Image_find(const struct Image *image, const char *name,
               struct Symbol *found);

#endif
