// SPDX-License-Identifier: Apache-2.0

#include "compiler/printer/value_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "compiler/printer/quick_text.h"

// A name that is taken in a scope.
typedef struct taken_s {
  tfrt_hash_node_t node;
  tfrt_string_view_t text;
} taken_t;

typedef struct tfrt_value_names_scope_s {
  struct tfrt_value_names_scope_s* parent;
  bool keeps_clear;  // of the names of |parent|
  bool has_digits;   // a name in |taken| begins with a digit
  tfrt_hash_table_t taken;
  uint32_t next_number;
  uint32_t next_argument;
  uint32_t next_suffix;
} scope_t;

// The name of a value, which |group_size| results of an op have together; |place| says which of
// these it is. Most names are numbers: those have no text, and their |text.size| is the number.
typedef struct entry_s {
  const tfrt_ir_value_t* value;
  tfrt_string_view_t text;
  const scope_t* scope;
  uint32_t place;
  uint32_t group_size;
} entry_t;

static uint64_t text_hash(const void* key) {
  const tfrt_string_view_t* text = key;
  return tfrt_hash_bytes(text->data, text->size);
}

static bool text_equal(const tfrt_hash_node_t* node, const void* key) {
  return tfrt_string_view_equal(TFRT_CONTAINER_OF(node, taken_t, node)->text,
                                *(const tfrt_string_view_t*)key);
}

static const tfrt_hash_table_vtable_t text_vtable = {text_hash, text_equal};

void tfrt_value_names_initialize(tfrt_value_names_t* names, bool numbers_only, bool generic,
                                 tfrt_allocator_t allocator) {
  *names = (tfrt_value_names_t){.numbers_only = numbers_only, .generic = generic};
  tfrt_arena_initialize(&names->arena, allocator);
  tfrt_scratch_initialize(&names->entries, sizeof(entry_t), allocator);
}

void tfrt_value_names_deinitialize(tfrt_value_names_t* names) {
  while (names->scope) tfrt_value_names_end(names);
  tfrt_scratch_deinitialize(&names->entries);
  tfrt_arena_deinitialize(&names->arena);
}

void tfrt_value_names_begin(tfrt_value_names_t* names) {
  scope_t* scope = tfrt_arena_allocate(&names->arena, sizeof(*scope));
  if (!scope) return;
  scope->parent = names->scope;
  tfrt_hash_table_initialize(&scope->taken, &text_vtable, names->arena.allocator);
  names->scope = scope;
}

void tfrt_value_names_begin_inside(tfrt_value_names_t* names) {
  bool has_parent = names->scope != NULL;
  tfrt_value_names_begin(names);
  if (names->scope) names->scope->keeps_clear = has_parent;
}

void tfrt_value_names_end(tfrt_value_names_t* names) {
  scope_t* scope = names->scope;
  if (!scope) return;
  names->scope = scope->parent;
  tfrt_hash_table_deinitialize(&scope->taken);
}

// The place of the result |value| among those of its op that the text has.
static uint32_t written_index(const tfrt_ir_value_t* value) {
  uint32_t index = value->index;
  if (!value->producer || !value->producer->lacks_chain_results) return index;
  for (uint32_t i = 0; i < value->index; ++i) {
    index -= tfrt_ir_operation_lacks_result(value->producer, i);
  }
  return index;
}

static const entry_t* find(const tfrt_value_names_t* names, const tfrt_ir_value_t* value) {
  if (value->scratch >= names->entries.count) return NULL;
  const entry_t* entry = tfrt_scratch_at(&names->entries, value->scratch);
  return entry->value == value ? entry : NULL;
}

static void set(tfrt_value_names_t* names, const tfrt_ir_value_t* value, tfrt_string_view_t text,
                uint32_t place, uint32_t group_size) {
  size_t index = names->entries.count;
  entry_t* entry = index < UINT32_MAX ? tfrt_scratch_add(&names->entries) : NULL;
  if (!entry) return;
  *entry = (entry_t){value, text, names->scope, place, group_size};
  ((tfrt_ir_value_t*)value)->scratch = (uint32_t)index;  // the printer's, while it runs
}

// Room for the digits of a number and a NUL.
typedef char digits_t[12];

static tfrt_string_view_t write_digits(uint32_t number, digits_t digits) {
  int size = snprintf(digits, sizeof(digits_t), "%" PRIu32, number);
  return tfrt_string_view_make(digits, (size_t)size);
}

static bool is_number(tfrt_string_view_t text) { return !text.data; }

// True if |text| is a name of the scope, or of one around it whose names can't be used again.
static bool is_taken(const tfrt_value_names_t* names, tfrt_string_view_t text) {
  const scope_t* scope = names->scope;
  while (scope && !tfrt_hash_table_find(&scope->taken, &text)) {
    scope = scope->keeps_clear ? scope->parent : NULL;
  }
  return scope != NULL;
}

// The same for a number, which nobody but a scope's counter and aliases takes: all below the
// counter are taken.
static bool is_number_taken(const tfrt_value_names_t* names, uint32_t number) {
  digits_t digits;
  tfrt_string_view_t text = {0};
  for (const scope_t* scope = names->scope; scope;) {
    if (number < scope->next_number) return true;
    if (scope->has_digits) {
      if (!text.data) text = write_digits(number, digits);
      if (tfrt_hash_table_find(&scope->taken, &text)) return true;
    }
    scope = scope->keeps_clear ? scope->parent : NULL;
  }
  return false;
}

// Takes |text| in the scope; false if it is taken already.
static bool take(tfrt_value_names_t* names, tfrt_string_view_t text) {
  if (!names->scope || is_taken(names, text)) return false;
  taken_t* taken = tfrt_arena_allocate(&names->arena, sizeof(*taken));
  if (!taken) return false;
  taken->text = text;
  if (text.size && text.data[0] >= '0' && text.data[0] <= '9') names->scope->has_digits = true;
  tfrt_hash_table_insert(&names->scope->taken, &text, &taken->node);
  return true;
}

// A new name that is the next free number.
static tfrt_string_view_t take_plain_number(tfrt_value_names_t* names) {
  scope_t* scope = names->scope;
  if (!scope) return tfrt_string_view_of("?");
  uint32_t number = scope->next_number;
  while (is_number_taken(names, number)) ++number;
  scope->next_number = number + 1;
  return tfrt_string_view_make(NULL, number);
}

// A new name: |prefix| and the next free number.
static tfrt_string_view_t take_number(tfrt_value_names_t* names, const char* prefix,
                                      uint32_t* counter) {
  size_t room = strlen(prefix) + 11;  // ten digits and a NUL
  char* text = names->scope ? tfrt_arena_allocate(&names->arena, room) : NULL;
  while (text) {
    int size = snprintf(text, room, "%s%" PRIu32, prefix, (*counter)++);
    tfrt_string_view_t view = tfrt_string_view_make(text, (size_t)size);
    if (is_taken(names, view)) continue;
    if (!take(names, view)) break;
    return view;
  }
  return tfrt_string_view_of("?");
}

// The name that the text had for |value|, if it had one (digits alone are a number).
static bool take_own_name(tfrt_value_names_t* names, const tfrt_ir_value_t* value,
                          tfrt_string_view_t* out_text) {
  *out_text = tfrt_ir_string_view(value->name);
  bool none = !out_text->size || (out_text->data[0] >= '0' && out_text->data[0] <= '9');
  if (names->numbers_only || none || !names->scope) return false;
  if (take(names, *out_text)) return true;
  char* prefix = tfrt_arena_allocate(&names->arena, out_text->size + 2);
  if (!prefix) return false;
  memcpy(prefix, out_text->data, out_text->size);
  prefix[out_text->size] = '_';
  *out_text = take_number(names, prefix, &names->scope->next_suffix);
  return true;
}

static void add_argument(tfrt_value_names_t* names, const tfrt_ir_value_t* argument) {
  const entry_t* entry = find(names, argument);
  if (entry && entry->scope == names->scope) return;
  tfrt_string_view_t text;
  uint32_t none = 0;
  if (!take_own_name(names, argument, &text)) {
    text = take_number(names, "arg", names->scope ? &names->scope->next_argument : &none);
  }
  set(names, argument, text, 0, 1);
}

// True if the results of |operation| have names in the text, of the chains aside that the text has
// left out.
static bool has_result_names(const tfrt_ir_operation_t* operation) {
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    if (!operation->results[i].name && !tfrt_ir_operation_lacks_result(operation, i)) return false;
  }
  return true;
}

// Results without names are printed as one group, others as the groups that their names make: names
// are unique, so neighbours of the same name were written `%a:2`. Chains that the text has left out
// get no names.
static void add_results(tfrt_value_names_t* names, const tfrt_ir_operation_t* operation) {
  bool is_one = names->numbers_only || !has_result_names(operation);
  uint32_t i = 0;
  while (i < operation->result_count) {
    const tfrt_ir_value_t* first = &operation->results[i];
    if (tfrt_ir_operation_lacks_result(operation, i++)) continue;
    uint32_t size = 1;
    uint32_t end = i;
    for (; end < operation->result_count; ++end) {
      if (tfrt_ir_operation_lacks_result(operation, end)) continue;
      if (!is_one && operation->results[end].name != first->name) break;
      ++size;
    }
    tfrt_string_view_t text = {0};
    const tfrt_ir_value_t named = {.name = is_one && size > 1 ? NULL : first->name};
    if (!take_own_name(names, &named, &text)) text = take_plain_number(names);
    uint32_t place = 0;
    for (uint32_t k = i - 1; k < end; ++k) {
      if (tfrt_ir_operation_lacks_result(operation, k)) continue;
      set(names, &operation->results[k], text, place++, size);
    }
    i = end;
  }
}

bool tfrt_value_names_is_isolated(const tfrt_value_names_t* names,
                                  const tfrt_ir_operation_t* operation) {
  if (tfrt_ir_is_function(operation) || tfrt_ir_is_module(operation)) return true;
  return operation->descriptor && !names->generic &&
         !tfrt_kernel_descriptor_sees_outside(operation->descriptor);
}

// A numbered value's |scratch| is its number, twice, and one more if it is an argument of an entry
// block: those are counted for themselves.
static void number_value(const tfrt_ir_value_t* value, uint32_t number, bool is_argument) {
  ((tfrt_ir_value_t*)value)->scratch = 2 * number + is_argument;  // the printer's, while it runs
}

// The values of |region| itself, as stock MLIR numbers them. Results of one op have one number.
static void number_region(const tfrt_ir_region_t* region, uint32_t* numbers, uint32_t* arguments) {
  for (const tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    bool is_entry = block == region->first_block;
    for (uint32_t i = 0; i < block->argument_count; ++i) {
      number_value(block->arguments[i], is_entry ? (*arguments)++ : (*numbers)++, is_entry);
    }
    for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      if (!tfrt_ir_operation_written_results(op)) continue;
      for (uint32_t i = 0; i < op->result_count; ++i) {
        number_value(&op->results[i], *numbers, false);
      }
      ++*numbers;
    }
  }
}

// Pushes the regions of the ops in |region|.
static bool push_regions(tfrt_scratch_t* regions, const tfrt_ir_region_t* region) {
  for (const tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      for (uint32_t i = 0; i < op->region_count; ++i) {
        const tfrt_ir_region_t* inner = &op->regions[i];
        if (!tfrt_scratch_push(regions, &inner)) return false;
      }
    }
  }
  return true;
}

// Numbers the values inside of |operation|.
static void number_operation(tfrt_value_names_t* names, const tfrt_ir_operation_t* operation,
                             const tfrt_value_names_unread_t* unread) {
  tfrt_scratch_t regions;
  tfrt_scratch_initialize(&regions, sizeof(const tfrt_ir_region_t*), names->arena.allocator);
  bool ok = true;
  for (uint32_t i = 0; ok && i < operation->region_count; ++i) {
    const tfrt_ir_region_t* region = &operation->regions[i];
    ok = tfrt_scratch_push(&regions, &region);
  }
  while (ok && regions.count) {
    const tfrt_ir_region_t* region =
        *(const tfrt_ir_region_t**)tfrt_scratch_at(&regions, --regions.count);
    if (unread && region->unread) {
      unread->visit(region->owner, unread->user_data);
      continue;
    }
    number_region(region, &names->next_number, &names->next_argument);
    ok = push_regions(&regions, region);
  }
  tfrt_scratch_deinitialize(&regions);
}

void tfrt_value_names_number_all(tfrt_value_names_t* names, const tfrt_ir_operation_t* module,
                                 const tfrt_value_names_unread_t* unread) {
  names->all_numbered = true;
  number_operation(names, module, unread);
}

void tfrt_value_names_number_function(tfrt_value_names_t* names,
                                      const tfrt_ir_operation_t* function) {
  number_operation(names, function, NULL);
}

void tfrt_value_names_add_operation(tfrt_value_names_t* names,
                                    const tfrt_ir_operation_t* operation) {
  if (names->all_numbered) return;
  add_results(names, operation);
  if (tfrt_value_names_is_isolated(names, operation)) return;
  for (uint32_t i = 0; i < operation->region_count; ++i) {
    tfrt_value_names_add_region(names, &operation->regions[i]);
  }
}

void tfrt_value_names_add_region(tfrt_value_names_t* names, const tfrt_ir_region_t* region) {
  if (names->all_numbered) return;
  for (const tfrt_ir_block_t* block = region->first_block; block; block = block->next) {
    for (uint32_t i = 0; i < block->argument_count; ++i) add_argument(names, block->arguments[i]);
    for (const tfrt_ir_operation_t* op = block->first; op; op = op->next) {
      tfrt_value_names_add_operation(names, op);
    }
  }
}

void tfrt_value_names_alias(tfrt_value_names_t* names, const tfrt_ir_value_t* argument,
                            const tfrt_ir_value_t* operand) {
  const entry_t* found = find(names, operand);
  if (!found) return;
  entry_t entry = *found;  // the stack may move
  if (is_number(entry.text)) {
    // Only here may a number be the name of a value that no counter counts.
    char* digits = tfrt_arena_allocate(&names->arena, sizeof(digits_t));
    if (!digits) return;
    entry.text = write_digits((uint32_t)entry.text.size, digits);
  }
  // A name that is an alias itself may be `r#1`: then no other value can be `r`.
  const char* mark = memchr(entry.text.data, '#', entry.text.size);
  take(names, mark ? tfrt_string_view_make(entry.text.data, (size_t)(mark - entry.text.data))
                   : entry.text);
  tfrt_string_view_t text = entry.text;
  if (entry.group_size > 1) {
    // Bound as `%r#1`, the way it stands among the operands.
    char buffer[16];
    int size = snprintf(buffer, sizeof(buffer), "#%" PRIu32, entry.place);
    char* copy = tfrt_arena_allocate(&names->arena, entry.text.size + (size_t)size + 1);
    if (!copy) return;
    memcpy(copy, entry.text.data, entry.text.size);
    memcpy(copy + entry.text.size, buffer, (size_t)size);
    text = tfrt_string_view_make(copy, entry.text.size + (size_t)size);
  }
  set(names, argument, text, 0, 1);
}

static void append_text(const entry_t* entry, tfrt_string_builder_t* builder) {
  if (is_number(entry->text)) {
    tfrt_quick_text_append_number(builder, (uint32_t)entry->text.size);
  } else {
    tfrt_quick_text_append_view(builder, entry->text);
  }
}

// Appends `%arg0` or `%0` of a numbered value.
static void append_number(tfrt_string_builder_t* builder, const tfrt_ir_value_t* value) {
  if (value->scratch & 1) {
    tfrt_quick_text_append(builder, "%arg");
  } else {
    tfrt_quick_text_append(builder, "%");
  }
  tfrt_quick_text_append_number(builder, value->scratch / 2);
}

void tfrt_value_names_append(const tfrt_value_names_t* names, const tfrt_ir_value_t* value,
                             tfrt_string_builder_t* builder) {
  if (names->all_numbered) {
    append_number(builder, value);
    bool is_one_of_several =
        value->producer && tfrt_ir_operation_written_results(value->producer) > 1;
    if (!is_one_of_several) return;
    tfrt_string_builder_append_char(builder, '#');
    tfrt_quick_text_append_number(builder, written_index(value));
    return;
  }
  const entry_t* entry = find(names, value);
  tfrt_quick_text_append(builder, "%");
  if (!entry) {
    tfrt_string_builder_append_text(builder, "<<unknown>>");
    return;
  }
  append_text(entry, builder);
  if (entry->group_size > 1) {
    tfrt_string_builder_append_format(builder, "#%" PRIu32, entry->place);
  }
}

void tfrt_value_names_append_results(const tfrt_value_names_t* names,
                                     const tfrt_ir_operation_t* operation,
                                     tfrt_string_builder_t* builder) {
  uint32_t count = tfrt_ir_operation_written_results(operation);
  if (!count) return;
  if (names->all_numbered) {
    append_number(builder, &operation->results[0]);
    if (count > 1) {
      tfrt_string_builder_append_char(builder, ':');
      tfrt_quick_text_append_number(builder, count);
    }
    tfrt_quick_text_append(builder, " = ");
    return;
  }
  bool any = false;
  for (uint32_t i = 0; i < operation->result_count; ++i) {
    const entry_t* entry = find(names, &operation->results[i]);
    if (tfrt_ir_operation_lacks_result(operation, i) || (entry && entry->place)) continue;
    if (any) tfrt_string_builder_append_text(builder, ", ");
    any = true;
    if (entry && entry->group_size > 1) {
      tfrt_string_builder_append_char(builder, '%');
      append_text(entry, builder);
      tfrt_string_builder_append_format(builder, ":%" PRIu32, entry->group_size);
    } else {
      tfrt_value_names_append(names, &operation->results[i], builder);
    }
  }
  tfrt_quick_text_append(builder, " = ");
}
