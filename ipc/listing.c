// SPDX-License-Identifier: MIT
// The tables of the listing's schema. A new row must be the last one of its
// table, because the rows have the same order on the wire.
#include "ipc/listing.h"

#include "ipc/base/heap.h"
#include "ipc/rows.h"

static const struct Field ROW_FIELDS[] = {
    U64(ListingRow, offset),
    U64(ListingRow, line),
    TEXT(ListingRow, opcode),
    TEXT(ListingRow, live),
    U64(ListingRow, argument),
    TEXT(ListingRow, words),
    U64(ListingRow, target),
    TEXT(ListingRow, callee),
    U64(ListingRow, hits),
    BOOL(ListingRow, hits_exact),
    F64(ListingRow, cycles),
    BOOL(ListingRow, armed),
    BOOL(ListingRow, specializable),
    U64(ListingRow, samples),
    U64(ListingRow, c_samples),
    BOOL(ListingRow, was_specialized),
    U64(ListingRow, taken),
    U64(ListingRow, line_hits),
    BOOL(ListingRow, line_hits_exact),
    F64(ListingRow, line_hits_per_s),
};
const struct Record LISTING_ROW_RECORD =
    RECORD(ListingRow, "instruction", ROW_FIELDS);

static const struct Field NATIVE_FIELDS[] = {
    U64(ListingNative, line),    U64(ListingNative, ns),
    TEXT(ListingNative, name),   TEXT(ListingNative, file),
    U64(ListingNative, address), TEXT(ListingNative, build),
};
static const struct Record NATIVE_RECORD =
    RECORD(ListingNative, "native", NATIVE_FIELDS);

static const struct Field LISTING_FIELDS[] = {
    U64(Listing, id),
    TEXT(Listing, name),
    TEXT(Listing, file),
    U64(Listing, line),
    BOOL(Listing, precise),
    U64(Listing, instructions),
    BOOL(Listing, words),
    F64(Listing, process_start_s),
    F64(Listing, at_s),
    LIST(Listing, rows, row_count, LISTING_ROW_RECORD),
    LIST(Listing, natives, native_count, NATIVE_RECORD),
    U64(Listing, waits_line),
    F64(Listing, waits_s),
};
const struct Record LISTING_RECORD = RECORD(Listing, "listing", LISTING_FIELDS);

struct Listing *Listing_new(void)
{
    return Record_new(&LISTING_RECORD);
}

void Listing_free(struct Listing *listing)
{
    if (!listing)
        return;
    Arena_release(&listing->arena);
    Heap_free(listing);
}
