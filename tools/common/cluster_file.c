// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cluster_file.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/macros.h"

// All scalars are read as texts: the flags' parser knows what they must be.
typedef struct tfrt_cluster_file_content_s {
  char** hosts;
  unsigned hosts_count;
  char** arguments;
  unsigned arguments_count;
  char* hostfile;
  char* local;
  char* in_process;
  char* function;
  char* timeout;
  char* threads;
  char* output;
  char* trace;
  char* verbose;
  char* print_error_code;
  char* key_file;
  char* tls_dir;
  char* tls_name;
  char* heartbeat_ms;
  char* silence_ms;
  char* worker;
  char* shared_libs;
  char* check_types;
  char* job_calls;
  char* job_objects;
  char* job_requests;
  char* job_memory;
  char* data_directory;
  char* log_level;
  char* log_format;
  char* drain_timeout_ms;
  char* insecure_network;
  char* detach;
  char* keep_ms;
} tfrt_cluster_file_content_t;

static const cyaml_schema_value_t tfrt_cluster_file_text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, 4096)};

#define TFRT_CLUSTER_FILE_TEXT(key, member)                             \
  CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, \
                         tfrt_cluster_file_content_t, member, 0, 4096)
#define TFRT_CLUSTER_FILE_LIST(key, member)                                                        \
  CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tfrt_cluster_file_content_t, \
                       member, &tfrt_cluster_file_text, 0, TFRT_FLAG_MAX_LIST)

static const cyaml_schema_field_t tfrt_cluster_file_fields[] = {
    TFRT_CLUSTER_FILE_LIST("hosts", hosts),
    TFRT_CLUSTER_FILE_LIST("arg", arguments),
    TFRT_CLUSTER_FILE_TEXT("hostfile", hostfile),
    TFRT_CLUSTER_FILE_TEXT("local", local),
    TFRT_CLUSTER_FILE_TEXT("in-process", in_process),
    TFRT_CLUSTER_FILE_TEXT("function", function),
    TFRT_CLUSTER_FILE_TEXT("timeout", timeout),
    TFRT_CLUSTER_FILE_TEXT("threads", threads),
    TFRT_CLUSTER_FILE_TEXT("o", output),
    TFRT_CLUSTER_FILE_TEXT("trace", trace),
    TFRT_CLUSTER_FILE_TEXT("v", verbose),
    TFRT_CLUSTER_FILE_TEXT("print_error_code", print_error_code),
    TFRT_CLUSTER_FILE_TEXT("cluster-key-file", key_file),
    TFRT_CLUSTER_FILE_TEXT("tls-dir", tls_dir),
    TFRT_CLUSTER_FILE_TEXT("tls-name", tls_name),
    TFRT_CLUSTER_FILE_TEXT("heartbeat-ms", heartbeat_ms),
    TFRT_CLUSTER_FILE_TEXT("silence-ms", silence_ms),
    TFRT_CLUSTER_FILE_TEXT("worker", worker),
    TFRT_CLUSTER_FILE_TEXT("shared_libs", shared_libs),
    TFRT_CLUSTER_FILE_TEXT("check_types", check_types),
    TFRT_CLUSTER_FILE_TEXT("job-calls", job_calls),
    TFRT_CLUSTER_FILE_TEXT("job-objects", job_objects),
    TFRT_CLUSTER_FILE_TEXT("job-requests", job_requests),
    TFRT_CLUSTER_FILE_TEXT("job-memory", job_memory),
    TFRT_CLUSTER_FILE_TEXT("data-directory", data_directory),
    TFRT_CLUSTER_FILE_TEXT("log-level", log_level),
    TFRT_CLUSTER_FILE_TEXT("log-format", log_format),
    TFRT_CLUSTER_FILE_TEXT("drain-timeout-ms", drain_timeout_ms),
    TFRT_CLUSTER_FILE_TEXT("insecure-network", insecure_network),
    TFRT_CLUSTER_FILE_TEXT("detach", detach),
    TFRT_CLUSTER_FILE_TEXT("keep-ms", keep_ms),
    CYAML_FIELD_END};

static const cyaml_schema_value_t tfrt_cluster_file_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, tfrt_cluster_file_content_t, tfrt_cluster_file_fields)};

// --- Loading -------------------------------------------------------------------

// What the library says is wrong: its first words, and where.
typedef struct tfrt_cluster_file_fault_s {
  char text[256];
  unsigned line;
} tfrt_cluster_file_fault_t;

static void tfrt_cluster_file_note(cyaml_log_t level, void* context, const char* format,
                                   va_list arguments) {
  tfrt_cluster_file_fault_t* fault = context;
  char text[sizeof(fault->text)];
  vsnprintf(text, sizeof(text), format, arguments);
  text[strcspn(text, "\n")] = '\0';
  const char* place = strstr(text, "line: ");
  if (place && fault->line == 0) sscanf(place, "line: %u", &fault->line);
  if (level < CYAML_LOG_ERROR || fault->text[0]) return;
  const char* words = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
  snprintf(fault->text, sizeof(fault->text), "%s", words);
}

static const cyaml_config_t tfrt_cluster_file_config = {
    .log_fn = tfrt_cluster_file_note, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_INFO};

// The line of |file| that |key|, of |size| bytes, begins; 1 if none does.
static unsigned tfrt_cluster_file_line_of(const tfrt_cluster_file_t* file, const char* key,
                                          size_t size) {
  unsigned number = 1;
  for (const char* line = tfrt_string_builder_text(&file->text); line; ++number) {
    if (strncmp(line, key, size) == 0 && line[size + strspn(line + size, " ")] == ':') {
      return number;
    }
    line = strchr(line, '\n');
    if (line) ++line;
  }
  return 1;
}

// The library tells of a key that it doesn't know where it read the one before.
static void tfrt_cluster_file_correct(const tfrt_cluster_file_t* file,
                                      tfrt_cluster_file_fault_t* fault) {
  static const char prefix[] = "Unexpected key: ";
  if (strncmp(fault->text, prefix, sizeof(prefix) - 1) != 0) return;
  const char* key = fault->text + sizeof(prefix) - 1;
  fault->line = tfrt_cluster_file_line_of(file, key, strlen(key));
}

// Loads the text of |file|.
static tfrt_status_t tfrt_cluster_file_load_text(tfrt_cluster_file_t* file) {
  tfrt_cluster_file_fault_t fault = {0};
  cyaml_config_t config = tfrt_cluster_file_config;
  config.log_ctx = &fault;
  tfrt_string_view_t text = tfrt_string_builder_view(&file->text);
  cyaml_err_t error =
      cyaml_load_data((const uint8_t*)text.data, text.size, &config, &tfrt_cluster_file_schema,
                      (cyaml_data_t**)&file->content, NULL);
  if (error == CYAML_OK && file->content) return NULL;
  if (error == CYAML_OK) snprintf(fault.text, sizeof(fault.text), "it is empty");
  tfrt_cluster_file_correct(file, &fault);
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s:%u: %s; the keys are the flags of tfrt run and tfrt_worker, with "
                            "lists for `hosts` and `arg`",
                            file->path, fault.line > 0 ? fault.line : 1,
                            fault.text[0] ? fault.text : cyaml_strerror(error));
}

// --- Arguments -----------------------------------------------------------------

static void tfrt_cluster_file_add(tfrt_cluster_file_t* file, const char* key, const char* value) {
  if (!value) return;
  tfrt_string_builder_append_format(&file->arguments, "--%s=%s", key, value);
  tfrt_string_builder_append_char(&file->arguments, '\0');
}

static void tfrt_cluster_file_add_texts(tfrt_cluster_file_t* file) {
  for (const cyaml_schema_field_t* field = tfrt_cluster_file_fields; field->key; ++field) {
    if (field->value.type != CYAML_STRING) continue;
    const char* value = *(char**)((char*)file->content + field->data_offset);
    tfrt_cluster_file_add(file, field->key, value);
  }
}

static void tfrt_cluster_file_add_lists(tfrt_cluster_file_t* file) {
  const tfrt_cluster_file_content_t* content = file->content;
  for (unsigned i = 0; i < content->hosts_count; ++i) {
    tfrt_string_builder_append_format(&file->arguments, "%s%s",
                                      i > 0 ? "," : "--hosts=", content->hosts[i]);
  }
  if (content->hosts_count > 0) tfrt_string_builder_append_char(&file->arguments, '\0');
  for (unsigned i = 0; i < content->arguments_count; ++i) {
    tfrt_cluster_file_add(file, "arg", content->arguments[i]);
  }
}

tfrt_status_t tfrt_cluster_file_load(const char* path, tfrt_cluster_file_t* out_file) {
  *out_file = (tfrt_cluster_file_t){.path = path};
  tfrt_string_builder_initialize(&out_file->text, tfrt_allocator_system());
  tfrt_string_builder_initialize(&out_file->arguments, tfrt_allocator_system());
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_string_builder_append(&out_file->text, contents.data, contents.size);
  tfrt_file_contents_deinitialize(&contents);
  TFRT_RETURN_IF_ERROR(tfrt_string_builder_status(&out_file->text));
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_load_text(out_file));
  tfrt_cluster_file_add_texts(out_file);
  tfrt_cluster_file_add_lists(out_file);
  return tfrt_string_builder_status(&out_file->arguments);
}

// --- Flags ---------------------------------------------------------------------

static bool tfrt_cluster_file_has_flag(const tfrt_flag_table_t* table, const char* key,
                                       size_t size) {
  for (size_t i = 0; i < table->flag_count; ++i) {
    const char* name = table->flags[i].name;
    if (strlen(name) == size && memcmp(name, key, size) == 0) return true;
  }
  return false;
}

tfrt_status_t tfrt_cluster_file_apply(const tfrt_cluster_file_t* file,
                                      const tfrt_flag_table_t* table) {
  const char* argument = tfrt_string_builder_text(&file->arguments);
  const char* end = argument + tfrt_string_builder_view(&file->arguments).size;
  for (; argument < end; argument += strlen(argument) + 1) {
    const char* key = argument + 2;
    size_t size = strcspn(key, "=");
    if (!tfrt_cluster_file_has_flag(table, key, size)) continue;
    static tfrt_flag_list_t rest;
    bool help = false;
    tfrt_status_t status = tfrt_flags_parse(table, 1, (char* const*)&argument, &rest, &help);
    if (!status) continue;
    return tfrt_status_take_annotate(status, "%s:%u", file->path,
                                     tfrt_cluster_file_line_of(file, key, size));
  }
  return NULL;
}

void tfrt_cluster_file_free(tfrt_cluster_file_t* file) {
  if (!file->path) return;
  cyaml_config_t config = tfrt_cluster_file_config;
  tfrt_cluster_file_fault_t fault = {0};
  config.log_ctx = &fault;
  if (file->content) cyaml_free(&config, &tfrt_cluster_file_schema, file->content, 0);
  tfrt_string_builder_deinitialize(&file->text);
  tfrt_string_builder_deinitialize(&file->arguments);
  file->path = NULL;
}
