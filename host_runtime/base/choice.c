// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/choice.h"

#include <string.h>

static const tfrt_choice_t* find_locked(const tfrt_choice_table_t* table, tfrt_string_view_t name) {
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_choice_t* choice = table->entries[i];
    if (tfrt_string_view_equal(tfrt_string_view_of(choice->name), name)) return choice;
  }
  return NULL;
}

static tfrt_status_t add_locked(tfrt_choice_table_t* table, const tfrt_choice_t* choice) {
  const tfrt_choice_t* known = find_locked(table, tfrt_string_view_of(choice->name));
  if (known == choice) return NULL;
  if (known) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "there is a %s '%s' already; choose another name", table->what,
                              choice->name);
  }
  if (table->count == TFRT_CHOICE_MAX_COUNT) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED,
                              "no room for a %s '%s': there are %d already", table->what,
                              choice->name, TFRT_CHOICE_MAX_COUNT);
  }
  table->entries[table->count++] = choice;
  return NULL;
}

tfrt_status_t tfrt_choice_add(tfrt_choice_table_t* table, const tfrt_choice_t* choice) {
  if (!choice->name || !choice->name[0] || strchr(choice->name, ':')) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "a %s needs a name without a colon",
                              table->what);
  }
  tfrt_mutex_lock(&table->mutex);
  tfrt_status_t status = add_locked(table, choice);
  tfrt_mutex_unlock(&table->mutex);
  return status;
}

void tfrt_choice_append_all(tfrt_choice_table_t* table, tfrt_string_builder_t* out) {
  tfrt_mutex_lock(&table->mutex);
  for (size_t i = 0; i < table->count; ++i) {
    tfrt_string_builder_append_format(out, "%s%s%s", i > 0 ? ", " : "", table->entries[i]->name,
                                      table->entries[i]->usage);
  }
  tfrt_mutex_unlock(&table->mutex);
}

static tfrt_status_t unknown(tfrt_choice_table_t* table, tfrt_string_view_t name) {
  tfrt_string_builder_t known;
  tfrt_string_builder_initialize(&known, tfrt_allocator_system());
  tfrt_choice_append_all(table, &known);
  tfrt_status_t status = tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT, "there is no %s '%.*s'; there are %s", table->what,
      TFRT_STRING_VIEW_ARGUMENTS(name), tfrt_string_builder_text(&known));
  tfrt_string_builder_deinitialize(&known);
  return status;
}

tfrt_status_t tfrt_choice_find(tfrt_choice_table_t* table, const char* text,
                               const tfrt_choice_t** out_choice, const char** out_arguments) {
  size_t size = strcspn(text, ":");
  bool has_colon = text[size] == ':';
  tfrt_string_view_t name = tfrt_string_view_make(text, size);
  *out_arguments = text + size + has_colon;
  tfrt_mutex_lock(&table->mutex);
  *out_choice = find_locked(table, name);
  tfrt_mutex_unlock(&table->mutex);
  if (!*out_choice) return unknown(table, name);
  if (!has_colon || ((*out_choice)->usage[0] && (*out_arguments)[0])) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%s' is not how a %s is written: %s%s",
                            text, table->what, (*out_choice)->name, (*out_choice)->usage);
}
