// SPDX-License-Identifier: Apache-2.0

#include "compiler/parser/value_scope.h"

#include "host_runtime/base/hash_table.h"

typedef struct tfrt_value_scope_s scope_t;

// The meaning of one `%name#number` in a scope. Poison stands on number 0 and counts for all
// numbers. A definition is found by its name, and is out of date once its scope is closed.
typedef struct definition_s {
  struct definition_s* outer;  // of number 0: what the name means in the scopes around
  const scope_t* scope;
  tfrt_ir_value_t* value;  // a placeholder unless |is_defined|; NULL if only poisoned
  uint32_t offset;         // of the definition, or the first use
  bool is_defined;
  bool is_poisoned;
} definition_t;

// One that was used before anything defined it.
typedef struct early_use_s {
  struct early_use_s* next;  // in the order of first mention
  const definition_t* definition;
  const tfrt_ir_string_t* name;
  uint32_t number;
} early_use_t;

struct tfrt_value_scope_s {
  scope_t* parent;
  tfrt_hash_table_t numbered;
  early_use_t* first;
  early_use_t** last_next;
  uint32_t level;         // the outermost one has 1
  uint32_t visible_from;  // the level of the outermost scope that is seen from here
  bool isolated;
  bool is_open;
};

typedef struct key_s {
  const tfrt_ir_string_t* name;
  uint32_t number;
} key_t;

// A definition with a number other than 0: these are few, and found by a table.
typedef struct numbered_s {
  tfrt_hash_node_t node;
  key_t key;
  definition_t definition;
} numbered_t;

static uint64_t key_hash(const void* key) {
  const key_t* wanted = key;
  return tfrt_hash_combine((uint64_t)(uintptr_t)wanted->name, wanted->number);
}

static bool key_equal(const tfrt_hash_node_t* node, const void* key) {
  const numbered_t* entry = TFRT_CONTAINER_OF(node, numbered_t, node);
  const key_t* wanted = key;
  return entry->key.name == wanted->name && entry->key.number == wanted->number;
}

static const tfrt_hash_table_vtable_t key_vtable = {key_hash, key_equal};

void tfrt_value_scopes_initialize(tfrt_value_scopes_t* scopes, tfrt_ir_context_t* context,
                                  tfrt_diagnostics_t* diagnostics) {
  *scopes = (tfrt_value_scopes_t){.context = context, .diagnostics = diagnostics};
  tfrt_scratch_initialize(&scopes->passing, sizeof(const tfrt_ir_string_t*),
                          tfrt_ir_context_allocator(context));
}

// Ends |scope|, the innermost one: its names mean again what they mean around it.
static void close_scope(tfrt_value_scopes_t* scopes, scope_t* scope) {
  scopes->top = scope->parent;
  scope->is_open = false;
  tfrt_hash_table_deinitialize(&scope->numbered);
}

void tfrt_value_scopes_deinitialize(tfrt_value_scopes_t* scopes) {
  while (scopes->top) close_scope(scopes, scopes->top);
  tfrt_scratch_deinitialize(&scopes->passing);
}

bool tfrt_value_scopes_push(tfrt_value_scopes_t* scopes, bool isolated) {
  scope_t* scope = tfrt_ir_context_allocate_array(scopes->context, 1, sizeof(*scope));
  if (!scope) return false;
  scope->parent = scopes->top;
  scope->level = scopes->top ? scopes->top->level + 1 : 1;
  scope->visible_from = isolated || !scopes->top ? scope->level : scopes->top->visible_from;
  scope->isolated = isolated;
  scope->is_open = true;
  scope->last_next = &scope->first;
  tfrt_hash_table_initialize(&scope->numbered, &key_vtable,
                             tfrt_ir_context_allocator(scopes->context));
  scopes->top = scope;
  return true;
}

static definition_t* find_numbered(const scope_t* scope, const tfrt_ir_string_t* name,
                                   uint32_t number) {
  key_t key = {name, number};
  tfrt_hash_node_t* node = tfrt_hash_table_find(&scope->numbered, &key);
  return node ? &TFRT_CONTAINER_OF(node, numbered_t, node)->definition : NULL;
}

// The definition of |name| with the number 0 in the innermost open scope that knows it. Skips
// definitions of closed scopes, and stores the result as the name's meaning.
static TFRT_COLD definition_t* meaning_around(const tfrt_ir_string_t* name) {
  definition_t* definition = name->meaning;
  while (definition && !definition->scope->is_open) definition = definition->outer;
  tfrt_ir_string_set_meaning(name, definition);
  return definition;
}

static inline definition_t* meaning_of(const tfrt_ir_string_t* name) {
  definition_t* definition = name->meaning;
  return !definition || definition->scope->is_open ? definition : meaning_around(name);
}

// Gives |name| one more |meaning|. In a piece of the context it is one to forget.
static bool give_meaning(tfrt_value_scopes_t* scopes, const tfrt_ir_string_t* name,
                         definition_t* meaning) {
  tfrt_ir_string_set_meaning(name, meaning);
  return !tfrt_ir_context_is_in_piece(scopes->context) ||
         tfrt_scratch_push(&scopes->passing, &name);
}

void tfrt_value_scopes_forget_piece(tfrt_value_scopes_t* scopes) {
  for (size_t i = 0; i < scopes->passing.count; ++i) {
    meaning_of(*(const tfrt_ir_string_t**)tfrt_scratch_at(&scopes->passing, i));
  }
  scopes->passing.count = 0;
}

// |scope| is the innermost one.
static definition_t* find_in(const scope_t* scope, const tfrt_ir_string_t* name, uint32_t number) {
  if (number) return find_numbered(scope, name, number);
  definition_t* definition = meaning_of(name);
  return definition && definition->scope == scope ? definition : NULL;
}

// The entry of |name| with the number 0 that is visible.
static definition_t* find_first(const tfrt_value_scopes_t* scopes, const tfrt_ir_string_t* name) {
  definition_t* definition = meaning_of(name);
  if (!definition || definition->scope->level < scopes->top->visible_from) return NULL;
  return definition;
}

// The entry for |reference| that is visible, where |first| is that of the same name with the
// number 0, which most references have.
static definition_t* find_reference(const tfrt_value_scopes_t* scopes,
                                    const tfrt_value_reference_t* reference, definition_t* first) {
  if (!reference->number) return first;
  for (const scope_t* scope = scopes->top; scope; scope = scope->parent) {
    definition_t* definition = find_numbered(scope, reference->name, reference->number);
    if (definition || scope->isolated) return definition;
  }
  return NULL;
}

// Makes the entry for |reference| be found; NULL when memory is out.
static definition_t* add_name(tfrt_value_scopes_t* scopes,
                              const tfrt_value_reference_t* reference) {
  if (reference->number) {
    numbered_t* entry = tfrt_ir_context_allocate_array(scopes->context, 1, sizeof(*entry));
    if (!entry) return NULL;
    entry->key = (key_t){reference->name, reference->number};
    tfrt_hash_table_insert(&scopes->top->numbered, &entry->key, &entry->node);
    return &entry->definition;
  }
  definition_t* definition = tfrt_ir_context_allocate_room(scopes->context, sizeof(*definition));
  if (!definition) return NULL;
  *definition = (definition_t){.outer = meaning_of(reference->name)};
  return give_meaning(scopes, reference->name, definition) ? definition : NULL;
}

// A new entry for |reference| in the top scope, which has none; NULL when memory is out.
static definition_t* add(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference) {
  definition_t* definition = add_name(scopes, reference);
  if (!definition) return NULL;
  definition->offset = (uint32_t)reference->offset;
  definition->scope = scopes->top;
  return definition;
}

// The entry for |reference| in the top scope, made if need be; NULL when memory is out.
static definition_t* get(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference) {
  definition_t* definition = find_in(scopes->top, reference->name, reference->number);
  return definition ? definition : add(scopes, reference);
}

// A value that stands for one that isn't known.
static tfrt_ir_value_t* placeholder(tfrt_value_scopes_t* scopes, const tfrt_ir_type_t* type,
                                    const tfrt_ir_string_t* name) {
  tfrt_ir_argument_t* unknown =
      tfrt_ir_context_allocate_array(scopes->context, 1, sizeof(*unknown));
  if (!unknown) return NULL;
  unknown->value.type = type ? type : tfrt_ir_type_none(scopes->context);
  unknown->value.name = name;
  return unknown->value.type ? &unknown->value : NULL;
}

// Reports that |reference| is used as |type| and is |other|.
static void report_types(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference,
                         const tfrt_ir_type_t* type, const tfrt_ir_type_t* other,
                         const definition_t* definition) {
  tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_ERROR, reference->offset,
                          "use of value '%%%s' expects different type than prior uses: '%s' vs "
                          "'%s'",
                          reference->name->data, type->text->data, other->text->data);
  tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_NOTE, definition->offset,
                          "prior use here");
}

static tfrt_ir_value_t* report_undeclared(tfrt_value_scopes_t* scopes,
                                          const tfrt_value_reference_t* reference,
                                          const tfrt_ir_type_t* type) {
  tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_ERROR, reference->offset,
                          "use of undeclared value '%%%s'", reference->name->data);
  tfrt_value_scopes_poison(scopes, reference);
  return placeholder(scopes, type, reference->name);
}

// A new entry for |reference|, which nothing has defined so far, as |type|; NULL when memory is
// out.
static definition_t* add_early_use(tfrt_value_scopes_t* scopes,
                                   const tfrt_value_reference_t* reference,
                                   const tfrt_ir_type_t* type) {
  scope_t* scope = scopes->top;
  early_use_t* use = tfrt_ir_context_allocate_array(scopes->context, 1, sizeof(*use));
  definition_t* definition = use ? get(scopes, reference) : NULL;
  if (!definition) return NULL;
  definition->value = placeholder(scopes, type, reference->name);
  *use =
      (early_use_t){.definition = definition, .name = reference->name, .number = reference->number};
  *scope->last_next = use;
  scope->last_next = &use->next;
  return definition;
}

// As tfrt_value_scopes_use(), where |first| is the entry of the name with the number 0.
static TFRT_COLD tfrt_ir_value_t* use_or_report(tfrt_value_scopes_t* scopes,
                                                const tfrt_value_reference_t* reference,
                                                const tfrt_ir_type_t* type, definition_t* first) {
  if (first && first->is_poisoned) return placeholder(scopes, type, reference->name);
  definition_t* definition = find_reference(scopes, reference, first);
  if (!definition && first && first->is_defined) {
    tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_ERROR, reference->offset,
                            "reference to invalid result number: '%%%s' has no result %u",
                            reference->name->data, reference->number);
    return placeholder(scopes, type, reference->name);
  }
  if (!definition) {
    if (!type) return report_undeclared(scopes, reference, type);
    definition = add_early_use(scopes, reference, type);
  }
  tfrt_ir_value_t* value = definition ? definition->value : NULL;
  if (!value || !type || value->type == type) return value;
  report_types(scopes, reference, type, value->type, definition);
  return placeholder(scopes, type, reference->name);
}

// True if |definition|, which may be NULL, has a value of |type| (NULL: any).
static inline bool is_known(const definition_t* definition, const tfrt_ir_type_t* type) {
  return definition && !definition->is_poisoned && definition->value &&
         (!type || definition->value->type == type);
}

tfrt_ir_value_t* tfrt_value_scopes_use(tfrt_value_scopes_t* scopes,
                                       const tfrt_value_reference_t* reference,
                                       const tfrt_ir_type_t* type) {
  definition_t* first = find_first(scopes, reference->name);
  // As most of them: known, with the number 0, and of the right type.
  bool is_usual = !reference->number && is_known(first, type);
  return is_usual ? first->value : use_or_report(scopes, reference, type, first);
}

tfrt_ir_value_t* tfrt_value_scopes_find(const tfrt_value_scopes_t* scopes,
                                        const tfrt_ir_string_t* name, const tfrt_ir_type_t* type) {
  const definition_t* first = find_first(scopes, name);
  return is_known(first, type) ? first->value : NULL;
}

bool tfrt_value_scopes_is_free_again(const tfrt_value_scopes_t* scopes,
                                     const tfrt_ir_string_t* name) {
  return !find_first(scopes, name);
}

// Lets the uses of the placeholder of |definition| use |value|, if the types fit.
static bool settle(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference,
                   const definition_t* definition, tfrt_ir_value_t* value) {
  tfrt_ir_value_t* old = definition->value;
  if (old->type == value->type) {
    tfrt_ir_value_replace_all_uses(old, value);
    return true;
  }
  tfrt_value_reference_t use = *reference;
  use.offset = definition->offset;
  definition_t defined_here = *definition;
  defined_here.offset = (uint32_t)reference->offset;
  report_types(scopes, &use, old->type, value->type, &defined_here);
  return false;
}

static TFRT_COLD bool report_redefinition(tfrt_value_scopes_t* scopes,
                                          const tfrt_value_reference_t* reference,
                                          const definition_t* definition) {
  tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_ERROR, reference->offset,
                          "redefinition of SSA value '%%%s'", reference->name->data);
  tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_NOTE, definition->offset,
                          "previously defined here");
  return false;
}

bool tfrt_value_scopes_define(tfrt_value_scopes_t* scopes, const tfrt_value_reference_t* reference,
                              tfrt_ir_value_t* value) {
  definition_t* first = find_first(scopes, reference->name);
  if (first && first->is_poisoned) return true;
  definition_t* definition = find_reference(scopes, reference, first);
  if (definition && definition->is_defined) {
    return report_redefinition(scopes, reference, definition);
  }
  // A value that an outer scope has only used so far is not the one that is defined here.
  definition = definition ? get(scopes, reference) : add(scopes, reference);
  if (!definition) return false;
  bool ok = !definition->value || settle(scopes, reference, definition, value);
  definition->value = value;
  definition->is_defined = true;
  definition->offset = (uint32_t)reference->offset;
  return ok;
}

bool tfrt_value_scopes_define_free(tfrt_value_scopes_t* scopes,
                                   const tfrt_value_reference_t* reference,
                                   tfrt_ir_value_t* value) {
  definition_t* definition = tfrt_ir_context_allocate_room(scopes->context, sizeof(*definition));
  if (!definition) return false;
  // An isolated scope doesn't see what the name means around it.
  *definition = (definition_t){.outer = meaning_of(reference->name),
                               .scope = scopes->top,
                               .value = value,
                               .offset = (uint32_t)reference->offset,
                               .is_defined = true};
  return give_meaning(scopes, reference->name, definition);
}

void tfrt_value_scopes_poison(tfrt_value_scopes_t* scopes,
                              const tfrt_value_reference_t* reference) {
  tfrt_value_reference_t first = *reference;
  first.number = 0;
  definition_t* definition = get(scopes, &first);
  if (definition) definition->is_poisoned = true;
}

// Hands the undefined values of |scope|, which has ended, to the scope that is now on top.
static void leave_to_parent(tfrt_value_scopes_t* scopes, const scope_t* scope) {
  for (const early_use_t* use = scope->first; use; use = use->next) {
    const definition_t* entry = use->definition;
    if (entry->is_defined || entry->is_poisoned || !entry->value) continue;
    tfrt_value_reference_t reference = {use->name, use->number, entry->offset};
    tfrt_ir_value_t* outer = tfrt_value_scopes_use(scopes, &reference, entry->value->type);
    if (outer) tfrt_ir_value_replace_all_uses(entry->value, outer);
  }
}

// Reports what was used in |scope|, the innermost one, and never defined.
static void report_undefined(tfrt_value_scopes_t* scopes, const scope_t* scope) {
  for (const early_use_t* use = scope->first; use; use = use->next) {
    const definition_t* entry = use->definition;
    if (entry->is_defined || entry->is_poisoned) continue;
    const definition_t* first = find_in(scope, use->name, 0);
    if (first && first->is_poisoned) continue;
    bool is_number = first && first->is_defined;
    tfrt_diagnostics_report(scopes->diagnostics, TFRT_SEVERITY_ERROR, entry->offset,
                            is_number
                                ? "reference to invalid result number: '%%%s' has no result %u"
                                : "use of undeclared value '%%%s'",
                            use->name->data, use->number);
  }
}

void tfrt_value_scopes_pop(tfrt_value_scopes_t* scopes) {
  scope_t* scope = scopes->top;
  bool leaves = !scope->isolated && scope->parent;
  if (!leaves) report_undefined(scopes, scope);
  close_scope(scopes, scope);
  if (leaves) leave_to_parent(scopes, scope);
}
