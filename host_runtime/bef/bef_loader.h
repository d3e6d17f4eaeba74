// SPDX-License-Identifier: Apache-2.0
//
// How a file is verified and decoded, section by section: what bef_file.c and the loaders
// share. Private to this room.
//
// Life of a load; each step relies on those before it and on nothing after it:
//  1. sections    framing: where each section lies               bef_file.c
//  2. tables      strings, kernel names, types, function index    bef_tables.c
//  3. locations   every record, in order; which offsets are some  bef_location.c
//  4. bodies      functions in index order, without overlap       bef_body.c, bef_uses.c
//  5. extras      the optional sections, and ours                 bef_extras.c
//
// Thread rule: thread-compatible (one thread loads). Failure rule: that of bef_file.h.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_LOADER_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_LOADER_H_

#include "host_runtime/base/arena.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/bef/bef_cursor.h"
#include "host_runtime/bef/bef_file.h"

// Sections that are kept: TFRT's by id, then our two.
enum {
  TFRT_BEF_SLOT_CALL_OPTIONS = TFRT_BEF_SECTION_REGISTER_TYPES + 1,
  TFRT_BEF_SLOT_ARGUMENT_NAMES,
  TFRT_BEF_SLOT_COUNT,
};

typedef struct tfrt_bef_section_s {
  const uint8_t* data;  // NULL: the file doesn't have it
  size_t size;
} tfrt_bef_section_t;

typedef struct tfrt_bef_attribute_entry_s {
  uint32_t offset;
  tfrt_bef_attribute_type_t type;
} tfrt_bef_attribute_entry_t;

struct tfrt_bef_file_s {
  tfrt_ref_count_t ref_count;
  tfrt_allocator_t allocator;
  tfrt_file_contents_t image;  // owned; |data| are 8-byte aligned
  tfrt_arena_t arena;          // everything below that is not in |image|
  tfrt_bef_section_t sections[TFRT_BEF_SLOT_COUNT];
  const char** kernel_names;
  uint32_t kernel_name_count;
  const char** type_names;
  uint32_t type_count;
  tfrt_bef_function_t* functions;
  uint32_t function_count;
  tfrt_bef_attribute_entry_t* attribute_types;  // by offset
  uint32_t attribute_type_count;
};

// State that only the load needs; freed after it.
typedef struct tfrt_bef_load_s {
  tfrt_bef_file_t* file;
  // Per function: the offset of its body in the Functions section.
  uint32_t* body_offsets;
  // A bit per byte of the Locations section: a record begins here.
  uint8_t* location_starts;
  tfrt_arena_t scratch;
} tfrt_bef_load_t;

// The name of the section in |slot|, for messages. Thread-safe.
const char* tfrt_bef_section_name(uint32_t slot);

// A cursor over the section in |slot|, which may be missing: then it is empty.
tfrt_bef_cursor_t tfrt_bef_section_cursor(const tfrt_bef_file_t* file, uint32_t slot);

// Steps 2 to 5. Each returns INVALID_ARGUMENT or RESOURCE_EXHAUSTED; what it has made so
// far belongs to the file's arena.
tfrt_status_t tfrt_bef_load_tables(tfrt_bef_load_t* load) TFRT_MUST_USE;
tfrt_status_t tfrt_bef_load_locations(tfrt_bef_load_t* load) TFRT_MUST_USE;
tfrt_status_t tfrt_bef_load_bodies(tfrt_bef_load_t* load) TFRT_MUST_USE;
tfrt_status_t tfrt_bef_load_extras(tfrt_bef_load_t* load) TFRT_MUST_USE;

// True if |location| is one that a record of the file begins at, or one beyond the section,
// which stands for a place that could not be encoded. After step 3.
static inline bool tfrt_bef_load_location_is_valid(const tfrt_bef_load_t* load, uint32_t location) {
  if (location >= load->file->sections[TFRT_BEF_SECTION_LOCATIONS].size) return true;
  return (load->location_starts[location / 8] >> location % 8 & 1) != 0;
}

// Reads the offset of a string in the Strings section from |cursor|. After the strings.
tfrt_status_t tfrt_bef_load_read_string(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                        const char* what, const char** out_string) TFRT_MUST_USE;

// Reads a type index from |cursor|, and sets |*out_name| to the name of the type. After the types.
tfrt_status_t tfrt_bef_load_read_type(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                      const char** out_name) TFRT_MUST_USE;

// Reads |count| type indices from |cursor| into a new array of type names. After the types.
tfrt_status_t tfrt_bef_load_read_types(tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                       uint32_t count, const char* const** out_names) TFRT_MUST_USE;

// Checks the uses of all registers of |function|, whose kernels are all right but for that: use
// counts against actual uses, and lists of users, in any order, against lists of arguments. For
// messages, |cursor| is behind the body.
tfrt_status_t tfrt_bef_load_check_uses(const tfrt_bef_load_t* load,
                                       const tfrt_bef_function_t* function,
                                       const tfrt_bef_cursor_t* cursor) TFRT_MUST_USE;

// Sets |*out_array| to |count| zeroed elements of |size| bytes from |arena|; NULL, which is
// no error, if |count| is 0.
tfrt_status_t tfrt_bef_load_allocate(tfrt_arena_t* arena, size_t count, size_t size,
                                     void** out_array) TFRT_MUST_USE;

// The same with undefined bytes.
tfrt_status_t tfrt_bef_load_allocate_room(tfrt_arena_t* arena, size_t count, size_t size,
                                          void** out_array) TFRT_MUST_USE;

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_LOADER_H_
