// SPDX-License-Identifier: MIT
// The functions of elfutils (libelf, libdw) that read machine code. The library
// elfutils is loaded at its first use, so that all other features also work on
// a machine without it. Any thread may call Elfutils_load.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdbool.h>

#define ELFUTILS(X)                                                            \
    X(dwarf_cfi_addrframe)                                                     \
    X(dwarf_cfi_end)                                                           \
    X(dwarf_frame_cfa)                                                         \
    X(dwarf_frame_info)                                                        \
    X(dwarf_frame_register)                                                    \
    X(dwarf_getcfi_elf)                                                        \
    X(dwarf_next_cfi)                                                          \
    X(dwelf_elf_gnu_build_id)                                                  \
    X(dwelf_elf_gnu_debuglink)                                                 \
    X(elf_begin)                                                               \
    X(elf_cntl)                                                                \
    X(elf_end)                                                                 \
    X(elf_getdata)                                                             \
    X(elf_getident)                                                            \
    X(elf_getphdrnum)                                                          \
    X(elf_getscn)                                                              \
    X(elf_getshdrstrndx)                                                       \
    X(elf_kind)                                                                \
    X(elf_nextscn)                                                             \
    X(elf_strptr)                                                              \
    X(elf_version)                                                             \
    X(gelf_getphdr)                                                            \
    X(gelf_getshdr)                                                            \
    X(gelf_getsym)

struct Elfutils {
#define MEMBER(name) __typeof__(name) *name;
    ELFUTILS(MEMBER)
#undef MEMBER
};

// The pointers in `elfutils` are valid after Elfutils_load has returned true.
extern struct Elfutils elfutils;

// Returns false if the machine has no libdw.so.1, or if libdw.so.1 lacks a
// needed function. The library stays loaded.
bool Elfutils_load(void);
