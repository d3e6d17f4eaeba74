// SPDX-License-Identifier: Apache-2.0
//
// Messages that protobuf-c packs and unpacks, with the code that protoc-c generates from proto/. So
// the contract is written once, in proto/; the rows say where a field lies in our struct, and its
// limits.
//
// Some messages are walked by their rows alone instead (walks.h): Invoke,
// Result, and the batch around the frames, since they lose more than 15 % of the call rate by
// protobuf-c; Resolve and what a bulk channel carries, because that walk leaves payloads where they
// are, in the bytes that came, and refuses a list that is too long before it takes memory. Measured
// in turn with everything else by rows, release build, two processors that others loaded, 4 and 5
// rounds; the time of a call relative to that, by the medians and by the least of each round:
//
//              call of many          call of 64 bytes      other
//              3.4 to 3.6 us         28 to 40 us
//   Invoke     1.59 / 1.42           1.39 / 1.11
//   Result     1.45 / 1.40           1.14 / 1.04
//   Batch      1.23 / 1.13           1.36 / 1.20
//   Resolve                                                payload of a MiB: 1.09 / 0.98
//   Release    1.13 / 1.05           1.01 / 0.88           so protobuf-c has it
//   Push                                                   chain over 4: 1.10 / 1.11; likewise
#include "distributed/wire/codec.h"

#include <protobuf-c/protobuf-c.h>
#include <string.h>

// Rows and generated fields are both by rising number, and as many: a test compares them, so that
// the same index means the same field.

// --- Memory --------------------------------------------------------------------

typedef struct budget_s {
  tfrt_arena_t* arena;
  size_t left;
  bool is_short;  // something was not given
} budget_t;

static void* take(void* self, size_t size) {
  budget_t* budget = self;
  void* piece = size <= budget->left ? tfrt_arena_allocate(budget->arena, size) : NULL;
  if (piece) {
    budget->left -= size;
  } else {
    budget->is_short = true;
  }
  return piece;
}

// The pieces of an arena end with it.
static void give_back(void* self, void* piece) {
  (void)self;
  (void)piece;
}

static tfrt_status_t out_of_memory(const tfrt_wire_message_t* message) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "%s: no memory left to decode it",
                            message->name);
}

// --- Fields of generated structs -------------------------------------------------

typedef ProtobufCFieldDescriptor generated_field_t;

static void* member_of(void* generated, const generated_field_t* field) {
  return (char*)generated + field->offset;
}

// The number of elements of a repeated field, or which field of a oneof is set.
static void* quantifier_of(void* generated, const generated_field_t* field) {
  return (char*)generated + field->quantifier_offset;
}

// The size of an element of |field| in an array.
static size_t element_size(const generated_field_t* field) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
      return sizeof(void*);
    default:
      return sizeof(ProtobufCBinaryData);
  }
}

// --- Generated to ours -----------------------------------------------------------

static tfrt_status_t read_fields(const ProtobufCMessageDescriptor* descriptor,
                                 const tfrt_wire_message_t* message, void* generated,
                                 budget_t* budget, void* object);

static uint64_t read_number(const generated_field_t* field, const void* member) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
      return *(const protobuf_c_boolean*)member != 0;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
      return *(const uint64_t*)member;
    default:
      // An enumeration is an int, of the same size.
      return *(const uint32_t*)member;
  }
}

static void store_number(const tfrt_wire_field_t* row, uint64_t number, void* value) {
  switch (row->type) {
    case TFRT_WIRE_FIELD_BOOL:
      *(bool*)value = number != 0;
      break;
    case TFRT_WIRE_FIELD_UINT64:
    case TFRT_WIRE_FIELD_FIXED64:
      *(uint64_t*)value = number;
      break;
    case TFRT_WIRE_FIELD_ENUM:
      *(uint32_t*)value = number == 0 || number > row->limit ? row->fallback : (uint32_t)number;
      break;
    default:
      *(uint32_t*)value = (uint32_t)number;
      break;
  }
}

static tfrt_string_view_t read_text(const generated_field_t* field, const void* member) {
  if (field->type == PROTOBUF_C_TYPE_STRING) {
    return tfrt_string_view_of(*(const char* const*)member);
  }
  const ProtobufCBinaryData* bytes = member;
  return tfrt_string_view_make((const char*)bytes->data, bytes->len);
}

// Reads a message within a message; its size is limited, where it is, without what is unknown.
static tfrt_status_t read_message(const tfrt_wire_message_t* message, const tfrt_wire_field_t* row,
                                  const generated_field_t* field, void* generated, budget_t* budget,
                                  void* object) {
  tfrt_status_t status = read_fields(field->descriptor, row->message, generated, budget, object);
  const size_t size =
      !status && row->message->max_size != 0 ? tfrt_wire_encoded_size(row->message, object) : 0;
  if (size > row->message->max_size) {
    status =
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: %zu bytes, at most %zu are allowed",
                           row->message->name, size, row->message->max_size);
  }
  return status ? tfrt_status_take_annotate(status, "%s.%s", message->name, row->name) : NULL;
}

// Reads the element at |member| into |element| of our struct.
static tfrt_status_t read_element(const tfrt_wire_message_t* message, const tfrt_wire_field_t* row,
                                  const generated_field_t* field, const void* member,
                                  budget_t* budget, void* element) {
  if (row->type == TFRT_WIRE_FIELD_MESSAGE) {
    return read_message(message, row, field, *(void* const*)member, budget, element);
  }
  *(tfrt_string_view_t*)element = read_text(field, member);
  return NULL;
}

// Sets a member that is a pointer, to whatever struct, by its bytes (codec.h).
static void store_pointer(void* member, const void* pointer) {
  memcpy(member, &pointer, sizeof(pointer));
}

static size_t size_of_ours(const tfrt_wire_field_t* row) {
  return row->type == TFRT_WIRE_FIELD_MESSAGE ? row->message->struct_size
                                              : sizeof(tfrt_string_view_t);
}

static tfrt_status_t read_repeated(const tfrt_wire_message_t* message, const tfrt_wire_field_t* row,
                                   const generated_field_t* field, void* generated,
                                   budget_t* budget, void* object) {
  const size_t count = *(size_t*)quantifier_of(generated, field);
  if (count == 0) return NULL;
  if (count > row->count_limit) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%s.%s: %zu elements, at most %u are allowed", message->name,
                              row->name, count, row->count_limit);
  }
  char* elements = take(budget, count * size_of_ours(row));
  if (!elements) return out_of_memory(message);
  store_pointer((char*)object + row->offset, elements);
  *(size_t*)((char*)object + row->count_offset) = count;
  const char* members = *(char**)member_of(generated, field);
  for (size_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(read_element(message, row, field, members + i * element_size(field),
                                      budget, elements + i * size_of_ours(row)));
  }
  return NULL;
}

static tfrt_status_t read_field(const tfrt_wire_message_t* message, const tfrt_wire_field_t* row,
                                const generated_field_t* field, void* generated, budget_t* budget,
                                void* object) {
  if (row->form == TFRT_WIRE_FORM_REPEATED) {
    return read_repeated(message, row, field, generated, budget, object);
  }
  void* member = member_of(generated, field);
  void* value = (char*)object + row->offset;
  if (row->type < TFRT_WIRE_FIELD_STRING) {
    store_number(row, read_number(field, member), value);
    return NULL;
  }
  const bool is_message = row->type == TFRT_WIRE_FIELD_MESSAGE;
  if (is_message && !*(void**)member) {
    if (!row->required) return NULL;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s.%s: missing", message->name,
                              row->name);
  }
  if (row->form == TFRT_WIRE_FORM_POINTER) {
    void* element = take(budget, size_of_ours(row));
    if (!element) return out_of_memory(message);
    store_pointer(value, element);
    value = element;
  }
  return read_element(message, row, field, member, budget, value);
}

static tfrt_status_t read_fields(const ProtobufCMessageDescriptor* descriptor,
                                 const tfrt_wire_message_t* message, void* generated,
                                 budget_t* budget, void* object) {
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* row = &message->fields[i];
    const generated_field_t* field = &descriptor->fields[i];
    if (message->is_oneof) {
      if (*(uint32_t*)quantifier_of(generated, field) != row->number) continue;
      *(uint32_t*)((char*)object + message->kind_offset) = row->number;
    }
    TFRT_RETURN_IF_ERROR(read_field(message, row, field, generated, budget, object));
  }
  return tfrt_wire_message_check(message, object);
}

tfrt_status_t tfrt_wire_unpack(const ProtobufCMessageDescriptor* descriptor,
                               const tfrt_wire_message_t* message, tfrt_string_view_t bytes,
                               size_t budget_size, tfrt_arena_t* arena, void* out_object) {
  memset(out_object, 0, message->struct_size);
  budget_t budget = {.arena = arena, .left = budget_size};
  ProtobufCAllocator allocator = {.alloc = take, .free = give_back, .allocator_data = &budget};
  ProtobufCMessage* generated =
      protobuf_c_message_unpack(descriptor, &allocator, bytes.size, (const uint8_t*)bytes.data);
  tfrt_status_t status;
  if (generated) {
    status = read_fields(descriptor, message, generated, &budget, out_object);
  } else if (budget.is_short) {
    status = out_of_memory(message);
  } else {
    status =
        tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s: cut off or malformed", message->name);
  }
  if (status) memset(out_object, 0, message->struct_size);
  return status;
}

// --- Ours to generated -------------------------------------------------------------

// Returns a generated struct of |descriptor| with the fields of |object|, or NULL without memory.
static void* build(const ProtobufCMessageDescriptor* descriptor, const tfrt_wire_message_t* message,
                   const void* object, tfrt_arena_t* arena);

static void write_number(const generated_field_t* field, uint64_t number, void* member) {
  switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL:
      *(protobuf_c_boolean*)member = number != 0;
      break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
      *(uint64_t*)member = number;
      break;
    default:
      *(uint32_t*)member = (uint32_t)number;
      break;
  }
}

// Writes |element| of our struct to |member|; false without memory.
static bool write_element(const tfrt_wire_field_t* row, const generated_field_t* field,
                          const void* element, tfrt_arena_t* arena, void* member) {
  if (row->type == TFRT_WIRE_FIELD_MESSAGE) {
    void* part = build(field->descriptor, row->message, element, arena);
    *(void**)member = part;
    return part != NULL;
  }
  const tfrt_string_view_t* text = element;
  if (field->type != PROTOBUF_C_TYPE_STRING) {
    *(ProtobufCBinaryData*)member =
        (ProtobufCBinaryData){.len = text->size, .data = (uint8_t*)text->data};
    return true;
  }
  char* copy = tfrt_arena_take(arena, text->size + 1, 1);
  if (!copy) return false;
  if (text->size > 0) memcpy(copy, text->data, text->size);
  copy[text->size] = '\0';
  *(char**)member = copy;
  return true;
}

static bool write_repeated(const tfrt_wire_field_t* row, const generated_field_t* field,
                           const void* object, tfrt_arena_t* arena, void* generated) {
  const size_t count = tfrt_wire_field_count(row, object);
  char* members = tfrt_arena_allocate(arena, count * element_size(field));
  if (!members) return false;
  *(size_t*)quantifier_of(generated, field) = count;
  *(char**)member_of(generated, field) = members;
  for (size_t i = 0; i < count; ++i) {
    const void* element = tfrt_wire_field_element(row, object, i);
    if (!write_element(row, field, element, arena, members + i * element_size(field))) return false;
  }
  return true;
}

static bool write_field(const tfrt_wire_message_t* message, const tfrt_wire_field_t* row,
                        const generated_field_t* field, const void* object, tfrt_arena_t* arena,
                        void* generated) {
  if (!tfrt_wire_field_is_present(message, row, object)) return true;
  if (message->is_oneof) *(uint32_t*)quantifier_of(generated, field) = row->number;
  if (row->form == TFRT_WIRE_FORM_REPEATED) {
    return write_repeated(row, field, object, arena, generated);
  }
  void* member = member_of(generated, field);
  if (row->type < TFRT_WIRE_FIELD_STRING) {
    write_number(field, tfrt_wire_field_number(row, object), member);
    return true;
  }
  return write_element(row, field, tfrt_wire_field_element(row, object, 0), arena, member);
}

static void* build(const ProtobufCMessageDescriptor* descriptor, const tfrt_wire_message_t* message,
                   const void* object, tfrt_arena_t* arena) {
  void* generated = tfrt_arena_allocate(arena, descriptor->sizeof_message);
  if (!generated) return NULL;
  protobuf_c_message_init(descriptor, generated);
  for (size_t i = 0; i < message->field_count; ++i) {
    if (!write_field(message, &message->fields[i], &descriptor->fields[i], object, arena,
                     generated)) {
      return NULL;
    }
  }
  return generated;
}

static tfrt_status_t append_packed(const ProtobufCMessage* generated, tfrt_string_builder_t* out) {
  const size_t before = out->size;
  tfrt_string_builder_append_fill(out, 0, protobuf_c_message_get_packed_size(generated));
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(out));
  protobuf_c_message_pack(generated, (uint8_t*)out->data + before);
  return NULL;
}

tfrt_status_t tfrt_wire_pack(const ProtobufCMessageDescriptor* descriptor,
                             const tfrt_wire_message_t* message, const void* object,
                             tfrt_string_builder_t* out) {
  TFRT_RETURN_IF_ERROR(tfrt_wire_encode_check(message, object));
  tfrt_arena_t arena;
  tfrt_arena_initialize(&arena, tfrt_allocator_system());
  const ProtobufCMessage* generated = build(descriptor, message, object, &arena);
  tfrt_status_t status = generated ? append_packed(generated, out) : tfrt_status_out_of_memory();
  tfrt_arena_deinitialize(&arena);
  return status;
}
