// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/eager/eager_binding.h"

#include "host_runtime/base/number_text.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/descriptor/attribute_layout.h"

void tfrt_eager_binding_initialize(tfrt_eager_binding_t* binding, tfrt_allocator_t allocator) {
  *binding = (tfrt_eager_binding_t){.offset_count = 0};
  tfrt_arena_initialize(&binding->arena, allocator);
  tfrt_bef_bytes_initialize(&binding->bytes, allocator);
}

void tfrt_eager_binding_deinitialize(tfrt_eager_binding_t* binding) {
  tfrt_bef_bytes_deinitialize(&binding->bytes);
  tfrt_arena_deinitialize(&binding->arena);
}

static const char* eager_binding_kind_name(tfrt_attribute_kind_t kind) {
  if (kind == TFRT_ATTRIBUTE_SYMBOL) return "function";
  if (kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY) return "array of functions";
  return tfrt_bef_attribute_type_name(tfrt_attribute_layout(kind));
}

static const char* eager_binding_value_name(const tfrt_eager_attribute_t* attribute) {
  if (attribute->value.type != TFRT_BEF_ATTRIBUTE_FUNCTION) {
    return tfrt_bef_attribute_type_name(attribute->value.type);
  }
  return attribute->function ? "function" : "array of functions";
}

// --- What the caller gives ------------------------------------------------------

static const tfrt_eager_attribute_t* eager_binding_find(const tfrt_eager_attribute_t* attributes,
                                                        uint32_t count, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(attributes[i].name, name) == 0) return &attributes[i];
  }
  return NULL;
}

static bool eager_binding_is_known(const tfrt_kernel_descriptor_t* descriptor, const char* name) {
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    if (strcmp(descriptor->attributes[i].name, name) == 0) return true;
  }
  for (uint32_t i = 0; i < descriptor->region_count; ++i) {
    if (strcmp(descriptor->regions[i].name, name) == 0) return true;
  }
  return false;
}

// The error for an attribute named |name|, with those that there are.
static tfrt_status_t eager_binding_unknown(const tfrt_kernel_descriptor_t* descriptor,
                                           const char* name) {
  tfrt_string_builder_t known;
  tfrt_string_builder_initialize(&known, tfrt_allocator_system());
  for (uint32_t i = 0; i < (uint32_t)descriptor->attribute_count + descriptor->region_count; ++i) {
    bool is_region = i >= descriptor->attribute_count;
    tfrt_string_builder_append_format(
        &known, "%s'%s'", i == 0 ? "it has " : ", ",
        is_region ? descriptor->regions[i - descriptor->attribute_count].name
                  : descriptor->attributes[i].name);
  }
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "op '%s' has no attribute '%s'; %s", descriptor->name, name,
      known.size > 0 ? tfrt_string_builder_text(&known) : "it has none");
  tfrt_string_builder_deinitialize(&known);
  return status;
}

static tfrt_status_t eager_binding_check_names(const tfrt_kernel_descriptor_t* descriptor,
                                               const tfrt_eager_attribute_t* attributes,
                                               uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = attributes[i].name;
    if (!eager_binding_is_known(descriptor, name)) {
      return eager_binding_unknown(descriptor, name);
    }
    if (!eager_binding_find(attributes, i, name)) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "attribute '%s' of op '%s' is given twice; leave one of them out",
                              name, descriptor->name);
  }
  return NULL;
}

static tfrt_status_t eager_binding_check_kind(const tfrt_kernel_descriptor_t* descriptor,
                                              const tfrt_eager_attribute_t* attribute,
                                              tfrt_attribute_kind_t kind) {
  bool is_function = attribute->value.type == TFRT_BEF_ATTRIBUTE_FUNCTION;
  bool good = false;
  if (kind == TFRT_ATTRIBUTE_SYMBOL) {
    good = is_function && attribute->function;
  } else if (kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY) {
    good = is_function && !attribute->function;
  } else {
    good = !is_function && attribute->value.type == tfrt_attribute_layout(kind);
  }
  if (good) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "attribute '%s' of op '%s' must be of the kind %s, not %s",
                            attribute->name, descriptor->name, eager_binding_kind_name(kind),
                            eager_binding_value_name(attribute));
}

// --- What the kernel gets -------------------------------------------------------

static void eager_binding_add_value(tfrt_eager_binding_t* binding, const tfrt_bef_value_t* value) {
  binding->values[binding->offset_count] = *value;
  binding->offsets[binding->offset_count++] = tfrt_bef_value_encode(value, &binding->bytes);
}

static void eager_binding_add_functions(tfrt_eager_binding_t* binding,
                                        const tfrt_eager_attribute_t* attribute) {
  const tfrt_function_t* const* functions =
      attribute->function ? &attribute->function : attribute->functions;
  for (uint32_t i = 0; i < attribute->function_count; ++i) {
    binding->functions[binding->function_count++] = functions[i];
  }
}

// The value of an attribute that the caller has left out: the table's, which is a bare literal.
static tfrt_status_t eager_binding_add_default(tfrt_eager_binding_t* binding,
                                               const tfrt_kernel_descriptor_t* descriptor,
                                               const tfrt_attribute_descriptor_t* attribute) {
  const char* text = attribute->default_value;
  tfrt_bef_attribute_type_t type = tfrt_attribute_layout(attribute->kind);
  tfrt_eager_attribute_t value = {.name = NULL};
  if (text && attribute->kind == TFRT_ATTRIBUTE_I1) {
    value = tfrt_eager_attribute_i1(attribute->name, strcmp(text, "true") == 0);
  } else if (text && attribute->kind <= TFRT_ATTRIBUTE_UI64) {
    int64_t number = 0;
    tfrt_number_text_parse_i64(tfrt_string_view_of(text), &number);
    value = tfrt_eager_attribute_scalar(attribute->name, (tfrt_bef_dtype_t)type, (uint64_t)number);
  } else if (text && attribute->kind == TFRT_ATTRIBUTE_F32) {
    value = tfrt_eager_attribute_f32(attribute->name, tfrt_number_text_parse_f32(text, NULL));
  } else if (text && attribute->kind == TFRT_ATTRIBUTE_F64) {
    value = tfrt_eager_attribute_f64(attribute->name, tfrt_number_text_parse_f64(text, NULL));
  } else {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "op '%s' needs its attribute '%s' (%s)",
                              descriptor->name, attribute->name,
                              eager_binding_kind_name(attribute->kind));
  }
  eager_binding_add_value(binding, &value.value);
  return NULL;
}

static tfrt_status_t eager_binding_add_attributes(tfrt_eager_binding_t* binding,
                                                  const tfrt_kernel_descriptor_t* descriptor,
                                                  const tfrt_eager_attribute_t* attributes,
                                                  uint32_t count) {
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* wanted = &descriptor->attributes[i];
    const tfrt_eager_attribute_t* given = eager_binding_find(attributes, count, wanted->name);
    if (!given) {
      TFRT_RETURN_IF_ERROR(eager_binding_add_default(binding, descriptor, wanted));
      continue;
    }
    TFRT_RETURN_IF_ERROR(eager_binding_check_kind(descriptor, given, wanted->kind));
    if (given->value.type == TFRT_BEF_ATTRIBUTE_FUNCTION) {
      eager_binding_add_functions(binding, given);
    } else {
      eager_binding_add_value(binding, &given->value);
    }
  }
  return NULL;
}

static tfrt_status_t eager_binding_add_regions(tfrt_eager_binding_t* binding,
                                               const tfrt_kernel_descriptor_t* descriptor,
                                               const tfrt_eager_attribute_t* attributes,
                                               uint32_t count) {
  for (uint32_t i = 0; i < descriptor->region_count; ++i) {
    const char* name = descriptor->regions[i].name;
    const tfrt_eager_attribute_t* given = eager_binding_find(attributes, count, name);
    if (!given) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "op '%s' needs a function for its region '%s'", descriptor->name,
                                name);
    }
    TFRT_RETURN_IF_ERROR(eager_binding_check_kind(descriptor, given, TFRT_ATTRIBUTE_SYMBOL));
    eager_binding_add_functions(binding, given);
  }
  return NULL;
}

static bool eager_binding_make_room(tfrt_eager_binding_t* binding,
                                    const tfrt_kernel_descriptor_t* descriptor,
                                    const tfrt_eager_attribute_t* attributes, uint32_t count) {
  size_t function_count = 1;
  for (uint32_t i = 0; i < count; ++i) function_count += attributes[i].function_count;
  size_t attribute_count = (size_t)descriptor->attribute_count + 1;
  binding->offsets =
      tfrt_arena_allocate_array(&binding->arena, attribute_count, sizeof(*binding->offsets));
  binding->values =
      tfrt_arena_allocate_array(&binding->arena, attribute_count, sizeof(*binding->values));
  binding->functions =
      tfrt_arena_allocate_array(&binding->arena, function_count, sizeof(*binding->functions));
  return binding->offsets && binding->values && binding->functions;
}

tfrt_status_t tfrt_eager_binding_fill(tfrt_eager_binding_t* binding,
                                      const tfrt_kernel_descriptor_t* descriptor,
                                      const tfrt_eager_attribute_t* attributes, uint32_t count) {
  TFRT_RETURN_IF_ERROR(eager_binding_check_names(descriptor, attributes, count));
  if (!eager_binding_make_room(binding, descriptor, attributes, count)) {
    return tfrt_status_out_of_memory();
  }
  TFRT_RETURN_IF_ERROR(eager_binding_add_attributes(binding, descriptor, attributes, count));
  TFRT_RETURN_IF_ERROR(eager_binding_add_regions(binding, descriptor, attributes, count));
  if (binding->bytes.failed) return tfrt_status_out_of_memory();
  if (tfrt_bef_bytes_size(&binding->bytes) <= TFRT_BEF_MAX_SIZE) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "the attributes of op '%s' have %zu bytes; the limit is %zu",
      descriptor->name, tfrt_bef_bytes_size(&binding->bytes), TFRT_BEF_MAX_SIZE);
}
