// SPDX-License-Identifier: MIT
#include "formats/native_file.h"

#ifdef OCULAR_LIBDW
#include "formats/elfutils.h"
#include "ipc/base/heap.h"
#include "ipc/base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Larger sections are not read, because a sparse file can claim any size.
#define MOST_BYTES (256u << 20)

int NativeFile_descriptor(const char *path)
{
    // The kernel's own code is not in a file. The kernel's code has the name
    // "[vdso]" instead of a path.
    int fd = *path == '/' ? Opened_above(open(path, NATIVE_OPEN)) : -1;

    return fd < 0 ? -ENOENT : fd;
}

int NativeFile_open(struct NativeFile *file, int fd, uint64_t inode)
{
    struct stat facts;

    *file = (struct NativeFile){.fd = fd};
    if (!Elfutils_load()) {
        if (fd >= 0)
            close(fd);
        return -ELIBACC;
    }
    if (fd < 0)
        return fd;
    // The file is read instead of mapped, because the process would be killed
    // if a mapped file became shorter.
    if (fstat(file->fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
        (!inode || facts.st_ino == inode))
        file->elf = elfutils.elf_begin(file->fd, ELF_C_READ, NULL);
    if (file->elf && elfutils.elf_kind(file->elf) == ELF_K_ELF)
        return 0;
    NativeFile_close(file);
    return -ENOEXEC;
}

void NativeFile_close(struct NativeFile *file)
{
    if (file->cfi)
        elfutils.dwarf_cfi_end(file->cfi);
    elfutils.elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
}

void NativeFile_finish(struct NativeFile *file)
{
    elfutils.elf_cntl(file->elf, ELF_C_FDDONE);
    close(file->fd);
    file->fd = -1;
}

const uint8_t *NativeFile_ident(const struct NativeFile *file)
{
    return (const uint8_t *)elfutils.elf_getident(file->elf, NULL);
}

struct Dwarf_CFI_s *NativeFile_cfi(struct NativeFile *file)
{
    if (!file->cfi)
        file->cfi = elfutils.dwarf_getcfi_elf(file->elf);
    return file->cfi;
}

bool NativeFile_section(const struct NativeFile *file, const char *name,
                        struct NativeSection *section)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    size_t names;

    if (elfutils.elf_getshdrstrndx(file->elf, &names))
        return false;
    while ((scn = elfutils.elf_nextscn(file->elf, scn))) {
        const char *found =
            elfutils.gelf_getshdr(scn, &header)
                ? elfutils.elf_strptr(file->elf, names, header.sh_name)
                : NULL;
        Elf_Data *data;

        if (!found || strcmp(found, name) != 0 || header.sh_type == SHT_NOBITS)
            continue;
        data = header.sh_size <= MOST_BYTES ? elfutils.elf_getdata(scn, NULL)
                                            : NULL;
        if (!data || !data->d_buf)
            return false;
        *section = (struct NativeSection){data, data->d_buf, data->d_size,
                                          header.sh_addr};
        return true;
    }
    return false;
}

bool NativeFile_address(const struct NativeFile *file, uint64_t offset,
                        uint64_t *address)
{
    size_t count;
    GElf_Phdr header;

    if (elfutils.elf_getphdrnum(file->elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!elfutils.gelf_getphdr(file->elf, (int)i, &header) ||
            header.p_type != PT_LOAD || !(header.p_flags & PF_X))
            continue;
        // A mapping begins at a page boundary. `offset` can therefore be up to
        // a page smaller than the segment's offset.
        if (offset + 4096 > header.p_offset &&
            offset < header.p_offset + header.p_filesz) {
            *address = header.p_vaddr + offset - header.p_offset;
            return true;
        }
    }
    return false;
}

void NativeFile_build(const struct NativeFile *file, char *build)
{
    const void *id;
    ssize_t size = elfutils.dwelf_elf_gnu_build_id(file->elf, &id);
    struct stat facts;

    *build = '\0';
    if (size <= 0 && fstat(file->fd, &facts) == 0)
        snprintf(build, NATIVE_BUILD, "i%jx.%jx", (uintmax_t)facts.st_ino,
                 (uintmax_t)facts.st_size);
    for (ssize_t i = 0; i < size && 2 * i + 2 < NATIVE_BUILD; i++)
        snprintf(build + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
}

bool NativeFile_debug_link(const struct NativeFile *file, char *name,
                           size_t size)
{
    GElf_Word checksum;
    const char *link = elfutils.dwelf_elf_gnu_debuglink(file->elf, &checksum);

    if (!link || strchr(link, '/'))
        return false;
    snprintf(name, size, "%s", link);
    return true;
}

// --- Symbols -----------------------------------------------------------------

static int by_address(const void *a, const void *b)
{
    const struct NativeSymbol *one = a, *other = b;
    int order = (one->at > other->at) - (one->at < other->at);

    // If several symbols have the same address, perf's order decides which one
    // comes first.
    if (!order)
        order = (one->size == 0) - (other->size == 0);
    if (!order)
        order = (int)one->rank - (int)other->rank;
    if (!order)
        order = (int)strspn(one->name, "_") - (int)strspn(other->name, "_");
    if (!order)
        order = (strlen(one->name) < strlen(other->name)) -
                (strlen(one->name) > strlen(other->name));
    return order ? order : strcmp(one->name, other->name);
}

static bool is_small(Elf_Scn *scn, GElf_Shdr *header)
{
    return scn && elfutils.gelf_getshdr(scn, header) &&
           header->sh_size <= MOST_BYTES;
}

static void read_symbols(const struct NativeFile *file, Elf_Scn *scn,
                         struct NativeSymbols *symbols)
{
    GElf_Shdr header, names;
    Elf_Data *data;
    size_t count, kept = 0;

    if (!is_small(scn, &header) || header.sh_entsize < sizeof(Elf32_Sym) ||
        !is_small(elfutils.elf_getscn(file->elf, header.sh_link), &names))
        return;
    data = elfutils.elf_getdata(scn, NULL);
    if (!data)
        return;
    count = header.sh_size / header.sh_entsize;
    symbols->list = Heap_zeroed(count + 1, sizeof *symbols->list);
    for (size_t i = 0; symbols->list && i < count && i < INT32_MAX; i++) {
        struct NativeSymbol *symbol = &symbols->list[kept];
        GElf_Sym found;

        if (!elfutils.gelf_getsym(data, (int)i, &found) ||
            found.st_shndx == SHN_UNDEF || !found.st_value ||
            (GELF_ST_TYPE(found.st_info) != STT_FUNC &&
             GELF_ST_TYPE(found.st_info) != STT_GNU_IFUNC))
            continue;
        symbol->name =
            elfutils.elf_strptr(file->elf, header.sh_link, found.st_name);
        symbol->at = found.st_value;
        symbol->size = found.st_size;
        symbol->rank = GELF_ST_BIND(found.st_info) == STB_WEAK
                           ? 2
                           : GELF_ST_BIND(found.st_info) == STB_LOCAL;
        kept += symbol->name && *symbol->name;
    }
    symbols->count = kept;
    if (kept)
        qsort(symbols->list, kept, sizeof *symbols->list, by_address);
}

bool NativeFile_symbols(const struct NativeFile *file,
                        struct NativeSymbols *symbols)
{
    Elf_Scn *scn = NULL, *dynamic = NULL, *all = NULL;
    GElf_Shdr header;

    *symbols = (struct NativeSymbols){0};
    while ((scn = elfutils.elf_nextscn(file->elf, scn))) {
        if (!elfutils.gelf_getshdr(scn, &header))
            continue;
        if (header.sh_type == SHT_SYMTAB)
            all = scn;
        else if (header.sh_type == SHT_DYNSYM)
            dynamic = scn;
    }
    if (all || dynamic)
        read_symbols(file, all ? all : dynamic, symbols);
    return all;
}

void NativeSymbols_release(struct NativeSymbols *symbols)
{
    Heap_free(symbols->list);
    *symbols = (struct NativeSymbols){0};
}
#endif
