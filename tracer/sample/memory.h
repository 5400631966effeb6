// SPDX-License-Identifier: MIT
// Reads this very process's memory through the kernel, so that an address that
// is wrong fails instead of faulting: by process_vm_readv to ourselves or,
// where that is forbidden (seccomp), by /proc/self/mem. For the sampler, which
// follows pointers that other threads are changing. Any thread; not across a
// fork.
#ifndef OCULAR_TRACER_SAMPLE_MEMORY_H
#define OCULAR_TRACER_SAMPLE_MEMORY_H

#include "ipc/base/opened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Memory {
    pid_t pid;    // our own, for the system calls
    bool by_file; // /proc/self/mem
    int fd;       // of that; -1: not open
    struct Opened opened;
    uint64_t again_ns; // when it may be opened anew; 0: it is not lost
};

// Chooses the first way that works. 0, or -EPERM when none does.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// Opens the file anew where the program has closed it, as who becomes a daemon
// does: two seconds after that is seen, since who closes all there is opens its
// own next and counts on their numbers. Until then nothing is read, nor of what
// has got the number. Costs a system call where there is a file, nothing
// elsewhere. CLOCK_MONOTONIC. Not while somebody reads.
void Memory_keep(struct Memory *memory, uint64_t now_ns);
// After a read that has failed: where nothing can be read that way any more, as
// where the program has its system calls filtered from now on, chooses anew.
// Not while somebody reads. A system call, where it still works. Returns
// whether anything can be read now.
bool Memory_recover(struct Memory *memory);
// True when all of it was read; `to` is undefined otherwise.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Whether the page at that address, or the part of it from there on, can be
// read just now. Unlike a read it costs the same when it comes after a pause:
// some 0.4 us, where the first process_vm_readv after 5 ms takes 20 us. Any
// thread, async-signal-safe.
//
// What is read after that may fault all the same, where another thread has
// unmapped the page in between; no page that holds what is alive.
bool Memory_is_readable(uintptr_t at);

#endif
