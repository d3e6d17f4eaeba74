// SPDX-License-Identifier: Apache-2.0
//
// The attributes that never enter a kernel's attributes, but the section of call options.

#include <inttypes.h>
#include <string.h>

#include "compiler/bef/bef_entities.h"

bool tfrt_bef_is_call_option(const tfrt_ir_operation_t* op,
                             const tfrt_ir_named_attribute_t* named) {
  static const char* const kNames[] = {"deadline_ms", "device", "host", "pure", "retries"};
  if (tfrt_ir_string_is(named->name, "bef.nonstrict")) return true;
  if (!op->descriptor || !(op->descriptor->flags & TFRT_KERNEL_CALL_OPTIONS)) return false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kNames); ++i) {
    if (tfrt_ir_string_is(named->name, kNames[i])) return true;
  }
  return false;
}

// Reads an integer from |minimum| to 2^32 - 1.
static uint32_t read_number(const tfrt_ir_operation_t* op, const tfrt_ir_named_attribute_t* named,
                            int64_t minimum, tfrt_diagnostics_t* diagnostics) {
  const tfrt_ir_attribute_t* attribute = named->value;
  if (attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER) {
    int64_t value = tfrt_ir_attribute_integer_value(attribute);
    if (value >= minimum && value <= UINT32_MAX) return (uint32_t)value;
  }
  tfrt_diagnostics_report_at(diagnostics, TFRT_SEVERITY_ERROR, op->location,
                             "'%s' must be an integer from %" PRId64 " to 4294967295",
                             named->name->data, minimum);
  return 0;
}

// Reads `unit`, `true` or `false`.
static bool read_flag(const tfrt_ir_operation_t* op, const tfrt_ir_named_attribute_t* named,
                      tfrt_diagnostics_t* diagnostics) {
  const tfrt_ir_attribute_t* attribute = named->value;
  if (attribute->kind == TFRT_IR_ATTRIBUTE_UNIT) return true;
  if (attribute->kind == TFRT_IR_ATTRIBUTE_INTEGER && attribute->type->width == 1) {
    return tfrt_ir_attribute_integer_value(attribute) != 0;
  }
  tfrt_diagnostics_report_at(diagnostics, TFRT_SEVERITY_ERROR, op->location,
                             "'%s' must be true, false, or without a value", named->name->data);
  return false;
}

// Reads the name of a device, which the verifier has looked at. The bytes of a string attribute
// have a NUL behind them.
static const char* read_device(const tfrt_ir_operation_t* op,
                               const tfrt_ir_named_attribute_t* named,
                               tfrt_diagnostics_t* diagnostics) {
  const tfrt_ir_attribute_t* attribute = named->value;
  if (attribute->kind == TFRT_IR_ATTRIBUTE_STRING && attribute->size > 0 &&
      attribute->size <= TFRT_BEF_MAX_DEVICE_SIZE && strlen(attribute->bytes) == attribute->size) {
    return attribute->bytes;
  }
  tfrt_diagnostics_report_at(diagnostics, TFRT_SEVERITY_ERROR, op->location,
                             "'device' must be the name of a device, as \"cuda:0\"");
  return NULL;
}

bool tfrt_bef_call_options_of(const tfrt_ir_operation_t* op, tfrt_diagnostics_t* diagnostics,
                              tfrt_bef_call_options_t* out_options) {
  bool found = false;
  *out_options = (tfrt_bef_call_options_t){.has_host = false};
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    const tfrt_ir_named_attribute_t* named = &op->attributes[i];
    if (!tfrt_bef_is_call_option(op, named)) continue;
    found = true;
    if (tfrt_ir_string_is(named->name, "host")) {
      out_options->has_host = true;
      out_options->host = read_number(op, named, 0, diagnostics);
    } else if (tfrt_ir_string_is(named->name, "device")) {
      out_options->device = read_device(op, named, diagnostics);
    } else if (tfrt_ir_string_is(named->name, "deadline_ms")) {
      out_options->deadline_ms = read_number(op, named, 1, diagnostics);
    } else if (tfrt_ir_string_is(named->name, "retries")) {
      out_options->retries = read_number(op, named, 0, diagnostics);
    } else if (tfrt_ir_string_is(named->name, "pure")) {
      out_options->pure = read_flag(op, named, diagnostics);
    } else {
      out_options->nonstrict = read_flag(op, named, diagnostics);
    }
  }
  return found;
}
