// SPDX-License-Identifier: MIT
// Reads and writes the memory of another process. The process need not be
// stopped. The bytes from the process are not trusted. Any file of tui/attach/
// may call the functions of process_memory.h.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// ProcessMemory_read and ProcessMemory_write return 0 if all bytes were copied,
// -EFAULT if some of the range is not mapped, or another -errno. -EPERM means
// that the kernel does not permit the access.
int ProcessMemory_read(pid_t pid, uint64_t address, void *out, size_t size);
int ProcessMemory_write(pid_t pid, uint64_t address, const void *data,
                        size_t size);
