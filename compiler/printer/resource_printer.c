// SPDX-License-Identifier: Apache-2.0

#include "compiler/printer/printer_impl.h"

// The resources that the attributes of a module use, in the order in which these are printed.
typedef struct uses_s {
  tfrt_ir_context_t* context;
  bool generic;
  tfrt_ir_resource_t* first;
  tfrt_ir_resource_t** end;
} uses_t;

// The parser bounds the depth of attributes.
static void add_attribute(uses_t* uses, const tfrt_ir_attribute_t* attribute) {
  if (attribute->kind == TFRT_IR_ATTRIBUTE_RESOURCE) {
    tfrt_ir_resource_t* resource = tfrt_ir_resource_find(uses->context, attribute->names[0]);
    if (!resource || resource->is_used) return;
    resource->is_used = true;
    resource->next_in_use = NULL;
    *uses->end = resource;
    uses->end = &resource->next_in_use;
  }
  bool is_array = attribute->kind == TFRT_IR_ATTRIBUTE_ARRAY;
  bool is_dictionary = attribute->kind == TFRT_IR_ATTRIBUTE_DICTIONARY;
  for (uint32_t i = 0; (is_array || is_dictionary) && i < attribute->count; ++i) {
    add_attribute(uses, is_array ? attribute->elements[i] : attribute->entries[i].value);
  }
}

// The attributes of |operation| that are properties, or those that are not.
static void add_attributes(uses_t* uses, const tfrt_ir_operation_t* operation, bool properties) {
  if (properties && operation->properties) add_attribute(uses, operation->properties);
  if (!operation->attribute_count) return;
  const tfrt_printer_properties_t found = tfrt_printer_find_properties(operation);
  for (uint32_t i = 0; i < operation->attribute_count; ++i) {
    const tfrt_ir_named_attribute_t* entry = &operation->attributes[i];
    if (tfrt_printer_is_property(operation, &found, entry) != properties) continue;
    add_attribute(uses, entry->value);
  }
}

// The parser bounds the depth of ops.
static void add_operation(uses_t* uses, const tfrt_ir_operation_t* operation) {
  // In generic form the other attributes stand behind the regions.
  add_attributes(uses, operation, true);
  if (!uses->generic) add_attributes(uses, operation, false);
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    for (const tfrt_ir_block_t* block = operation->regions[i].first_block; block;
         block = block->next) {
      for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
        add_operation(uses, op);
      }
    }
  }
  if (uses->generic) add_attributes(uses, operation, false);
}

static void print_resource(tfrt_string_builder_t* builder, const tfrt_ir_resource_t* resource) {
  tfrt_string_builder_append_text(builder, "\n      ");
  tfrt_printer_key(builder, tfrt_ir_string_view(resource->name));
  tfrt_string_builder_append_text(builder, ": ");
  switch (resource->kind) {
    case TFRT_IR_RESOURCE_TRUTH:
      tfrt_string_builder_append_text(builder, resource->truth ? "true" : "false");
      return;
    case TFRT_IR_RESOURCE_STRING:
      tfrt_print_string(resource->bytes, builder);
      return;
    case TFRT_IR_RESOURCE_BLOB:
      tfrt_string_builder_append_text(builder, "\"0x");
      tfrt_string_builder_append_view(builder, resource->bytes);
      tfrt_string_builder_append_text(builder, "\"");
      return;
  }
}

// The beginning and the end of what belongs to one owner.
static void begin_owner(tfrt_string_builder_t* builder, const char* name) {
  tfrt_string_builder_append_text(builder, "\n    ");
  tfrt_printer_key(builder, tfrt_string_view_of(name));
  tfrt_string_builder_append_text(builder, ": {");
}

static void end_owner(tfrt_string_builder_t* builder) {
  tfrt_string_builder_append_text(builder, "\n    }");
}

static void print_external(tfrt_string_builder_t* builder, const tfrt_ir_resource_owner_t* owner) {
  bool any = false;
  for (; owner; owner = owner->next) {
    if (owner->is_dialect || !owner->first) continue;
    if (any) tfrt_string_builder_append_char(builder, ',');
    any = true;
    begin_owner(builder, owner->name->data);
    for (const tfrt_ir_resource_t* resource = owner->first; resource; resource = resource->next) {
      print_resource(builder, resource);
      if (resource->next) tfrt_string_builder_append_char(builder, ',');
    }
    end_owner(builder);
  }
}

static bool has_external(const tfrt_ir_resource_owner_t* owner) {
  while (owner && (owner->is_dialect || !owner->first)) owner = owner->next;
  return owner != NULL;
}

void tfrt_print_resources(tfrt_ir_context_t* context, const tfrt_ir_operation_t* module,
                          const tfrt_printer_options_t* options, tfrt_string_builder_t* builder) {
  if (!context->resource_owners) return;
  uses_t uses = {.context = context, .generic = options && options->generic};
  uses.end = &uses.first;
  add_operation(&uses, module);
  bool external = has_external(context->resource_owners);
  if (!uses.first && !external) return;
  tfrt_string_builder_append_text(builder, "\n{-#");
  if (uses.first) {
    tfrt_string_builder_append_text(builder, "\n  dialect_resources: {");
    begin_owner(builder, "builtin");
    for (tfrt_ir_resource_t* resource = uses.first; resource; resource = resource->next_in_use) {
      print_resource(builder, resource);
      if (resource->next_in_use) tfrt_string_builder_append_char(builder, ',');
      resource->is_used = false;
    }
    end_owner(builder);
    tfrt_string_builder_append_text(builder, external ? "\n  }," : "\n  }");
  }
  if (external) {
    tfrt_string_builder_append_text(builder, "\n  external_resources: {");
    print_external(builder, context->resource_owners);
    tfrt_string_builder_append_text(builder, "\n  }");
  }
  tfrt_string_builder_append_text(builder, "\n#-}\n");
}
