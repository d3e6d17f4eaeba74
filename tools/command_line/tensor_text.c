// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/tensor_text.h"

#include <string.h>

#include "host_runtime/base/string_builder.h"
#include "tools/command_line/number_value.h"

// The longest text of one number.
#define TFRT_TENSOR_TEXT_NUMBER_SIZE 64

// Where in a text the reader stands.
typedef struct tfrt_tensor_text_s {
  const char* text;
  const char* next;
  const char* end;  // of the numbers: where the type begins, or the text ends
  // The findings so far.
  uint32_t depth;                       // brackets that are open
  uint32_t rank;                        // 0: no number was read yet
  int64_t counts[TFRT_SHAPE_MAX_RANK];  // items in the open brackets, outermost first
  int64_t dims[TFRT_SHAPE_MAX_RANK];    // of those that were closed; -1: none was
  bool is_whole;                        // all numbers are whole ones
  const tfrt_number_type_t* type;       // NULL: the numbers are only looked at
  tfrt_string_builder_t* elements;      // where they go
} tfrt_tensor_text_t;

bool tfrt_tensor_text_matches(const char* text) {
  if (text[0] == '[') return true;
  const char* colon = strrchr(text, ':');
  if (!colon || !tfrt_number_type_find(colon + 1)) return false;
  return strspn(text, "+-.0123456789abcdefnxtruls") == (size_t)(colon - text);
}

static tfrt_status_t tensor_text_refuse(const tfrt_tensor_text_t* reader, const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s', sign %zu: %s", reader->text,
                            (size_t)(reader->next - reader->text) + 1, what);
}

static void tensor_text_skip_space(tfrt_tensor_text_t* reader) {
  while (reader->next < reader->end && *reader->next == ' ') ++reader->next;
}

static tfrt_status_t tensor_text_open(tfrt_tensor_text_t* reader) {
  if (reader->depth == (reader->rank ? reader->rank : TFRT_SHAPE_MAX_RANK)) {
    return tensor_text_refuse(reader, "a bracket too many");
  }
  reader->counts[reader->depth++] = 0;
  ++reader->next;
  return NULL;
}

static tfrt_status_t tensor_text_close(tfrt_tensor_text_t* reader) {
  uint32_t axis = reader->depth - 1;
  // The innermost brackets say how many axes there are, also if they are empty.
  if (reader->rank == 0) reader->rank = reader->depth;
  if (reader->dims[axis] >= 0 && reader->dims[axis] != reader->counts[axis]) {
    return tensor_text_refuse(reader, "this list is not as long as the one before");
  }
  reader->dims[axis] = reader->counts[axis];
  reader->depth = axis;
  if (axis > 0) ++reader->counts[axis - 1];
  ++reader->next;
  return NULL;
}

static tfrt_status_t tensor_text_read_number(tfrt_tensor_text_t* reader) {
  size_t size = 0;
  while (reader->next + size < reader->end && !strchr("[], ", reader->next[size])) ++size;
  if (reader->rank == 0) reader->rank = reader->depth;
  if (size == 0 || size >= TFRT_TENSOR_TEXT_NUMBER_SIZE || reader->depth != reader->rank) {
    return tensor_text_refuse(reader, "a number can't stand here");
  }
  char number[TFRT_TENSOR_TEXT_NUMBER_SIZE];
  memcpy(number, reader->next, size);
  number[size] = '\0';
  if (strspn(number, "+-0123456789") != size) reader->is_whole = false;
  reader->next += size;
  if (reader->depth > 0) ++reader->counts[reader->depth - 1];
  if (!reader->type) return NULL;
  unsigned char bytes[TFRT_NUMBER_VALUE_SIZE];
  TFRT_RETURN_IF_ERROR(tfrt_number_value_parse(reader->type, number, bytes));
  tfrt_string_builder_append(reader->elements, bytes, reader->type->size);
  return NULL;
}

// Reads one number, or one list and what is in it, and a comma behind an item of a list.
static tfrt_status_t tensor_text_read(tfrt_tensor_text_t* reader) {
  reader->next = reader->text;
  for (uint32_t i = 0; i < TFRT_SHAPE_MAX_RANK; ++i) reader->dims[i] = -1;
  do {
    tensor_text_skip_space(reader);
    if (reader->next < reader->end && *reader->next == '[') {
      TFRT_RETURN_IF_ERROR(tensor_text_open(reader));
      tensor_text_skip_space(reader);
      if (reader->next == reader->end || *reader->next != ']') continue;
    } else {
      TFRT_RETURN_IF_ERROR(tensor_text_read_number(reader));
    }
    for (tensor_text_skip_space(reader);
         reader->depth > 0 && reader->next < reader->end && *reader->next == ']';
         tensor_text_skip_space(reader)) {
      TFRT_RETURN_IF_ERROR(tensor_text_close(reader));
    }
    if (reader->depth == 0) break;
    if (reader->next == reader->end || *reader->next != ',') {
      return tensor_text_refuse(reader, "a comma or a closing bracket is missing");
    }
    ++reader->next;
  } while (true);
  if (reader->next == reader->end) return NULL;
  return tensor_text_refuse(reader, "there is more behind the tensor");
}

// Reads the numbers as the type of |reader|, which was chosen.
static tfrt_status_t tensor_text_read_elements(tfrt_tensor_text_t* reader,
                                               tfrt_dense_host_tensor_t* out_tensor) {
  tfrt_shape_t shape;
  tfrt_string_builder_t elements;
  tfrt_string_builder_initialize(&elements, tfrt_allocator_system());
  reader->elements = &elements;
  reader->rank = 0;
  tfrt_status_t status = tensor_text_read(reader);
  if (!status) status = tfrt_string_builder_status(&elements);
  if (!status) status = tfrt_shape_make(reader->dims, reader->rank, &shape);
  if (!status) {
    status = tfrt_dense_host_tensor_initialize(reader->type->dtype, &shape, tfrt_allocator_system(),
                                               out_tensor);
  }
  if (!status && elements.size > 0) {
    memcpy(tfrt_dense_host_tensor_data(out_tensor), tfrt_string_builder_text(&elements),
           elements.size);
  }
  tfrt_string_builder_deinitialize(&elements);
  return status;
}

tfrt_status_t tfrt_tensor_text_parse(const char* text, tfrt_dense_host_tensor_t* out_tensor) {
  const char* colon = strrchr(text, ':');
  tfrt_tensor_text_t reader = {
      .text = text, .end = colon ? colon : text + strlen(text), .is_whole = true};
  TFRT_RETURN_IF_ERROR(tensor_text_read(&reader));
  const char* name = colon ? colon + 1 : reader.is_whole ? "i64" : "f32";
  reader.type = tfrt_number_type_find(name);
  if (!reader.type) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s': there are tensors of i1, i8, ... i64, ui8, ... ui64, f32 and "
                              "f64, but none of '%s'",
                              text, name);
  }
  return tensor_text_read_elements(&reader, out_tensor);
}
