// SPDX-License-Identifier: MIT
#include "formats/native_names.h"

#include "formats/native_file.h"
#include "formats/rust_name.h"
#include "ipc/base/array.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 400

// --- Names of C++ ------------------------------------------------------------

// Returns the function of the C++ library that demangles names, or NULL if the
// machine has no C++ library.
static void *cxx_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

    return library ? dlsym(library, "__cxa_demangle") : NULL;
}

void NativeNames_demangle(const char *symbol, char *text, size_t size)
{
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    void *found = NULL;
    char *name = NULL;
    int status;

    if (RustName_write(symbol, text, size))
        return;
    if (strncmp(symbol, "_Z", 2) == 0)
        found = cxx_demangler();
    memcpy(&demangle, &found, sizeof demangle);
    if (demangle)
        name = demangle(symbol, NULL, NULL, &status);
    snprintf(text, size, "%s", name ? name : symbol);
    free(name);
}

// --- Files -------------------------------------------------------------------

#define MOST_SOURCES 1024

// A file, and its symbol table or that of its debug file.
struct NativeSource {
    struct NativeSource *next;
    char *path;
    char build[NATIVE_BUILD];
#ifdef OCULAR_LIBDW
    struct NativeFile file;
    bool open;
    struct NativeSymbols symbols;
#endif
};

static void close_source(struct NativeSource *source)
{
#ifdef OCULAR_LIBDW
    NativeSymbols_release(&source->symbols);
    if (source->open)
        NativeFile_close(&source->file);
    source->open = false;
#else
    (void)source;
#endif
}

void NativeNames_release(struct NativeNames *names)
{
    for (struct NativeSource *at = names->sources, *next; at; at = next) {
        next = at->next;
        close_source(at);
        Heap_free(at->path);
        Heap_free(at);
    }
    names->sources = NULL;
}

#ifdef OCULAR_LIBDW
// Opens the file at `path`. If the file has the build id of `source`, the
// file's symbols replace those of `source`. Returns true if the new symbols are
// complete.
static bool open_source(const struct NativeNames *names,
                        struct NativeSource *source, const char *path)
{
    int fd = names->open ? names->open(names->pid, path, NATIVE_OPEN)
                         : NativeFile_descriptor(path);
    struct NativeSymbols symbols = {0};
    struct NativeFile file;
    char build[NATIVE_BUILD];
    bool same, all;

    if (NativeFile_open(&file, fd, 0))
        return false;
    NativeFile_build(&file, build);
    same = *build && strcmp(build, source->build) == 0;
    all = same && NativeFile_symbols(&file, &symbols);
    if (!same || (source->open && !symbols.count)) {
        NativeSymbols_release(&symbols);
        NativeFile_close(&file);
        return false;
    }
    close_source(source);
    source->file = file;
    source->symbols = symbols;
    source->open = true;
    return all;
}

// Looks for a file with all symbols in the folders that debuggers search.
static void read_source(const struct NativeNames *names,
                        struct NativeSource *source)
{
    static const char *const places[] = {"%.*s/%s", "%.*s/.debug/%s",
                                         "/usr/lib/debug%.*s/%s"};
    char path[PATH_MAX], link[NAME_MAX_BYTES];
    const char *build = source->build, *slash = strrchr(source->path, '/');
    int folder = slash ? (int)(slash - source->path) : 0;

    if (open_source(names, source, source->path) || !source->open)
        return;
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", build,
             *build ? build + 2 : "");
    if (*build && open_source(names, source, path))
        return;
    if (!NativeFile_debug_link(&source->file, link, sizeof link))
        return;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, places[i], folder, source->path, link);
        if (open_source(names, source, path))
            return;
    }
}
#endif

static struct NativeSource *source_of(struct NativeNames *names,
                                      const char *path, const char *build)
{
    struct NativeSource *at = names->sources;
    size_t count = 0;

    // The text comes from the traced process and can have any length.
    if (strlen(build) >= NATIVE_BUILD)
        return NULL;
    while (at && (strcmp(at->path, path) != 0 || strcmp(at->build, build) != 0))
        at = at->next, count++;
    if (at || count == MOST_SOURCES)
        return at;
    at = Heap_zeroed(1, sizeof *at);
    if (!at)
        return NULL;
    at->path = Heap_text(path);
    if (!at->path) {
        Heap_free(at);
        return NULL;
    }
    snprintf(at->build, sizeof at->build, "%s", build);
    at->next = names->sources;
    names->sources = at;
#ifdef OCULAR_LIBDW
    read_source(names, at);
    if (at->open)
        NativeFile_finish(&at->file);
#endif
    return at;
}

// Returns the name of the function that contains the address, or NULL. A symbol
// of assembly code may have no size.
static const char *symbol_at(const struct NativeSource *source,
                             uint64_t address)
{
#ifdef OCULAR_LIBDW
    const struct NativeSymbols *symbols = &source->symbols;
    const struct NativeSymbol *found;
    size_t low =
        ARRAY_BOUND(symbols->count, symbols->list[middle].at <= address);

    if (!low)
        return NULL;
    found = &symbols->list[low - 1];
    while (found > symbols->list && found[-1].at == found->at)
        // Of several names at the same address, the first one is the best.
        found--;
    return address < found->at + (found->size ? found->size : 1) ? found->name
                                                                 : NULL;
#else
    (void)source, (void)address;
    return NULL;
#endif
}

// Returns the name of the C function, in the memory of `arena`, or NULL if
// memory is out.
static const char *name_of(struct NativeNames *names, struct Arena *arena,
                           const char *path, const char *build,
                           uint64_t address)
{
    bool known = path && address && address != NULL_U64;
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct NativeSource *source =
        known ? source_of(names, path, build ? build : "") : NULL;
    const char *symbol = source ? symbol_at(source, address) : NULL;
    char text[NAME_MAX_BYTES];

    if (!path)
        snprintf(text, sizeof text, "(callers not known)");
    else if (symbol)
        NativeNames_demangle(symbol, text, sizeof text);
    else if (!known)
        snprintf(text, sizeof text, "%.300s", slash ? slash + 1 : path);
    else
        snprintf(text, sizeof text, "%.300s+0x%llx", slash ? slash + 1 : path,
                 (unsigned long long)address);
    return Arena_text(arena, text);
}

// Returns an array without `const`. Only native_names.c may change the tables.
#define CHANGEABLE(array) ((void *)(uintptr_t)(array))

void NativeNames_set(struct NativeNames *names, struct FlameTable *table)
{
    struct FlameFunction *functions = CHANGEABLE(table->functions);

    for (size_t i = 0; i < table->function_count; i++) {
        struct FlameFunction *at = &functions[i];

        if (FlameNative_is(at->id) && !at->name)
            at->name =
                name_of(names, &table->arena, at->file, at->build, at->address);
    }
}

void NativeNames_set_listing(struct NativeNames *names, struct Listing *listing)
{
    struct ListingNative *natives = CHANGEABLE(listing->natives);

    if (listing->native_count > LISTING_NATIVES)
        listing->native_count = LISTING_NATIVES;
    for (size_t i = 0; i < listing->native_count; i++) {
        struct ListingNative *at = &natives[i];

        at->name =
            name_of(names, &listing->arena, at->file, at->build, at->address);
    }
}
