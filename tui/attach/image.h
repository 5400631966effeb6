// SPDX-License-Identifier: MIT
// struct Image is a program or library in the memory of another process.
// Image_find finds the addresses of the symbols that the image exports. The
// functions of image.h read only the process's memory and no file. The
// functions of image.h also work if an update has replaced the image's file, or
// if the file is in another mount namespace. Invalid bytes in the process's
// memory cannot make the functions of image.h loop for ever. interpreter.c
// calls these functions.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct Image {
    pid_t pid;
    uint16_t machine; // Architecture from the ELF header, such as EM_X86_64.
    // The load address: an address in the process minus the same address in the
    // file.
    uint64_t bias;
    uint64_t symbols; // Address of the symbol table in the process's memory.
    uint64_t names;
    uint64_t hash; // Address of the GNU hash table in the process's memory.
};

struct Symbol {
    uint64_t address;
    // Size of the symbol's object in bytes; 0 if it is not known.
    uint64_t size;
};

// `base` is the address at which the beginning of the file is mapped in the
// process. Returns 0, -ENOEXEC if the file is not a 64-bit ELF file with
// exported symbols, or an error of ProcessMemory_read.
int Image_load(struct Image *image, pid_t pid, uint64_t base);
// Returns 0, -ENOENT if the image does not define `name`, or an error of
// ProcessMemory_read.
int Image_find(const struct Image *image, const char *name,
               struct Symbol *found);
