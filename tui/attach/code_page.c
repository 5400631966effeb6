// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // MAP_FIXED_NOREPLACE
#include "tui/attach/code_page.h"

#include "tui/attach/process_memory.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#define PAGE 4096u
// The code page is put into a gap between mappings that has at least GAP bytes.
#define GAP 0x100000
#define LOWEST 0x10000

// The machine code of the page gets the address of the page as its only
// argument. struct CodePage is at the beginning of the page. The code ends with
// a jump to munmap(), which returns to the caller of the code.
#ifdef __x86_64__
__asm__(
    ".pushsection .rodata\n"
    "ocular_code_page: endbr64\n"
    "push %rbx\n"
    "push %rbp\n"
    "sub $8, %rsp\n"
    "mov %rdi, %rbx\n"
    "call *(%rbx)\n" // calls ensure()
    "mov %eax, %ebp\n"
    "lea 32(%rbx), %rdi\n"
    "call *8(%rbx)\n" // calls run(text)
    "mov %ebp, %edi\n"
    "call *16(%rbx)\n" // calls release()
    "mov %rbx, %rdi\n"
    "mov $4096, %esi\n"
    "mov 24(%rbx), %rax\n"
    "add $8, %rsp\n"
    "pop %rbp\n"
    "pop %rbx\n"
    "jmp *%rax\n" // Jumps to unmap().
    "ocular_code_page_end:\n"
    ".popsection\n");
extern const unsigned char ocular_code_page[], ocular_code_page_end[];
#else
static const unsigned char ocular_code_page[1];
#define ocular_code_page_end ocular_code_page
#endif
_Static_assert(offsetof(struct CodePage, text) == 32 &&
                   sizeof(struct CodePage) % 8 == 0 &&
                   sizeof(struct CodePage) <= PAGE,
               "as the code has it");

bool CodePage_is_there(pid_t pid, uint64_t place)
{
    struct CodePage page;
    const struct CodePage empty = {0};
    return !ProcessMemory_read(pid, place, &page, sizeof page) &&
           memcmp(&page, &empty, sizeof page) == 0;
}

static bool is_page(const char *line, uint64_t start, uint64_t end)
{
    return end - start == PAGE && strstr(line, " r-xp 00000000 00:00 0") &&
           !strpbrk(line, "/[");
}

uint64_t CodePage_place(pid_t pid)
{
    char path[64], *line = NULL;
    size_t size = 0;
    uint64_t place = 0, before = 0;
    // Skips the gap after the heap, because the heap grows into this gap.
    bool heap = true, unused = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && !unused && getline(&line, &size, maps) > 0) {
        unsigned long long start, end;
        if (sscanf(line, "%llx-%llx", &start, &end) != 2)
            continue;
        unused = is_page(line, start, end) && CodePage_is_there(pid, start);
        if (unused)
            place = start;
        else if (!place && !heap && before >= LOWEST && start - before >= GAP &&
                 !strstr(line, "[stack]"))
            place = before + PAGE;
        heap = strstr(line, "[heap]") != NULL;
        before = end;
    }
    free(line);
    if (maps)
        fclose(maps);
    return place;
}

struct SigframeCall CodePage_map(uint64_t mmap, uint64_t place)
{
    return (struct SigframeCall){
        mmap,
        {place, PAGE, PROT_READ | PROT_EXEC,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, (uint64_t)-1, 0}};
}

int CodePage_write(struct CodePage *page, pid_t thread, uint64_t place)
{
    size_t size = (size_t)(ocular_code_page_end - ocular_code_page);
    if (!size || size > sizeof page->code)
        return -ENOTSUP;
    memcpy(page->code, ocular_code_page, size);
    // process_vm_writev() cannot write to this page, because the page is not
    // writable for the process itself. PTRACE_POKEDATA can write to it.
    for (size_t at = 0; at < sizeof *page; at += sizeof(long)) {
        long word;
        memcpy(&word, (const char *)page + at, sizeof word);
        if (ptrace(PTRACE_POKEDATA, thread, (void *)(uintptr_t)(place + at),
                   (void *)word) < 0)
            return -errno;
    }
    return 0;
}

struct SigframeCall CodePage_start(uint64_t start_thread, uint64_t place)
{
    return (struct SigframeCall){
        start_thread, {place + offsetof(struct CodePage, code), place}};
}
