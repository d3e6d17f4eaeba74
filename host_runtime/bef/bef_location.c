// SPDX-License-Identifier: Apache-2.0
//
// Locations: step 3 of a load, and their decoding later. A record is decoded only when
// somebody asks, from any number, so decoding checks as it goes; what can't be decoded
// is an unknown location.

#include <inttypes.h>
#include <string.h>

#include "host_runtime/bef/bef_loader.h"

// Texts of locations are cut when they are longer: each member of a fused location may
// name the same long string.
#define MAX_TEXT_SIZE 65536

// A tag, and a word of numbers.
#define SHORT_RECORD_SIZE (1 + sizeof(uint64_t))

// The meaning of the first word of a short record that fits into it: all records with these bits
// are valid, and of one size.
typedef struct shape_s {
  uint64_t mask;  // those of tag and string, and what says where the numbers end
  uint64_t bits;
  size_t size;
} shape_t;

// The head of one record; its children follow it.
typedef struct record_s {
  tfrt_bef_location_tag_t tag;
  const char* string;  // file or name
  uint32_t line;
  uint32_t column;
  uint32_t child_count;
} record_t;

static tfrt_status_t read_string(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                 record_t* record) {
  const tfrt_bef_section_t* strings = &file->sections[TFRT_BEF_SECTION_LOCATION_STRINGS];
  uint32_t offset;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_cursor_read_index(cursor, "location string", strings->size, &offset));
  record->string = (const char*)strings->data + offset;
  return NULL;
}

static tfrt_status_t read_record(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                 record_t* record) {
  const uint8_t* start = cursor->position;
  uint8_t tag;
  *record = (record_t){.string = ""};
  TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_byte(cursor, &tag));
  if (tag > TFRT_BEF_LOCATION_FUSED) {
    return tfrt_bef_cursor_error(cursor, start, "tag %u is none of 0 to 4", tag);
  }
  record->tag = (tfrt_bef_location_tag_t)tag;
  if (tag == TFRT_BEF_LOCATION_FILE) {
    TFRT_RETURN_IF_ERROR(read_string(file, cursor, record));
    TFRT_RETURN_IF_ERROR(tfrt_bef_cursor_read_u32(cursor, "line", &record->line));
    return tfrt_bef_cursor_read_u32(cursor, "column", &record->column);
  }
  if (tag == TFRT_BEF_LOCATION_NAME) {
    record->child_count = 1;
    return read_string(file, cursor, record);
  }
  if (tag == TFRT_BEF_LOCATION_CALL_SITE) record->child_count = 2;
  if (tag != TFRT_BEF_LOCATION_FUSED) return NULL;
  return tfrt_bef_cursor_read_count(cursor, "number of locations", 1, &record->child_count);
}

// Reads a record with all its children.
static tfrt_status_t check_record(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                                  uint32_t depth) {
  if (depth > TFRT_BEF_MAX_LOCATION_DEPTH) {
    return tfrt_bef_cursor_error(cursor, cursor->position, "nested deeper than %d",
                                 TFRT_BEF_MAX_LOCATION_DEPTH);
  }
  record_t record;
  TFRT_RETURN_IF_ERROR(read_record(file, cursor, &record));
  for (uint32_t i = 0; i < record.child_count; ++i) {
    TFRT_RETURN_IF_ERROR(check_record(file, cursor, depth + 1));
  }
  return NULL;
}

// The size of the record at |at|, behind which SHORT_RECORD_SIZE bytes can be read, if it is that
// of a file, its string's number has one byte and line and column have at most 4 each, as most;
// else 0. Nothing but the string can be wrong with such a record.
static size_t short_record_size(const uint8_t* at, size_t strings_size) {
  uint64_t numbers;
  memcpy(&numbers, at + 1, sizeof(numbers));
  // The last bytes of the three numbers, as bits: each one is the lowest of what is left.
  uint64_t string_ends = ~numbers & TFRT_BEF_CURSOR_HIGH_BITS;
  uint64_t line_ends = string_ends & (string_ends - 1);
  uint64_t column_ends = line_ends & (line_ends - 1);
  if (at[0] != TFRT_BEF_LOCATION_FILE || at[1] >= 0x80 || at[1] >= strings_size) return 0;
  if (column_ends == 0) return 0;
  unsigned line_end = (unsigned)__builtin_ctzll(line_ends) / 8;
  unsigned column_end = (unsigned)__builtin_ctzll(column_ends) / 8;
  return line_end <= 4 && column_end - line_end <= 4 ? 2 + column_end : 0;
}

// The shape of a short record of |size| bytes whose first word is |word|; one that no record has if
// it doesn't fit.
static shape_t shape_of(uint64_t word, size_t size) {
  if (size == 0 || size > sizeof(word)) return (shape_t){.bits = 1};
  const uint64_t mask =
      (TFRT_BEF_CURSOR_HIGH_BITS | 0xFFFF) & UINT64_MAX >> 8 * (sizeof(word) - size);
  return (shape_t){.mask = mask, .bits = word & mask, .size = size};
}

// As short_record_size(), which isn't asked if the record has |shape|, that of the one before, as
// most have.
static inline size_t size_by_shape(const uint8_t* at, size_t strings_size, shape_t* shape) {
  uint64_t word;
  memcpy(&word, at, sizeof(word));
  if (TFRT_LIKELY((word & shape->mask) == shape->bits)) return shape->size;
  size_t size = short_record_size(at, strings_size);
  *shape = shape_of(word, size);
  return size;
}

tfrt_status_t tfrt_bef_load_locations(tfrt_bef_load_t* load) {
  tfrt_bef_cursor_t cursor = tfrt_bef_section_cursor(load->file, TFRT_BEF_SECTION_LOCATIONS);
  const uint8_t* section = cursor.position;
  void* memory;
  TFRT_RETURN_IF_ERROR(
      tfrt_bef_load_allocate(&load->scratch, tfrt_bef_cursor_left(&cursor) / 8 + 1, 1, &memory));
  uint8_t* const starts = load->location_starts = memory;
  const size_t strings_size = load->file->sections[TFRT_BEF_SECTION_LOCATION_STRINGS].size;
  shape_t shape = shape_of(0, 0);
  while (cursor.position != cursor.end) {
    size_t offset = (size_t)(cursor.position - section);
    starts[offset / 8] |= (uint8_t)(1u << offset % 8);
    const bool may_be_short = tfrt_bef_cursor_left(&cursor) >= SHORT_RECORD_SIZE;
    size_t size = may_be_short ? size_by_shape(cursor.position, strings_size, &shape) : 0;
    cursor.position += size;
    if (size == 0) TFRT_RETURN_IF_ERROR(check_record(load->file, &cursor, 0));
  }
  return NULL;
}

// --- Decoding -----------------------------------------------------------------

// Makes |*out_cursor| one at the byte |location|, and returns true if there is one.
static bool seek_location(const tfrt_bef_file_t* file, uint32_t location,
                          tfrt_bef_cursor_t* out_cursor) {
  *out_cursor = tfrt_bef_section_cursor(file, TFRT_BEF_SECTION_LOCATIONS);
  if (location >= tfrt_bef_cursor_left(out_cursor)) return false;
  out_cursor->position += location;
  return true;
}

// Makes |*out_cursor| one at the record of |location|, and returns true if there is a whole
// one.
static bool open_location(const tfrt_bef_file_t* file, uint32_t location,
                          tfrt_bef_cursor_t* out_cursor) {
  if (!seek_location(file, location, out_cursor)) return false;
  tfrt_bef_cursor_t probe = *out_cursor;
  tfrt_status_t status = check_record(file, &probe, 0);
  if (!status) return true;
  tfrt_status_release(status);
  return false;
}

// Reads a record that open_location() has seen.
static record_t next_record(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor) {
  record_t record;
  tfrt_status_release(read_record(file, cursor, &record));
  return record;
}

// Looks for a file location in the next record, which it reads whole either way.
static bool find_source(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                        tfrt_bef_source_location_t* out_location) {
  record_t record = next_record(file, cursor);
  bool found = record.tag == TFRT_BEF_LOCATION_FILE;
  if (found) {
    *out_location = (tfrt_bef_source_location_t){record.string, record.line, record.column};
  }
  for (uint32_t i = 0; i < record.child_count; ++i) {
    tfrt_bef_source_location_t other;
    found = find_source(file, cursor, found ? &other : out_location) || found;
  }
  return found;
}

bool tfrt_bef_file_source_location(const tfrt_bef_file_t* file, uint32_t location,
                                   tfrt_bef_source_location_t* out_location) {
  *out_location = (tfrt_bef_source_location_t){"", 0, 0};
  tfrt_bef_cursor_t cursor;
  if (!seek_location(file, location, &cursor)) return false;
  if (*cursor.position != TFRT_BEF_LOCATION_FILE) {
    return open_location(file, location, &cursor) && find_source(file, &cursor, out_location);
  }
  // Most are a file's own, which has no children: it is whole if it can be read.
  record_t record;
  tfrt_status_t status = read_record(file, &cursor, &record);
  bool is_whole = tfrt_status_is_ok(status);
  if (is_whole) {
    *out_location = (tfrt_bef_source_location_t){record.string, record.line, record.column};
  }
  tfrt_status_release(status);
  return is_whole;
}

bool tfrt_bef_file_location_is_plain(const tfrt_bef_file_t* file, uint32_t location) {
  tfrt_bef_cursor_t cursor;
  return open_location(file, location, &cursor) &&
         next_record(file, &cursor).tag == TFRT_BEF_LOCATION_FILE;
}

static void append_text(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                        tfrt_string_builder_t* builder, size_t limit) {
  record_t record = next_record(file, cursor);
  if (record.tag == TFRT_BEF_LOCATION_UNKNOWN) {
    tfrt_string_builder_append_text(builder, "(unknown)");
  } else if (record.tag == TFRT_BEF_LOCATION_FILE) {
    tfrt_string_builder_append_format(builder, "%s;%" PRIu32 ";%" PRIu32, record.string,
                                      record.line, record.column);
  }
  for (uint32_t i = 0; i < record.child_count && builder->size < limit; ++i) {
    if (i > 0) {
      bool call_site = record.tag == TFRT_BEF_LOCATION_CALL_SITE;
      tfrt_string_builder_append_text(builder, call_site ? "<-" : ",");
    }
    append_text(file, cursor, builder, limit);
  }
  if (record.tag == TFRT_BEF_LOCATION_NAME) {
    tfrt_string_builder_append_format(builder, "(%s)", record.string);
  }
}

void tfrt_bef_file_location_append_text(const tfrt_bef_file_t* file, uint32_t location,
                                        tfrt_string_builder_t* builder) {
  tfrt_bef_cursor_t cursor;
  if (open_location(file, location, &cursor)) {
    append_text(file, &cursor, builder, builder->size + MAX_TEXT_SIZE);
  } else {
    tfrt_string_builder_append_text(builder, "(unknown)");
  }
}

// Appends |string| in quotes, with what is not printable in it as two hexadecimal digits.
static void append_quoted(tfrt_string_builder_t* builder, const char* string) {
  tfrt_string_builder_append_char(builder, '"');
  for (const char* c = string; *c != '\0'; ++c) {
    if (*c == '\\') {
      tfrt_string_builder_append_text(builder, "\\\\");
    } else if (*c >= ' ' && *c <= '~' && *c != '"') {
      tfrt_string_builder_append_char(builder, *c);
    } else {
      tfrt_string_builder_append_format(builder, "\\%02X", (unsigned char)*c);
    }
  }
  tfrt_string_builder_append_char(builder, '"');
}

static void append_mlir(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                        tfrt_string_builder_t* builder);

// A name's child in parentheses, unless it says nothing.
static void append_name_child(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                              tfrt_string_builder_t* builder) {
  tfrt_bef_cursor_t probe = *cursor;
  if (next_record(file, &probe).tag == TFRT_BEF_LOCATION_UNKNOWN) {
    *cursor = probe;
    return;
  }
  tfrt_string_builder_append_char(builder, '(');
  append_mlir(file, cursor, builder);
  tfrt_string_builder_append_char(builder, ')');
}

static void append_mlir(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                        tfrt_string_builder_t* builder) {
  record_t record = next_record(file, cursor);
  switch (record.tag) {
    case TFRT_BEF_LOCATION_FILE:
      append_quoted(builder, record.string);
      tfrt_string_builder_append_format(builder, ":%" PRIu32 ":%" PRIu32, record.line,
                                        record.column);
      return;
    case TFRT_BEF_LOCATION_NAME:
      append_quoted(builder, record.string);
      append_name_child(file, cursor, builder);
      return;
    case TFRT_BEF_LOCATION_CALL_SITE:
      tfrt_string_builder_append_text(builder, "callsite(");
      append_mlir(file, cursor, builder);
      tfrt_string_builder_append_text(builder, " at ");
      append_mlir(file, cursor, builder);
      tfrt_string_builder_append_char(builder, ')');
      return;
    case TFRT_BEF_LOCATION_FUSED:
      tfrt_string_builder_append_text(builder, "fused[");
      for (uint32_t i = 0; i < record.child_count; ++i) {
        if (i > 0) tfrt_string_builder_append_text(builder, ", ");
        append_mlir(file, cursor, builder);
      }
      tfrt_string_builder_append_char(builder, ']');
      return;
    default:
      tfrt_string_builder_append_text(builder, "unknown");
      return;
  }
}

bool tfrt_bef_file_location_append_mlir(const tfrt_bef_file_t* file, uint32_t location,
                                        tfrt_string_builder_t* builder) {
  tfrt_bef_cursor_t cursor;
  if (!open_location(file, location, &cursor)) return false;
  tfrt_string_builder_append_text(builder, "loc(");
  append_mlir(file, &cursor, builder);
  tfrt_string_builder_append_char(builder, ')');
  return true;
}

// Appends the name that the next record gives, and reads the record whole.
static bool append_debug_name(const tfrt_bef_file_t* file, tfrt_bef_cursor_t* cursor,
                              tfrt_string_builder_t* builder) {
  tfrt_bef_cursor_t members = *cursor;
  tfrt_status_release(check_record(file, cursor, 0));
  record_t record = next_record(file, &members);
  if (record.tag == TFRT_BEF_LOCATION_NAME) {
    tfrt_string_builder_append_text(builder, record.string);
    return true;
  }
  uint32_t asked = record.tag == TFRT_BEF_LOCATION_CALL_SITE ? 1 : record.child_count;
  size_t limit = builder->size + MAX_TEXT_SIZE;
  bool found = false;
  for (uint32_t i = 0; i < asked && builder->size < limit; ++i) {
    tfrt_bef_cursor_t member = members;
    tfrt_status_release(check_record(file, &members, 0));
    record_t child = next_record(file, &member);
    if (child.tag != TFRT_BEF_LOCATION_NAME) continue;
    tfrt_string_builder_append_text(builder, child.string);
    found = true;
  }
  return found;
}

bool tfrt_bef_file_location_append_debug_name(const tfrt_bef_file_t* file, uint32_t location,
                                              tfrt_string_builder_t* builder) {
  tfrt_bef_cursor_t cursor;
  return open_location(file, location, &cursor) && append_debug_name(file, &cursor, builder);
}
