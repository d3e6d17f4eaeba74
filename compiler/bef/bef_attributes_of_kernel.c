// SPDX-License-Identifier: Apache-2.0
//
// The importer's answer to what the attributes of a kernel were called and were.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compiler/bef/bef_attribute_importer.h"
#include "compiler/bef/bef_importer_impl.h"
#include "host_runtime/executor/descriptor/attribute_layout.h"

// More than a kernel's attributes by the call options, and by one array of symbols.
#define EXTRA_ATTRIBUTES 6

// A kernel's attributes while they are gathered.
typedef struct gathering_s {
  tfrt_bef_importer_t* importer;
  const tfrt_bef_function_t* function;
  const tfrt_bef_kernel_t* kernel;
  const char* const* names;  // NULL: the file doesn't say
  const tfrt_kernel_descriptor_t* descriptor;
  tfrt_ir_named_attribute_t* attributes;
  uint32_t count;
} gathering_t;

static bool add(gathering_t* gathering, const char* name, const tfrt_ir_attribute_t* value) {
  const tfrt_ir_string_t* string = tfrt_ir_string_of(gathering->importer->context, name);
  if (!string || !value) return false;
  for (uint32_t i = 0; i < gathering->count; ++i) {
    if (gathering->attributes[i].name != string) continue;
    tfrt_bef_importer_report(gathering->importer, gathering->function, name,
                             "two attributes have this name");
    return false;
  }
  gathering->attributes[gathering->count++] = (tfrt_ir_named_attribute_t){string, value};
  return true;
}

// Entry |index| among those of the table that are values, or NULL.
static const tfrt_attribute_descriptor_t* value_descriptor(
    const tfrt_kernel_descriptor_t* descriptor, uint32_t index) {
  for (uint32_t i = 0; descriptor && i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    if (entry->kind >= TFRT_ATTRIBUTE_SYMBOL) continue;
    if (index-- == 0) return entry;
  }
  return NULL;
}

// --- Values ---------------------------------------------------------------------------

static uint64_t read_vbr(const uint8_t** bytes) {
  uint64_t value = 0;
  do {
    value = value << 7 | (**bytes & 0x7F);
  } while (*(*bytes)++ & 0x80);
  return value;
}

// Parses the text of a compiled module and puts the module first, unless it is there.
static bool import_module(gathering_t* gathering, const tfrt_ir_string_t* name,
                          tfrt_string_view_t text) {
  tfrt_bef_importer_t* importer = gathering->importer;
  // The module would have been printed first.
  if (importer->is_stepwise) {
    importer->has_failed = true;
    return false;
  }
  tfrt_ir_block_t* block = tfrt_ir_module_block(importer->module);
  for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
    if (tfrt_string_view_equal(tfrt_ir_symbol_name(op), tfrt_ir_string_view(name))) return true;
  }
  tfrt_diagnostics_t diagnostics;
  tfrt_diagnostics_initialize(&diagnostics, name->data, text,
                              tfrt_ir_context_allocator(importer->context));
  tfrt_ir_operation_t* module =
      tfrt_parse_module(importer->context, importer->tables, &diagnostics);
  tfrt_diagnostics_deinitialize(&diagnostics);
  if (!module) {
    tfrt_bef_importer_report(importer, gathering->function, name->data,
                             "the text of this compiled module can't be read");
    return false;
  }
  if (block->first) {
    tfrt_ir_block_insert_before(block->first, module);
  } else {
    tfrt_ir_block_append(block, module);
  }
  return true;
}

// The symbol of a compiled module, whose text comes with it.
static const tfrt_ir_attribute_t* import_symbol(gathering_t* gathering, const uint8_t* bytes) {
  tfrt_ir_context_t* context = gathering->importer->context;
  read_vbr(&bytes);  // the symbol's number
  size_t root_size = read_vbr(&bytes);
  uint32_t count = (uint32_t)read_vbr(&bytes) + 1;
  const tfrt_ir_string_t** names = tfrt_ir_context_allocate_array(context, count, sizeof(*names));
  size_t* sizes = tfrt_ir_context_allocate_array(context, count, sizeof(*sizes));
  if (!names || !sizes) return NULL;
  sizes[0] = root_size;
  for (uint32_t i = 1; i < count; ++i) sizes[i] = read_vbr(&bytes);
  size_t text_size = read_vbr(&bytes);
  for (uint32_t i = 0; i < count; ++i) {
    names[i] = tfrt_ir_string_get(context, tfrt_string_view_make((const char*)bytes, sizes[i]));
    if (!names[i]) return NULL;
    bytes += sizes[i];
  }
  tfrt_string_view_t text = tfrt_string_view_make((const char*)bytes, text_size);
  if (!import_module(gathering, names[0], text)) return NULL;
  return tfrt_ir_attribute_symbol(context, names, count);
}

// Adds a value whose type and content are unknown: only its |offset| is known.
static bool add_unknown_value(gathering_t* gathering, const char* name, uint32_t offset) {
  char text[48];
  snprintf(text, sizeof(text), TFRT_BEF_UNKNOWN_ATTRIBUTE "<%" PRIu32 ">", offset);
  tfrt_bef_importer_warn(gathering->importer);
  return add(gathering, name,
             tfrt_ir_attribute_opaque(gathering->importer->context, tfrt_string_view_of(text)));
}

// Adds value |index| of the kernel, with a warning where something is not known of it.
static bool add_value(gathering_t* gathering, uint32_t index) {
  tfrt_bef_importer_t* importer = gathering->importer;
  const tfrt_attribute_descriptor_t* entry = value_descriptor(gathering->descriptor, index);
  uint32_t offset = gathering->kernel->attributes[index];
  tfrt_bef_attribute_type_t type = tfrt_bef_file_attribute_type(importer->file, offset);
  size_t size;
  const uint8_t* section = tfrt_bef_file_attributes(importer->file, &size);
  char made_up[32];
  const char* name = made_up;
  snprintf(made_up, sizeof(made_up), "attribute%" PRIu32, index);
  if (gathering->names) {
    name = gathering->names[index];
  } else if (entry) {
    name = entry->name;
  } else {
    tfrt_bef_importer_warn(importer);
  }
  if (type == TFRT_BEF_ATTRIBUTE_UNSUPPORTED && entry) {
    type = tfrt_attribute_layout(entry->kind);
  }
  if (type == TFRT_BEF_ATTRIBUTE_UNSUPPORTED) return add_unknown_value(gathering, name, offset);
  tfrt_status_t status = tfrt_bef_attribute_check(section, size, offset, type);
  if (status) {
    tfrt_bef_importer_report(importer, gathering->function, name, tfrt_status_message(status));
    tfrt_status_release(status);
    return false;
  }
  const tfrt_ir_attribute_t* value =
      type == TFRT_BEF_ATTRIBUTE_SYMBOL
          ? import_symbol(gathering, section + offset)
          : tfrt_bef_attribute_from_bytes(importer->context, section + offset, type);
  if (!value) {
    tfrt_bef_importer_report(importer, gathering->function, name, "it has no form as text");
    return false;
  }
  return add(gathering, name, value);
}

// --- Functions ------------------------------------------------------------------------

static const tfrt_ir_attribute_t* function_symbol(gathering_t* gathering, uint32_t index) {
  tfrt_bef_importer_t* importer = gathering->importer;
  uint32_t number = gathering->kernel->functions[index];
  const char* name = tfrt_bef_file_function(importer->file, number)->name;
  const tfrt_ir_string_t* string = tfrt_ir_string_of(importer->context, name);
  return string ? tfrt_ir_attribute_symbol(importer->context, &string, 1) : NULL;
}

// The |count| functions from |first| on as an array of symbols.
static const tfrt_ir_attribute_t* function_symbols(gathering_t* gathering, uint32_t first,
                                                   uint32_t count) {
  tfrt_ir_context_t* context = gathering->importer->context;
  const tfrt_ir_attribute_t** symbols =
      tfrt_ir_context_allocate_array(context, count, sizeof(*symbols));
  for (uint32_t i = 0; i < count; ++i) {
    if (!symbols) return NULL;
    symbols[i] = function_symbol(gathering, first + i);
    if (!symbols[i]) return NULL;
  }
  return tfrt_ir_attribute_array(context, symbols, count);
}

// The number of entries of |kind| in the table.
static uint32_t count_kind(const tfrt_kernel_descriptor_t* descriptor, tfrt_attribute_kind_t kind) {
  uint32_t count = 0;
  for (uint32_t i = 0; descriptor && i < descriptor->attribute_count; ++i) {
    if (descriptor->attributes[i].kind == kind) ++count;
  }
  return count;
}

// Spreads the |count| named functions over the table's symbols; one symbol may be an array.
static bool add_functions_by_table(gathering_t* gathering, uint32_t count) {
  const tfrt_kernel_descriptor_t* descriptor = gathering->descriptor;
  uint32_t single_count = count_kind(descriptor, TFRT_ATTRIBUTE_SYMBOL);
  uint32_t next = 0;
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tfrt_attribute_descriptor_t* entry = &descriptor->attributes[i];
    const tfrt_ir_attribute_t* value = NULL;
    if (entry->kind == TFRT_ATTRIBUTE_SYMBOL) {
      value = function_symbol(gathering, next++);
    } else if (entry->kind == TFRT_ATTRIBUTE_SYMBOL_ARRAY) {
      value = function_symbols(gathering, next, count - single_count);
      next += count - single_count;
    } else {
      continue;
    }
    if (!add(gathering, entry->name, value)) return false;
  }
  return true;
}

static bool add_functions(gathering_t* gathering, uint32_t count) {
  uint32_t single_count = count_kind(gathering->descriptor, TFRT_ATTRIBUTE_SYMBOL);
  uint32_t array_count = count_kind(gathering->descriptor, TFRT_ATTRIBUTE_SYMBOL_ARRAY);
  bool fits = array_count == 0 ? count == single_count && count > 0
                               : array_count == 1 && count >= single_count;
  if (fits) return add_functions_by_table(gathering, count);
  if (count == 0) return true;
  if (count == 1) return add(gathering, "callee", function_symbol(gathering, 0));
  tfrt_bef_importer_warn(gathering->importer);
  return add(gathering, "callees", function_symbols(gathering, 0, count));
}

// --- Call options -----------------------------------------------------------------------

static bool add_number(gathering_t* gathering, const char* name, uint32_t value) {
  tfrt_ir_context_t* context = gathering->importer->context;
  const tfrt_ir_type_t* type =
      tfrt_ir_type_integer(context, value <= INT32_MAX ? 32 : 64, TFRT_IR_SIGNLESS);
  return type && add(gathering, name, tfrt_ir_attribute_integer(context, type, value));
}

static bool add_call_options(gathering_t* gathering) {
  const tfrt_bef_call_options_t* options = gathering->kernel->call_options;
  tfrt_ir_context_t* context = gathering->importer->context;
  if (!options) return true;
  bool good = true;
  if (options->has_host) good = add_number(gathering, "host", options->host);
  if (good && options->device) {
    tfrt_string_view_t device = tfrt_string_view_of(options->device);
    good = add(gathering, "device", tfrt_ir_attribute_string(context, device, NULL));
  }
  if (good && options->deadline_ms) {
    good = add_number(gathering, "deadline_ms", options->deadline_ms);
  }
  if (good && options->retries) good = add_number(gathering, "retries", options->retries);
  if (good && options->pure) good = add(gathering, "pure", tfrt_ir_attribute_unit(context));
  if (good && options->nonstrict) {
    good = add(gathering, "bef.nonstrict", tfrt_ir_attribute_unit(context));
  }
  return good;
}

// True if |kernel| has nothing that becomes an attribute or a region. (A symbol's array may be an
// attribute without any functions.)
static bool has_none(const tfrt_bef_kernel_t* kernel, const tfrt_kernel_descriptor_t* descriptor) {
  return !kernel->attribute_count && !kernel->function_count && !kernel->call_options &&
         (!descriptor || !descriptor->attribute_count);
}

const tfrt_ir_named_attribute_t* tfrt_bef_import_attributes(
    tfrt_bef_importer_t* importer, const tfrt_bef_function_t* function,
    const tfrt_bef_kernel_t* kernel, const char* const* names,
    const tfrt_kernel_descriptor_t* descriptor, uint32_t* out_count, uint32_t* out_region_count) {
  gathering_t gathering = {.importer = importer,
                           .function = function,
                           .kernel = kernel,
                           .names = names,
                           .descriptor = descriptor};
  size_t capacity = (size_t)kernel->attribute_count + kernel->function_count + EXTRA_ATTRIBUTES;
  static const tfrt_ir_named_attribute_t none;
  *out_count = 0;
  *out_region_count = 0;
  if (has_none(kernel, descriptor)) return &none;
  gathering.attributes =
      tfrt_ir_context_allocate_array(importer->context, capacity, sizeof(*gathering.attributes));
  if (!gathering.attributes) return NULL;
  uint32_t named_count = 0;
  while (named_count < kernel->function_count &&
         tfrt_bef_file_function(importer->file, kernel->functions[named_count])->name[0] != 0) {
    ++named_count;
  }
  for (uint32_t i = 0; i < kernel->attribute_count; ++i) {
    if (!add_value(&gathering, i)) return NULL;
  }
  if (!add_functions(&gathering, named_count) || !add_call_options(&gathering)) return NULL;
  *out_count = gathering.count;
  *out_region_count = kernel->function_count - named_count;
  return gathering.attributes;
}
