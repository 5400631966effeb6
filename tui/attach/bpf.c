// SPDX-License-Identifier: MIT
// A filter program always ends, because every jump goes forwards.
#include "tui/attach/bpf.h"

#include <string.h>

struct Machine {
    const struct seccomp_data *call;
    uint32_t a, x;
    uint32_t memory[BPF_MEMWORDS];
};

// Sets *to to the value that the instruction loads. Returns false if the kernel
// does not accept the instruction.
static bool load(struct Machine *machine, const struct sock_filter *step,
                 uint32_t *to)
{
    switch (BPF_MODE(step->code)) {
    case BPF_IMM:
        *to = step->k;
        return true;
    case BPF_LEN:
        *to = sizeof *machine->call;
        return true;
    case BPF_MEM:
        if (step->k >= BPF_MEMWORDS)
            return false;
        *to = machine->memory[step->k];
        return true;
    case BPF_ABS:
        if (step->k % 4 || step->k > sizeof *machine->call - 4)
            return false;
        memcpy(to, (const char *)machine->call + step->k, 4);
        return true;
    default:
        return false;
    }
}

static bool compute(struct Machine *machine, const struct sock_filter *step)
{
    uint32_t by = BPF_SRC(step->code) == BPF_X ? machine->x : step->k;
    uint32_t *a = &machine->a;
    switch (BPF_OP(step->code)) {
    case BPF_ADD:
        *a += by;
        return true;
    case BPF_SUB:
        *a -= by;
        return true;
    case BPF_MUL:
        *a *= by;
        return true;
    // After a division by 0 the filter returns 0 (SECCOMP_RET_KILL_THREAD).
    case BPF_DIV:
        *a = by ? *a / by : 0;
        return by != 0;
    case BPF_AND:
        *a &= by;
        return true;
    case BPF_OR:
        *a |= by;
        return true;
    case BPF_XOR:
        *a ^= by;
        return true;
    case BPF_LSH:
        *a <<= by & 31;
        return true;
    case BPF_RSH:
        *a >>= by & 31;
        return true;
    case BPF_NEG:
        *a = -*a;
        return true;
    default:
        return false;
    }
}

// Returns how many instructions the jump skips.
static uint32_t jump(const struct Machine *machine,
                     const struct sock_filter *step)
{
    uint32_t with = BPF_SRC(step->code) == BPF_X ? machine->x : step->k;
    bool holds = false;
    switch (BPF_OP(step->code)) {
    case BPF_JA:
        return step->k;
    case BPF_JEQ:
        holds = machine->a == with;
        break;
    case BPF_JGT:
        holds = machine->a > with;
        break;
    case BPF_JGE:
        holds = machine->a >= with;
        break;
    case BPF_JSET:
        holds = machine->a & with;
        break;
    }
    return holds ? step->jt : step->jf;
}

static bool store(struct Machine *machine, uint32_t at, uint32_t value)
{
    if (at >= BPF_MEMWORDS)
        return false;
    machine->memory[at] = value;
    return true;
}

uint32_t Bpf_run(const struct sock_filter *code, size_t count,
                 const struct seccomp_data *call)
{
    struct Machine machine = {.call = call};
    bool good = true;
    for (size_t at = 0; good && at < count; at++) {
        const struct sock_filter *step = &code[at];
        switch (BPF_CLASS(step->code)) {
        case BPF_LD:
            good = load(&machine, step, &machine.a);
            break;
        case BPF_LDX:
            good = load(&machine, step, &machine.x);
            break;
        case BPF_ST:
            good = store(&machine, step->k, machine.a);
            break;
        case BPF_STX:
            good = store(&machine, step->k, machine.x);
            break;
        case BPF_ALU:
            good = compute(&machine, step);
            break;
        case BPF_JMP:
            at += jump(&machine, step);
            break;
        case BPF_RET:
            return BPF_RVAL(step->code) == BPF_A ? machine.a : step->k;
        default: // The class BPF_MISC.
            if (BPF_MISCOP(step->code) == BPF_TAX)
                machine.x = machine.a;
            else
                machine.a = machine.x;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}

bool Bpf_kills(uint32_t answer)
{
    switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
    // If the thread has no tracer, the call fails with ENOSYS.
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_ERRNO:
        return false;
    default: // If the action is unknown, the kernel kills the process.
        return true;
    }
}
