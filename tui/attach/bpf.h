// SPDX-License-Identifier: MIT
// Computes the result of a seccomp filter for a system call. Bpf_run runs the
// filter's classic BPF program as the kernel does. The functions of this file
// are pure. seccomp.c calls them.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Largest number of instructions that the kernel allows in a filter
// (BPF_MAXINSNS).
#define BPF_CODE_MOST 4096

// Returns the filter's result, SECCOMP_RET_..., with its data. Returns
// SECCOMP_RET_KILL_PROCESS if the kernel does not accept the program.
uint32_t Bpf_run(const struct sock_filter *code, size_t count,
                 const struct seccomp_data *call);
// Returns true if the filter's result `answer` ends the process or one of its
// threads. SECCOMP_RET_TRAP counts as well, because the signal SIGSYS ends a
// process that has no handler for it.
bool Bpf_kills(uint32_t answer);
