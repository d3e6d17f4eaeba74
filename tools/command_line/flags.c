// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_runtime/base/number_text.h"

static const tfrt_flag_t* flags_find(const tfrt_flag_table_t* table, const char* name,
                                     size_t length) {
  for (size_t i = 0; i < table->flag_count; ++i) {
    const tfrt_flag_t* flag = &table->flags[i];
    if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0) return flag;
  }
  return NULL;
}

static tfrt_status_t flags_set_bool(const tfrt_flag_t* flag, const char* text) {
  bool on = !text || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  if (!on && strcmp(text, "false") != 0 && strcmp(text, "0") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--%s wants true or false, not '%s'",
                              flag->name, text);
  }
  *(bool*)flag->storage = on;
  return NULL;
}

static tfrt_status_t flags_set_number(const tfrt_flag_t* flag, const char* text) {
  int64_t number = 0;
  if (!tfrt_number_text_parse_i64(tfrt_string_view_of(text), &number) || number < flag->minimum ||
      number > flag->maximum) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--%s wants a number from %lld to %lld, not '%s'", flag->name,
                              (long long)flag->minimum, (long long)flag->maximum, text);
  }
  *(int64_t*)flag->storage = number;
  return NULL;
}

static tfrt_status_t flags_add(tfrt_flag_list_t* list, const char* what, const char* text) {
  if (list->count == TFRT_FLAG_MAX_LIST) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "more than %d %s", TFRT_FLAG_MAX_LIST,
                              what);
  }
  list->values[list->count++] = text;
  return NULL;
}

static tfrt_status_t flags_set_path(const tfrt_flag_t* flag, const char* text) {
  if (*text == '\0') {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--%s wants a value, %s, and this one is empty", flag->name,
                              flag->value);
  }
  *(const char**)flag->storage = text;
  return NULL;
}

static tfrt_status_t flags_set(const tfrt_flag_t* flag, const char* text) {
  switch (flag->kind) {
    case TFRT_FLAG_BOOL:
      return flags_set_bool(flag, text);
    case TFRT_FLAG_TEXT:
      *(const char**)flag->storage = text;
      return NULL;
    case TFRT_FLAG_PATH:
      return flags_set_path(flag, text);
    case TFRT_FLAG_NUMBER:
      return flags_set_number(flag, text);
    case TFRT_FLAG_LIST:
      return flags_add(flag->storage, flag->name, text);
    case TFRT_FLAG_STEP:
      if (!text) return flags_add(flag->storage, flag->name, flag->name);
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--%s stands alone, without '=%s'",
                                flag->name, text);
  }
  return NULL;
}

static void flags_print_one(const char* name, const char* value, const char* help) {
  char left[64];
  const char* dashes = strlen(name) == 1 ? "-" : "--";
  snprintf(left, sizeof(left), "%s%s%s%s", dashes, name, value ? "=" : "", value ? value : "");
  printf("  %-28s %s\n", left, help);
}

static void flags_print_help(const tfrt_flag_table_t* table) {
  printf("Usage: %s\n\n%s\n\nFlags:\n", table->usage, table->summary);
  for (size_t i = 0; i < table->flag_count; ++i) {
    const tfrt_flag_t* flag = &table->flags[i];
    flags_print_one(flag->name, flag->value, flag->help);
  }
  flags_print_one("help", NULL, "print this");
  flags_print_one("version", NULL, "print which version this is");
  if (table->footer) printf("\n%s\n", table->footer);
}

// Answers the question |name|, which is no flag of |table|; false if it is none.
static bool flags_answer(const tfrt_flag_table_t* table, const char* name) {
  if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) {
    flags_print_help(table);
    return true;
  }
  if (strcmp(name, "version") != 0) return false;
  // The usage begins with the program's name.
  tfrt_version_print(tfrt_string_view_make(table->usage, strcspn(table->usage, " ")),
                     table->protocol);
  return true;
}

tfrt_status_t tfrt_flags_parse(const tfrt_flag_table_t* table, int argument_count,
                               char* const* arguments, tfrt_flag_list_t* out_positional,
                               bool* out_help) {
  out_positional->count = 0;
  *out_help = false;
  bool flags_ended = false;
  for (int i = 0; i < argument_count; ++i) {
    const char* argument = arguments[i];
    if (flags_ended || argument[0] != '-' || argument[1] == '\0') {
      TFRT_RETURN_IF_ERROR(flags_add(out_positional, "arguments", argument));
      continue;
    }
    if (strcmp(argument, "--") == 0) {
      flags_ended = true;
      continue;
    }
    const char* name = argument + (argument[1] == '-' ? 2 : 1);
    const char* equals = strchr(name, '=');
    const tfrt_flag_t* flag =
        flags_find(table, name, equals ? (size_t)(equals - name) : strlen(name));
    *out_help = !flag && flags_answer(table, name);
    if (*out_help) return NULL;
    if (!flag) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "unknown flag '%s'; --help lists them", argument);
    }
    const char* text = equals ? equals + 1 : NULL;
    if (!text && flag->kind != TFRT_FLAG_BOOL && flag->kind != TFRT_FLAG_STEP) {
      if (i + 1 == argument_count) {
        return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--%s wants a value, %s",
                                  flag->name, flag->value);
      }
      text = arguments[++i];
    }
    TFRT_RETURN_IF_ERROR(flags_set(flag, text));
  }
  return NULL;
}

const char* tfrt_flags_last_value(int argument_count, char* const* arguments, const char* name) {
  const char* value = NULL;
  const size_t size = strlen(name);
  for (int i = 0; i < argument_count && strcmp(arguments[i], "--") != 0; ++i) {
    const char* argument = arguments[i];
    if (argument[0] != '-') continue;
    argument += argument[1] == '-' ? 2 : 1;
    if (strncmp(argument, name, size) != 0) continue;
    if (argument[size] == '=') value = argument + size + 1;
    if (argument[size] == '\0' && i + 1 < argument_count) value = arguments[++i];
  }
  return value;
}
