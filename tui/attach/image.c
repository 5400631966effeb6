// SPDX-License-Identifier: MIT
// Each number that comes from the process is checked against a limit. Addresses
// that come from the process are only passed to ProcessMemory_read, which
// refuses an unmapped address.
#include "tui/attach/image.h"

#include "tui/attach/process_memory.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SEGMENTS_MOST 64
#define DYNAMIC_MOST 512
#define CHAIN_MOST 4096 // Maximum number of symbols in one hash bucket.
#define NAME_MOST 64

static int read_segments(struct Image *image, uint64_t base,
                         Elf64_Phdr segments[SEGMENTS_MOST], unsigned *count)
{
    Elf64_Ehdr header;
    int error = ProcessMemory_read(image->pid, base, &header, sizeof header);
    if (error)
        return error;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof *segments ||
        header.e_phnum > SEGMENTS_MOST)
        return -ENOEXEC;
    image->machine = header.e_machine;
    *count = header.e_phnum;
    return ProcessMemory_read(image->pid, base + header.e_phoff, segments,
                              *count * sizeof *segments);
}

// Returns the address in an entry of the dynamic section. glibc has already
// added the load address to the entry, and musl has not.
static uint64_t pointed(const struct Image *image, uint64_t value)
{
    return value < image->bias ? value + image->bias : value;
}

static int read_dynamic(struct Image *image, uint64_t address)
{
    for (unsigned i = 0; i < DYNAMIC_MOST; i++) {
        Elf64_Dyn entry;
        int error = ProcessMemory_read(image->pid, address + i * sizeof entry,
                                       &entry, sizeof entry);
        if (error)
            return error;
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            image->symbols = pointed(image, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRTAB)
            image->names = pointed(image, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_GNU_HASH)
            image->hash = pointed(image, entry.d_un.d_ptr);
    }
    return image->symbols && image->names && image->hash ? 0 : -ENOEXEC;
}

int Image_load(struct Image *image, pid_t pid, uint64_t base)
{
    Elf64_Phdr segments[SEGMENTS_MOST];
    const Elf64_Phdr *dynamic = NULL;
    unsigned count = 0;
    bool loaded = false;
    *image = (struct Image){.pid = pid};
    int error = read_segments(image, base, segments, &count);
    if (error)
        return error;
    for (unsigned i = 0; i < count; i++) {
        if (segments[i].p_type == PT_LOAD && !loaded) {
            image->bias = base - (segments[i].p_vaddr - segments[i].p_offset);
            loaded = true;
        }
        if (segments[i].p_type == PT_DYNAMIC)
            dynamic = &segments[i];
    }
    if (!loaded || !dynamic)
        return -ENOEXEC;
    return read_dynamic(image, image->bias + dynamic->p_vaddr);
}

// --- Search for a name

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static bool has_name(const struct Image *image, const Elf64_Sym *symbol,
                     const char *name)
{
    char there[NAME_MOST];
    size_t size = strlen(name) + 1;
    return size <= sizeof there &&
           !ProcessMemory_read(image->pid, image->names + symbol->st_name,
                               there, size) &&
           memcmp(there, name, size) == 0;
}

static int take(const struct Image *image, const Elf64_Sym *symbol,
                struct Symbol *found)
{
    if (symbol->st_shndx == SHN_UNDEF)
        return -ENOENT;
    *found = (struct Symbol){image->bias + symbol->st_value, symbol->st_size};
    return 0;
}

int Image_find(const struct Image *image, const char *name,
               struct Symbol *found)
{
    struct {
        uint32_t buckets, first, bloom, shift;
    } table;
    uint32_t hash = hash_of(name), at, chained;
    int error =
        ProcessMemory_read(image->pid, image->hash, &table, sizeof table);
    if (error)
        return error;
    if (!table.buckets)
        return -ENOENT;
    uint64_t buckets = image->hash + sizeof table + 8ull * table.bloom;
    uint64_t chains = buckets + 4ull * table.buckets;
    error = ProcessMemory_read(
        image->pid, buckets + 4ull * (hash % table.buckets), &at, sizeof at);
    if (error)
        return error;
    if (at < table.first)
        return -ENOENT;
    for (unsigned i = 0; i < CHAIN_MOST; i++, at++) {
        Elf64_Sym symbol;
        error =
            ProcessMemory_read(image->pid, chains + 4ull * (at - table.first),
                               &chained, sizeof chained);
        if (!error && (chained | 1) == (hash | 1))
            error = ProcessMemory_read(image->pid,
                                       image->symbols + at * sizeof symbol,
                                       &symbol, sizeof symbol);
        if (error)
            return error;
        if ((chained | 1) == (hash | 1) && has_name(image, &symbol, name))
            return take(image, &symbol, found);
        if (chained & 1) // The last symbol of the bucket.
            break;
    }
    return -ENOENT;
}
