// SPDX-License-Identifier: MIT
// Finds the functions of elfutils. See elfutils.h.
#ifdef OCULAR_LIBDW
#include "formats/elfutils.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

struct Elfutils elfutils;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;

// Stores the address of the library's function with this name. Returns false if
// the library has no such function.
static bool find(void *library, const char *name, void *function, size_t size)
{
    // The handle of libdw also finds the functions of libelf, because libdw
    // needs libelf.
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, size);
    return symbol;
}

static void load(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

    loaded = library;
#define FIND(name)                                                             \
    loaded =                                                                   \
        loaded && find(library, #name, &elfutils.name, sizeof elfutils.name);
    ELFUTILS(FIND)
#undef FIND
    if (loaded)
        elfutils.elf_version(EV_CURRENT);
}

bool Elfutils_load(void)
{
    pthread_once(&once, load);
    return loaded;
}
#endif
