// SPDX-License-Identifier: MIT
// An open ELF file with machine code, read by elfutils (libelf, libdw). Any
// thread may call these functions, but only one thread at a time may use a
// NativeFile. The functions of elfutils allocate memory by malloc.
#pragma once

#include "tracer/base/native_row.h"

#include <stdbool.h>
#include <stdint.h>

// The flags for opening a file. O_NONBLOCK is needed because the file may be a
// named pipe.
#define NATIVE_OPEN (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

struct Elf;
struct Dwarf_CFI_s;

struct NativeFile {
    int fd;
    struct Elf *elf;
    // Call frame information, or NULL before NativeFile_cfi is called.
    struct Dwarf_CFI_s *cfi;
};

struct NativeSection {
    void *data; // An Elf_Data.
    const uint8_t *bytes;
    size_t size;
    uint64_t address;
};

struct NativeSymbol {
    uint64_t at, size;
    const char *name; // Borrowed from the file.
    unsigned rank;    // 0: global, 1: local, 2: weak.
};

// The functions in a file's symbol table, sorted by address.
struct NativeSymbols {
    struct NativeSymbol *list;
    size_t count;
};

// Opens a file of this process by its absolute path. Returns a descriptor or
// -errno.
int NativeFile_descriptor(const char *path);
// Takes over the ownership of the descriptor `fd`, which may be -errno. If
// `inode` is not 0, the file must have this inode. Returns 0 or -errno.
int NativeFile_open(struct NativeFile *file, int fd, uint64_t inode);
void NativeFile_close(struct NativeFile *file);
// Closes the descriptor. Data that were read from the file stay valid until
// NativeFile_close.
void NativeFile_finish(struct NativeFile *file);
const uint8_t *NativeFile_ident(const struct NativeFile *file);
// Returns the call frame information of `.eh_frame`, or NULL.
struct Dwarf_CFI_s *NativeFile_cfi(struct NativeFile *file);
// Returns false if the file has no section with this name, or if the section
// has no bytes.
bool NativeFile_section(const struct NativeFile *file, const char *name,
                        struct NativeSection *section);
// Sets *address to the virtual address of the byte at `offset` of the file,
// which belongs to an executable segment. Returns false if there is no such
// segment.
bool NativeFile_address(const struct NativeFile *file, uint64_t offset,
                        uint64_t *address);
// Writes the build id. If the file has no build id, writes the inode and the
// size instead, so that another file with the same path has another id.
void NativeFile_build(const struct NativeFile *file, char *build);
// Writes the file name in .gnu_debuglink, or returns false if there is none.
bool NativeFile_debug_link(const struct NativeFile *file, char *name,
                           size_t size);
// Reads the functions of `.symtab`, or of `.dynsym` if the file was stripped.
// Returns true if the functions are those of `.symtab`. If memory is out, the
// list of functions is empty.
bool NativeFile_symbols(const struct NativeFile *file,
                        struct NativeSymbols *symbols);
void NativeSymbols_release(struct NativeSymbols *symbols);
