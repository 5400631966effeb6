// SPDX-License-Identifier: MIT
// struct Memory reads the memory of this process through the kernel, so that a
// wrong address causes an error and no fault. struct Memory uses
// process_vm_readv, or /proc/self/mem if seccomp forbids process_vm_readv. The
// sampler reads memory in this way because it follows pointers that other
// threads change. Any thread may call Memory_read. A struct Memory is not valid
// in a forked child.
#pragma once

#include "ipc/base/opened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct Memory {
    pid_t pid;    // Id of this process, for the system calls.
    bool by_file; // True if memory is read through /proc/self/mem.
    int fd; // Descriptor of /proc/self/mem, or -1 if this file is not open.
    struct Opened opened;
    // CLOCK_MONOTONIC in ns at which /proc/self/mem may be opened again, or 0
    // if it is open.
    uint64_t again_ns;
};

// Chooses the first way of reading that works. Returns 0, or -EPERM if no way
// works.
int Memory_open(struct Memory *memory);
void Memory_close(struct Memory *memory);
// If the program has closed /proc/self/mem, opens it again. For example, a
// program that becomes a daemon closes all descriptors. A daemon then opens its
// own files and expects the lowest numbers of descriptors. /proc/self/mem is
// therefore opened only two seconds after its loss was noticed. While
// /proc/self/mem is lost, no memory is read, because another file may have the
// number of the lost descriptor. If /proc/self/mem is open, Memory_keep costs
// one system call. `now_ns` is CLOCK_MONOTONIC in ns. No thread may read memory
// during the call.
void Memory_keep(struct Memory *memory, uint64_t now_ns);
// Memory_recover must be called after a read of memory has failed. Returns true
// if memory can be read now. Chooses the other way of reading if the present
// way will never work again, for example because the program now filters its
// system calls. If the present way still works, Memory_recover costs one system
// call. No thread may read memory during the call.
bool Memory_recover(struct Memory *memory);
// Copies `size` bytes of memory from the address `from` to `to`. Returns true
// if all bytes were read. If a read fails, the bytes at `to` are undefined.
bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size);
// Returns true if the memory from `at` to the end of its page can be read now.
// Memory_is_readable takes about 0.4 us, even if the last check was long ago.
// (A process_vm_readv takes 20 us if the last one was 5 ms ago.) Any thread may
// call Memory_is_readable, which is async-signal-safe.
//
// A read after Memory_is_readable may still fault if another thread unmaps the
// page. The page of a live object is never unmapped.
bool Memory_is_readable(uintptr_t at);
