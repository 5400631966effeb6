// SPDX-License-Identifier: MIT
// Reads the memory of this process through the kernel, so that a wrong address
// fails instead of faulting. The first way is process_vm_readv. The second way,
// if seccomp forbids the first, is /proc/self/mem. The sampler needs these
// functions because it follows pointers that other threads change. Any thread
// may call Memory_read. A struct Memory is not valid in a forked child.
#ifndef OCULAR_TRACER_SAMPLE_MEMORY_H
#define OCULAR_TRACER_SAMPLE_MEMORY_H

#include "ipc/base/opened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Memory {
    pid_t pid;    // id of this process, for the system calls
    bool by_file; // true if memory is read through /proc/self/mem
    int fd;       // descriptor of /proc/self/mem, or -1 if the file is not open
    struct Opened opened;
    // Time at which the file may be opened again; 0 if it is not lost.
    uint64_t again_ns;
};

// Chooses the first way that works. Returns 0, or -EPERM if no way works.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// Opens the file again if the program has closed it, as a program does that
// becomes a daemon. A program that closes all descriptors opens its own
// descriptors next and expects the lowest numbers. So the file is opened two
// seconds after its loss was seen. Until then no memory is read, not even if
// another file has the descriptor's number. The cost is one system call if the
// file is open. `now_ns` is the time of CLOCK_MONOTONIC. No thread may read
// memory during the call.
void Memory_keep(struct Memory *memory, uint64_t now_ns);
// This function is called after a read has failed. Returns true if memory can
// be read now. If this way of reading is permanently closed, for example
// because the program filters its system calls now, another way is chosen. The
// cost is one system call if the way still works. No thread may read memory
// during the call.
bool Memory_recover(struct Memory *memory);
// Returns true if all bytes were read. If a read fails, the bytes at `to` are
// undefined.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Returns true if the page at `at` can be read now, from `at` to the end of the
// page. The check takes about 0.4 us, also after a pause. The first
// process_vm_readv after 5 ms takes 20 us. Any thread may call this function,
// which is async-signal-safe.
//
// A later read may still fault if another thread unmaps the page after the
// check. The page of a live object is never unmapped.
bool Memory_is_readable(uintptr_t at);

#endif
