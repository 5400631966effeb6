// SPDX-License-Identifier: MIT
// Reads the memory of this process through the kernel, so that a wrong address
// fails instead of faulting. The first way is process_vm_readv. The second way,
// if seccomp forbids the first, is /proc/self/mem. The sampler needs this
// because it follows pointers that other threads change. Any thread may read. A
// Memory is not valid in a forked child.
#ifndef OCULAR_TRACER_SAMPLE_MEMORY_H
#define OCULAR_TRACER_SAMPLE_MEMORY_H

#include "ipc/base/opened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Memory {
    pid_t pid;    // our own id, for the system calls
    bool by_file; // memory is read through /proc/self/mem
    int fd;       // descriptor of /proc/self/mem; -1: not open
    struct Opened opened;
    uint64_t again_ns; // when the file may be opened again; 0: it is not lost
};

// Chooses the first way that works. Returns 0, or -EPERM if no way works.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// Opens the file again if the program has closed it, as a program does that
// becomes a daemon. A program that closes all descriptors opens its own
// descriptors next and expects the lowest numbers. So the file is opened two
// seconds after its loss was seen. Until then nothing is read, not even from a
// file that got the number. The cost is one system call if there is a file.
// `now_ns` is CLOCK_MONOTONIC. No thread may read meanwhile.
void Memory_keep(struct Memory *memory, uint64_t now_ns);
// Called after a read that has failed. Returns true if memory can be read now.
// If this way of reading is closed for good, as in a program that now filters
// its system calls, another way is chosen. The cost is one system call if the
// way still works. No thread may read meanwhile.
bool Memory_recover(struct Memory *memory);
// Returns true if all bytes were read. If a read fails, the bytes at `to` are
// undefined.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Returns true if the page at `at` can be read now, from `at` to its end. The
// check takes some 0.4 us, also after a pause. The first process_vm_readv after
// 5 ms takes 20 us. Any thread may call this function, which is
// async-signal-safe.
//
// A later read may still fault if another thread unmaps the page meanwhile. The
// page of a live object is never unmapped.
bool Memory_is_readable(uintptr_t at);

#endif
