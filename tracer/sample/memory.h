// SPDX-License-Identifier: MIT
// Reads this very process's memory through the kernel, so that an address that
// is wrong fails instead of faulting: by process_vm_readv to ourselves or,
// if that is forbidden (seccomp), by /proc/self/mem. For the sampler, which
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
    uint64_t again_ns; // when it may be opened again; 0: it is not lost
};

// Chooses the first way that works. 0, or -EPERM when none does.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// Opens the file again if the program has closed it, as a program does that
// becomes a daemon. It does so two seconds after it has seen that: a program
// that closes all descriptors opens its own next, and counts on their numbers.
// Until then nothing is read, not even from a file that got the number. Costs a
// system call if there is a file, and nothing else. CLOCK_MONOTONIC. Not while
// a thread reads.
void Memory_keep(struct Memory *memory, uint64_t now_ns);
// Called after a read that has failed. If this way of reading is closed for
// good, as in a program that filters its system calls from now on, it chooses
// another. Not while a thread reads. One system call, if the way still works.
// Returns whether memory can be read now.
bool Memory_recover(struct Memory *memory);
// True when all of it was read; `to` is undefined otherwise.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Whether the page at `at`, or the part of it from there on, can be
// read just now. It takes some 0.4 us, also after a pause; the first
// process_vm_readv after 5 ms takes 20 us. Any thread, async-signal-safe.
//
// A read after that may fault all the same, if another thread has unmapped the
// page in between. No page of a live object is unmapped.
bool Memory_is_readable(uintptr_t at);

#endif
