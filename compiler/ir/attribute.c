// SPDX-License-Identifier: Apache-2.0

#include "compiler/ir/attribute.h"

#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/string_builder.h"

// Keys up to this size are put together on the stack.
#define SMALL_KEY_SIZE 128

// The first part of an attribute's key; its payload follows. Two attributes are equal
// if these bytes are, so padding has to be zero: there is none.
typedef struct header_s {
  uint32_t kind;
  uint32_t flags;
  uint64_t count;
  uint64_t bits;
  const tfrt_ir_type_t* type;
} header_t;

static void measure_part(tfrt_ir_attribute_t* attribute, const tfrt_ir_attribute_t* part) {
  if (attribute->depth <= part->depth) {
    attribute->depth = part->depth + (part->depth == UINT32_MAX ? 0 : 1);
  }
  bool overflow = part->weight > UINT32_MAX - attribute->weight;
  attribute->weight = overflow ? UINT32_MAX : attribute->weight + part->weight;
}

// Sets depth and weight of |attribute| from its parts'.
static void measure(tfrt_ir_attribute_t* attribute) {
  attribute->depth = 1;
  attribute->weight = 1;
  for (uint32_t i = 0; i < attribute->count; ++i) {
    if (attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY) {
      measure_part(attribute, attribute->elements[i]);
    } else if (attribute->kind == TFRT_IR_ATTRIBUTE_DICTIONARY) {
      measure_part(attribute, attribute->entries[i].value);
    }
  }
}

// The slot of the attribute with |header| and the |size| bytes at |payload|, as
// tfrt_ir_context_intern() has it.
static const void** find_slot(tfrt_ir_context_t* context, const header_t* header,
                              const void* payload, size_t size, const void** out_key) {
  char small[SMALL_KEY_SIZE];
  if (size <= sizeof(small) - sizeof(*header)) {
    memcpy(small, header, sizeof(*header));
    if (size) memcpy(small + sizeof(*header), payload, size);
    return tfrt_ir_context_intern(context, TFRT_IR_TABLE_ATTRIBUTES, small, sizeof(*header) + size,
                                  out_key);
  }
  tfrt_string_builder_t key;
  tfrt_string_builder_initialize(&key, tfrt_ir_context_allocator(context));
  tfrt_string_builder_append(&key, header, sizeof(*header));
  tfrt_string_builder_append(&key, payload, size);
  const void** slot = NULL;
  if (!key.failed) {
    slot = tfrt_ir_context_intern(context, TFRT_IR_TABLE_ATTRIBUTES, key.data, key.size, out_key);
  }
  tfrt_string_builder_deinitialize(&key);
  return slot;
}

// Returns the attribute like |model| with the |size| bytes at |payload|.
static const tfrt_ir_attribute_t* intern(tfrt_ir_context_t* context,
                                         const tfrt_ir_attribute_t* model, const void* payload,
                                         size_t size) {
  header_t header = {.kind = model->kind,
                     .flags = (model->is_splat ? 1u : 0u) | (model->is_ranked ? 2u : 0u),
                     .count = model->count,
                     .bits = model->bits,
                     .type = model->type};
  const void* key = NULL;
  const void** slot = find_slot(context, &header, payload, size, &key);
  if (!slot || *slot) return slot ? *slot : NULL;
  tfrt_ir_attribute_t* attribute = tfrt_ir_context_allocate_kept(context, sizeof(*attribute));
  if (!attribute) return NULL;
  *attribute = *model;
  attribute->size = size;
  attribute->bytes = (const char*)key + sizeof(header);
  measure(attribute);
  *slot = attribute;
  return attribute;
}

// Keeps the lowest |width| bits of |bits|; sign-extends them if |is_signed|.
static uint64_t truncate_bits(uint64_t bits, uint32_t width, bool is_signed) {
  if (width >= 64) return bits;
  uint64_t mask = (UINT64_C(1) << width) - 1;
  bits &= mask;
  bool negative = is_signed && (bits >> (width - 1)) != 0;
  return negative ? bits | ~mask : bits;
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_unit(tfrt_ir_context_t* context) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_UNIT};
  return intern(context, &model, NULL, 0);
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_integer(tfrt_ir_context_t* context,
                                                     const tfrt_ir_type_t* type, int64_t value) {
  bool is_signed = type->signedness != TFRT_IR_UNSIGNED && type->width != 1;
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_INTEGER,
                               .type = type,
                               .bits = truncate_bits((uint64_t)value, type->width, is_signed)};
  return intern(context, &model, NULL, 0);
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_float_bits(tfrt_ir_context_t* context,
                                                        const tfrt_ir_type_t* type, uint64_t bits) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_FLOAT,
                               .type = type,
                               .bits = truncate_bits(bits, type->width, false)};
  return intern(context, &model, NULL, 0);
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_float(tfrt_ir_context_t* context,
                                                   const tfrt_ir_type_t* type, double value) {
  if (!tfrt_ir_float_has_values(type)) return NULL;
  return tfrt_ir_attribute_float_bits(context, type, tfrt_ir_float_to_bits(type, value));
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_string(tfrt_ir_context_t* context,
                                                    tfrt_string_view_t text,
                                                    const tfrt_ir_type_t* type) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_STRING, .type = type};
  return intern(context, &model, text.data, text.size);
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_type(tfrt_ir_context_t* context,
                                                  const tfrt_ir_type_t* type) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_TYPE, .type = type};
  return intern(context, &model, NULL, 0);
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_array(tfrt_ir_context_t* context,
                                                   const tfrt_ir_attribute_t* const* elements,
                                                   uint32_t count) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_ARRAY, .count = count};
  return intern(context, &model, elements, count * sizeof(*elements));
}

static int compare_entries(const void* a, const void* b) {
  const tfrt_ir_named_attribute_t* left = a;
  const tfrt_ir_named_attribute_t* right = b;
  return tfrt_string_view_compare(tfrt_ir_string_view(left->name),
                                  tfrt_ir_string_view(right->name));
}

const tfrt_ir_named_attribute_t* tfrt_ir_named_attributes_sort(
    tfrt_ir_context_t* context, const tfrt_ir_named_attribute_t* entries, uint32_t count) {
  static const tfrt_ir_named_attribute_t none;
  if (!count) return &none;
  tfrt_ir_named_attribute_t* copy = tfrt_ir_context_allocate_array(context, count, sizeof(*copy));
  if (!copy) return NULL;
  memcpy(copy, entries, count * sizeof(*copy));
  // Printed ones are in order.
  bool ascend = true;
  for (uint32_t i = 1; ascend && i < count; ++i) {
    ascend = compare_entries(&copy[i - 1], &copy[i]) <= 0;
  }
  if (!ascend) qsort(copy, count, sizeof(*copy), compare_entries);
  return copy;
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_dictionary(tfrt_ir_context_t* context,
                                                        const tfrt_ir_named_attribute_t* entries,
                                                        uint32_t count) {
  const tfrt_ir_named_attribute_t* sorted = tfrt_ir_named_attributes_sort(context, entries, count);
  if (!sorted) return NULL;
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_DICTIONARY, .count = count};
  return intern(context, &model, sorted, count * sizeof(*sorted));
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_symbol(tfrt_ir_context_t* context,
                                                    const tfrt_ir_string_t* const* names,
                                                    uint32_t count) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_SYMBOL, .count = count};
  return intern(context, &model, names, count * sizeof(*names));
}

// True if all elements in the |size| |bytes| of |type| are the same, and there are any.
static bool is_splat(const tfrt_ir_type_t* type, const void* bytes, size_t size) {
  size_t count = 0;
  if (!tfrt_ir_type_element_count(type, &count) || !count || size % count) return false;
  size_t width = size / count;
  return memcmp(bytes, (const char*)bytes + width, size - width) == 0;
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_dense(tfrt_ir_context_t* context,
                                                   const tfrt_ir_type_t* type, const void* bytes,
                                                   size_t size) {
  tfrt_ir_attribute_t model = {
      .kind = TFRT_IR_ATTRIBUTE_DENSE, .type = type, .is_splat = is_splat(type, bytes, size)};
  return intern(context, &model, bytes, size);
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_dense_array(tfrt_ir_context_t* context,
                                                         const tfrt_ir_type_t* element_type,
                                                         const void* bytes, uint32_t count) {
  tfrt_ir_attribute_t model = {
      .kind = TFRT_IR_ATTRIBUTE_DENSE_ARRAY, .type = element_type, .count = count};
  return intern(context, &model, bytes, count * tfrt_ir_type_byte_size(element_type));
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_shape(tfrt_ir_context_t* context, bool is_ranked,
                                                   const int64_t* dims, uint32_t rank) {
  tfrt_ir_attribute_t model = {
      .kind = TFRT_IR_ATTRIBUTE_SHAPE, .is_ranked = is_ranked, .count = rank};
  return intern(context, &model, dims, rank * sizeof(*dims));
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_location(tfrt_ir_context_t* context,
                                                      const tfrt_ir_location_t* location) {
  // Locations have no equality but identity, so the payload is the pointer itself.
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_LOCATION};
  tfrt_ir_attribute_t* attribute =
      (tfrt_ir_attribute_t*)intern(context, &model, &location, sizeof(location));
  if (attribute) attribute->location = location;
  return attribute;
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_resource(tfrt_ir_context_t* context,
                                                      const tfrt_ir_string_t* name,
                                                      const tfrt_ir_type_t* type) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_RESOURCE, .type = type, .count = 1};
  return intern(context, &model, &name, sizeof(name));
}

const tfrt_ir_attribute_t* tfrt_ir_attribute_opaque(tfrt_ir_context_t* context,
                                                    tfrt_string_view_t text) {
  tfrt_ir_attribute_t model = {.kind = TFRT_IR_ATTRIBUTE_OPAQUE};
  return intern(context, &model, text.data, text.size);
}

int64_t tfrt_ir_attribute_integer_value(const tfrt_ir_attribute_t* attribute) {
  return (int64_t)attribute->bits;
}

double tfrt_ir_attribute_float_value(const tfrt_ir_attribute_t* attribute) {
  return tfrt_ir_float_from_bits(attribute->type, attribute->bits);
}

const tfrt_ir_attribute_t* tfrt_ir_named_attributes_find(const tfrt_ir_named_attribute_t* entries,
                                                         uint32_t count, const char* name) {
  tfrt_string_view_t wanted = tfrt_string_view_of(name);
  uint32_t low = 0;
  uint32_t high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int order = tfrt_string_view_compare(tfrt_ir_string_view(entries[middle].name), wanted);
    if (order == 0) return entries[middle].value;
    if (order < 0) low = middle + 1;
    if (order > 0) high = middle;
  }
  return NULL;
}
