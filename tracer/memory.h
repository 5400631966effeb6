// SPDX-License-Identifier: MIT
// Reads this very process's memory through the kernel, so that an address that
// is wrong fails instead of faulting: process_vm_readv on ourselves, or, where
// that is forbidden (seccomp), /proc/self/mem. For the sampler, which follows
// pointers that other threads are changing. Any thread; not across a fork.
#ifndef OCULAR_TRACER_MEMORY_H
#define OCULAR_TRACER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Memory {
    pid_t pid; // our own, for process_vm_readv
    int fd;    // of /proc/self/mem; -1: not needed
};

struct MemoryPart {
    uintptr_t from;
    void *to;
    size_t size;
    bool read; // out: all of it is there
};

// Chooses the way that works, once. 0, or -EPERM when none does.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// True when all of it was read; `to` is undefined otherwise.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Many small parts in as few system calls as possible.
void Memory_read_parts(const struct Memory *memory, struct MemoryPart *parts,
                       size_t count);

#endif
