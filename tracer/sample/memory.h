// SPDX-License-Identifier: MIT
// Reads the memory of this process through the kernel, so that a wrong address
// gives an error and no fault. The first way is process_vm_readv. If seccomp
// forbids process_vm_readv, /proc/self/mem is read instead. The sampler needs
// these functions because it follows pointers that other threads change. Any
// thread may call Memory_read. A struct Memory is not valid in a forked child.
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
    // Time at which the file may be opened again; 0 if the file is open.
    uint64_t again_ns;
};

// Chooses the first way that works. Returns 0, or -EPERM if no way works.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// Opens the file again if the program has closed the file. For example, a
// program that becomes a daemon closes all files. A program that closes all
// descriptors opens its own descriptors next and expects the lowest numbers. So
// the file is opened two seconds after its loss was seen. In these two seconds
// no memory is read, because another file may have the descriptor's number. The
// cost is one system call if the file is open. `now_ns` is the time of
// CLOCK_MONOTONIC. No thread may read memory during the call.
void Memory_keep(struct Memory *memory, uint64_t now_ns);
// This function is called after a read has failed. Returns true if memory can
// be read now. If the present way of reading never works again, for example
// because the program now filters its system calls, another way is chosen. If
// the present way still works, the cost is one system call. No thread may read
// memory during the call.
bool Memory_recover(struct Memory *memory);
// Returns true if all bytes were read. If a read fails, the bytes at `to` are
// undefined.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Returns true if the page at `at` can be read now, from `at` to the end of the
// page. The check takes about 0.4 us, even if the last check was long ago. A
// process_vm_readv takes 20 us if the last one was 5 ms ago. Any thread may
// call this function, which is async-signal-safe.
//
// A later read may still fault if another thread unmaps the page after the
// check. The page of a live object is never unmapped.
bool Memory_is_readable(uintptr_t at);

#endif
