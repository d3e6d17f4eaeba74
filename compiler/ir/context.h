// SPDX-License-Identifier: Apache-2.0
//
// The memory of one program's IR: an arena, and the tables that keep one copy of
// each string, type and attribute, so that equality of these is equality of
// pointers and a switch over op names compares words.
//
// Life:
//  1. Allocated, with an allocator.
//  2. Everything of the IR is made in it; nothing of it is given back singly. Ops, values and
//     locations that are made while a piece is open are given back when the piece is closed.
//  3. Freed; the whole IR is gone with it.
//
// Thread rule: thread-compatible (caller synchronises), also for reading while
// somebody adds. Failure rule: whatever makes something returns NULL when memory is
// out; then tfrt_ir_context_status() says so, and stays so.
#ifndef TFRT_COMPILER_IR_CONTEXT_H_
#define TFRT_COMPILER_IR_CONTEXT_H_

#include <stddef.h>

#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

typedef enum tfrt_ir_table_e {
  TFRT_IR_TABLE_STRINGS = 0,
  TFRT_IR_TABLE_TYPES,           // by their text
  TFRT_IR_TABLE_FUNCTION_TYPES,  // by their parts
  TFRT_IR_TABLE_ATTRIBUTES,
  TFRT_IR_TABLE_RESOURCES,  // and their owners
  TFRT_IR_TABLE_COUNT,
} tfrt_ir_table_t;

typedef struct tfrt_ir_context_s {
  tfrt_allocator_t allocator;
  tfrt_arena_t arena;     // of what lives as long as the context
  tfrt_arena_t piece;     // of what lives as long as the piece that is open
  tfrt_arena_t* current;  // one of these: where ops go
  tfrt_hash_table_t tables[TFRT_IR_TABLE_COUNT];
  struct tfrt_ir_resource_owner_s* resource_owners;  // in the order of the text (resource.h)
  struct tfrt_ir_resource_owner_s* last_resource_owner;
  bool failed;
} tfrt_ir_context_t;

// An interned string: a context has one copy of it, so compare pointers. NUL-terminated, and |size|
// bytes long; the bytes may hold NUL as well.
typedef struct tfrt_ir_string_s {
  // The cached result of a lookup of this name (tfrt_ir_string_set_meaning()).
  void* meaning;
  size_t size;
  char data[];
} tfrt_ir_string_t;

// Sets |*out_context| to a new, empty context. RESOURCE_EXHAUSTED when memory is
// out. Thread-safe.
tfrt_status_t tfrt_ir_context_allocate(tfrt_allocator_t allocator, tfrt_ir_context_t** out_context)
    TFRT_MUST_USE;

// Gives back |context| and all that was made in it; NULL is allowed.
// Thread-compatible (caller synchronises).
void tfrt_ir_context_free(tfrt_ir_context_t* context);

// The allocator of |context|. Thread-safe.
tfrt_allocator_t tfrt_ir_context_allocator(const tfrt_ir_context_t* context);

// OK, or RESOURCE_EXHAUSTED (+1) if anything could not be made.
// Thread-compatible (caller synchronises).
tfrt_status_t tfrt_ir_context_status(const tfrt_ir_context_t* context) TFRT_MUST_USE;

// Returns |count| elements of |element_size| zero bytes each, aligned for pointers and 64-bit
// numbers, that live as long as |context|; never NULL for a count of 0, NULL when
// memory is out. Thread-compatible (caller synchronises).
void* tfrt_ir_context_allocate_array(tfrt_ir_context_t* context, size_t count, size_t element_size);

// Returns |size| bytes with that alignment that the caller fills in at once, or NULL when memory
// is out. Thread-compatible (caller synchronises).
TFRT_ALWAYS_INLINE void* tfrt_ir_context_allocate_room(tfrt_ir_context_t* context, size_t size) {
  // Nothing of the IR wants more than a pointer does.
  void* room = tfrt_arena_take(context->current, size, sizeof(void*));
  if (!room) context->failed = true;
  return room;
}

// The same for what lives as long as |context|, also while a piece is open. Thread-compatible
// (caller synchronises).
TFRT_ALWAYS_INLINE void* tfrt_ir_context_allocate_kept(tfrt_ir_context_t* context, size_t size) {
  void* room = tfrt_arena_take(&context->arena, size, sizeof(void*));
  if (!room) context->failed = true;
  return room;
}

// Opens a piece: ops, values and locations that are made from now on live until it is closed. There
// is one at a time. Thread-compatible (caller synchronises).
void tfrt_ir_context_open_piece(tfrt_ir_context_t* context);

// Lets what is made from now on live as long as |context| again; the piece, if one is open, can
// still be read. Thread-compatible (caller synchronises).
void tfrt_ir_context_leave_piece(tfrt_ir_context_t* context);

// Leaves the piece and gives back what was made in it; nothing happens if none is open.
// Thread-compatible (caller synchronises).
void tfrt_ir_context_close_piece(tfrt_ir_context_t* context);

// True while what is made goes to a piece. Thread-safe.
static inline bool tfrt_ir_context_is_in_piece(const tfrt_ir_context_t* context) {
  return context->current == &context->piece;
}

// The bytes that were made in the piece. Thread-safe.
static inline size_t tfrt_ir_context_piece_size(const tfrt_ir_context_t* context) {
  return context->piece.used_size;
}

// Returns the one copy of |text| in |context|, or NULL.
// Thread-compatible (caller synchronises).
const tfrt_ir_string_t* tfrt_ir_string_get(tfrt_ir_context_t* context, tfrt_string_view_t text);

// The same for a caller that computed the |hash| of |text| while it read the text.
// Thread-compatible (caller synchronises).
const tfrt_ir_string_t* tfrt_ir_string_get_hashed(tfrt_ir_context_t* context,
                                                  tfrt_string_view_t text, uint64_t hash);

// The hash of a text whose last byte is |c|, when |hash| is that of the text before it (0: there
// is none). Names that differ in a number at their end, as most of a program do, get hashes next
// to each other: what is used together lies together in the table, too. The factors are odd, so
// that nothing of what comes first is lost, and a number is spread before something follows it, so
// that it takes more than two letters to make up for another number. Thread-safe.
static inline uint64_t tfrt_ir_string_hash_add(uint64_t hash, char c) {
  const uint64_t factor = UINT64_C(0xd6e8feb86659fd93);
  uint64_t digit = (uint64_t)(unsigned char)c - '0';
  if (digit <= 9) return hash * 11 + digit;
  hash *= factor;
  return ((hash ^ hash >> 32) + (unsigned char)c) * factor;
}

// The same for NUL-terminated |text|. Thread-compatible (caller synchronises).
const tfrt_ir_string_t* tfrt_ir_string_of(tfrt_ir_context_t* context, const char* text);

// The bytes of |string|, which may be NULL (then empty). Thread-safe.
static inline tfrt_string_view_t tfrt_ir_string_view(const tfrt_ir_string_t* string) {
  if (!string) return tfrt_string_view_make("", 0);
  return tfrt_string_view_make(string->data, string->size);
}

// Stores |meaning| in the string, where it is found without a table. It stays until another meaning
// is set; the caller knows which meanings are out of date. One user at a time: the parser.
// Thread-compatible (caller synchronises).
static inline void tfrt_ir_string_set_meaning(const tfrt_ir_string_t* string, void* meaning) {
  ((tfrt_ir_string_t*)string)->meaning = meaning;
}

// Lets no string of |context| have a meaning: between two who set them, such as the parser and an
// importer. Thread-compatible (caller synchronises).
void tfrt_ir_context_forget_meanings(tfrt_ir_context_t* context);

// Makes room for the IR of a text of |size| bytes, if memory allows, instead of growing bit by
// bit. Thread-compatible (caller synchronises).
void tfrt_ir_context_reserve(tfrt_ir_context_t* context, size_t size);

// Returns true if |string| (may be NULL: then false) is the NUL-terminated |text|.
// Thread-safe.
TFRT_ALWAYS_INLINE bool tfrt_ir_string_is(const tfrt_ir_string_t* string, const char* text) {
  return string && tfrt_string_view_equal(tfrt_ir_string_view(string), tfrt_string_view_of(text));
}

// --- For type.c and attribute.c ---------------------------------------------

// Returns the slot of the |table| of |context| for the key of |key_size| bytes at |key|. The slot
// of a new key holds NULL, and the caller sets it at once to an object. |*out_key| is then the
// table's copy of the key, aligned for pointers and followed by a NUL byte. Returns NULL when
// memory is out. Thread-compatible (caller synchronises).
const void** tfrt_ir_context_intern(tfrt_ir_context_t* context, tfrt_ir_table_t table,
                                    const void* key, size_t key_size, const void** out_key);

// The object for that key in the |table| of |context|, or NULL if there is none yet.
// Thread-compatible (caller synchronises).
const void* tfrt_ir_context_find(const tfrt_ir_context_t* context, tfrt_ir_table_t table,
                                 const void* key, size_t key_size);

#endif  // TFRT_COMPILER_IR_CONTEXT_H_
