// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/cluster_file.h"

#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/macros.h"

// Far more than the addresses of all hosts and the arguments of a command line.
#define TFRT_CLUSTER_FILE_MAX_SIZE ((size_t)4 * 1024 * 1024)

// All values are read as texts: the flags' parser knows what they must be. These two are lists.
#define TFRT_CLUSTER_FILE_HOSTS "hosts"
#define TFRT_CLUSTER_FILE_ARG "arg"

// Flags of tfrt_worker that no two processes of a cluster share, for people.
#define TFRT_CLUSTER_FILE_OWN_FLAGS "listen, name, pid-file, rank, ready-file, stop-with-stdin"

static const char* const tfrt_cluster_file_keys[] = {TFRT_CLUSTER_FILE_HOSTS,
                                                     TFRT_CLUSTER_FILE_ARG,
                                                     "hostfile",
                                                     "local",
                                                     "bind",
                                                     "in-process",
                                                     "function",
                                                     "timeout",
                                                     "threads",
                                                     "o",
                                                     "trace",
                                                     "profile",
                                                     "use-profile",
                                                     "v",
                                                     "print_error_code",
                                                     "cluster-key-file",
                                                     "tls-dir",
                                                     "tls-name",
                                                     "heartbeat-ms",
                                                     "silence-ms",
                                                     "stop-on-loss",
                                                     "worker",
                                                     "shared_libs",
                                                     "device_libs",
                                                     "check_types",
                                                     "check_races",
                                                     "no-insert-chains",
                                                     "no-cache",
                                                     "shape",
                                                     "split",
                                                     "image",
                                                     "size",
                                                     "mean",
                                                     "std",
                                                     "channels-last",
                                                     "top",
                                                     "labels",
                                                     "job-calls",
                                                     "job-objects",
                                                     "job-requests",
                                                     "job-memory",
                                                     "data-directory",
                                                     "log-level",
                                                     "log-format",
                                                     "drain-timeout-ms",
                                                     "insecure-network",
                                                     "lend-memory",
                                                     "detach",
                                                     "keep-ms"};

// --- Events --------------------------------------------------------------------

// The text on its way, one event after the other.
typedef struct tfrt_cluster_file_reader_s {
  tfrt_cluster_file_t* file;
  yaml_parser_t parser;
  yaml_event_t event;                                           // the last one
  uint32_t key_lines[TFRT_ARRAY_SIZE(tfrt_cluster_file_keys)];  // where each stands; 0: it doesn't
} tfrt_cluster_file_reader_t;

// The lines of the library begin with 0.
static uint32_t cluster_file_line(const tfrt_cluster_file_reader_t* reader) {
  return (uint32_t)reader->event.start_mark.line + 1;
}

#define TFRT_CLUSTER_FILE_ERROR(reader, format, ...)                                       \
  tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s:%u: " format, (reader)->file->path, \
                     cluster_file_line(reader), __VA_ARGS__)

// Reads the next event.
static tfrt_status_t cluster_file_next(tfrt_cluster_file_reader_t* reader) {
  yaml_event_delete(&reader->event);
  const yaml_parser_t* parser = &reader->parser;
  if (yaml_parser_parse(&reader->parser, &reader->event)) return NULL;
  if (parser->error == YAML_MEMORY_ERROR) return tfrt_status_out_of_memory();
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s:%u: this is no YAML: %s",
                            reader->file->path, (uint32_t)parser->problem_mark.line + 1,
                            parser->problem ? parser->problem : "no text in UTF-8 or UTF-16");
}

// The name of the last event, for messages.
static const char* cluster_file_kind(const tfrt_cluster_file_reader_t* reader) {
  switch (reader->event.type) {
    case YAML_SCALAR_EVENT:
      return "one value";
    case YAML_SEQUENCE_START_EVENT:
      return "a list";
    case YAML_MAPPING_START_EVENT:
      return "a mapping";
    default:
      return "an alias";
  }
}

// Sets |*out_text| to the scalar that the last event is, until the next one.
static tfrt_status_t cluster_file_text(const tfrt_cluster_file_reader_t* reader, const char* what,
                                       const char** out_text) {
  const yaml_event_t* event = &reader->event;
  if (event->type != YAML_SCALAR_EVENT) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "%s wants one value, and here is %s", what,
                                   cluster_file_kind(reader));
  }
  *out_text = (const char*)event->data.scalar.value;
  if (strlen(*out_text) == event->data.scalar.length) return NULL;
  return TFRT_CLUSTER_FILE_ERROR(reader, "the value of %s has a zero byte in it", what);
}

// --- Values --------------------------------------------------------------------

// Adds the argument --|key|=|value|; |line| is where that stands.
static tfrt_status_t cluster_file_add(tfrt_cluster_file_reader_t* reader, uint32_t line,
                                      const char* key, const char* value) {
  tfrt_cluster_file_t* file = reader->file;
  if (file->count == TFRT_CLUSTER_FILE_MAX_VALUES) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "these are more than %d values",
                                   TFRT_CLUSTER_FILE_MAX_VALUES);
  }
  tfrt_string_builder_append_format(&file->arguments, "--%s=%s", key, value);
  tfrt_string_builder_append_char(&file->arguments, '\0');
  file->lines[file->count++] = line;
  return tfrt_string_builder_status(&file->arguments);
}

// Takes one entry of the list |key|.
static tfrt_status_t cluster_file_take_entry(tfrt_cluster_file_reader_t* reader, const char* key) {
  const char* text = NULL;
  TFRT_RETURN_IF_ERROR(cluster_file_text(reader, key, &text));
  uint32_t line = cluster_file_line(reader);
  if (strcmp(key, TFRT_CLUSTER_FILE_ARG) == 0) {
    const char* equals = strchr(text, '=');
    if (equals && equals != text) return cluster_file_add(reader, line, key, text);
    return TFRT_CLUSTER_FILE_ERROR(reader, "%s wants NAME=VALUE or POSITION=VALUE, not '%s'", key,
                                   text);
  }
  if (strchr(text, ',')) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "'%s' is no HOST:PORT; give each worker a line", text);
  }
  return tfrt_hostfile_add_worker(&reader->file->hosts, reader->file->path, line,
                                  tfrt_string_view_of(text));
}

// Takes the hosts that |reader| has read for one argument.
static tfrt_status_t cluster_file_add_hosts(tfrt_cluster_file_reader_t* reader, uint32_t line) {
  const tfrt_hostfile_t* hosts = &reader->file->hosts;
  if (hosts->count == 0) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "%s names no worker; write a line - HOST:PORT for each",
                                   TFRT_CLUSTER_FILE_HOSTS);
  }
  tfrt_string_builder_t text;
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
  for (uint32_t i = 0; i < hosts->count; ++i) {
    tfrt_string_builder_append_format(&text, "%s%s", i > 0 ? "," : "", hosts->addresses[i]);
  }
  tfrt_status_t status = tfrt_status_retain(tfrt_string_builder_status(&text));
  if (!status) {
    status =
        cluster_file_add(reader, line, TFRT_CLUSTER_FILE_HOSTS, tfrt_string_builder_text(&text));
  }
  tfrt_string_builder_deinitialize(&text);
  return status;
}

static tfrt_status_t cluster_file_read_list(tfrt_cluster_file_reader_t* reader, const char* key) {
  uint32_t line = cluster_file_line(reader);
  if (reader->event.type != YAML_SEQUENCE_START_EVENT) {
    return TFRT_CLUSTER_FILE_ERROR(reader,
                                   "%s wants a list, a line - VALUE for each, and here is %s", key,
                                   cluster_file_kind(reader));
  }
  for (;;) {
    TFRT_RETURN_IF_ERROR(cluster_file_next(reader));
    if (reader->event.type == YAML_SEQUENCE_END_EVENT) break;
    TFRT_RETURN_IF_ERROR(cluster_file_take_entry(reader, key));
  }
  if (strcmp(key, TFRT_CLUSTER_FILE_HOSTS) != 0) return NULL;
  return cluster_file_add_hosts(reader, line);
}

// --- The file ------------------------------------------------------------------

// Sets |*out_key| to the key that the last event is.
static tfrt_status_t cluster_file_read_key(tfrt_cluster_file_reader_t* reader,
                                           const char** out_key) {
  const char* text = NULL;
  TFRT_RETURN_IF_ERROR(cluster_file_text(reader, "a key", &text));
  size_t i = 0;
  while (i < TFRT_ARRAY_SIZE(tfrt_cluster_file_keys) &&
         strcmp(tfrt_cluster_file_keys[i], text) != 0) {
    ++i;
  }
  if (i == TFRT_ARRAY_SIZE(tfrt_cluster_file_keys)) {
    return TFRT_CLUSTER_FILE_ERROR(
        reader,
        "there is no key '%s'; the keys are the flags of tfrt run and tfrt_worker, without cluster "
        "and those that are one process's own: " TFRT_CLUSTER_FILE_OWN_FLAGS,
        text);
  }
  if (reader->key_lines[i] > 0) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "%s stands in line %u already; give it once", text,
                                   reader->key_lines[i]);
  }
  reader->key_lines[i] = cluster_file_line(reader);
  *out_key = tfrt_cluster_file_keys[i];
  return NULL;
}

static tfrt_status_t cluster_file_read_pairs(tfrt_cluster_file_reader_t* reader) {
  for (;;) {
    TFRT_RETURN_IF_ERROR(cluster_file_next(reader));
    if (reader->event.type == YAML_MAPPING_END_EVENT) return NULL;
    const char* key = NULL;
    TFRT_RETURN_IF_ERROR(cluster_file_read_key(reader, &key));
    TFRT_RETURN_IF_ERROR(cluster_file_next(reader));
    bool is_list =
        strcmp(key, TFRT_CLUSTER_FILE_HOSTS) == 0 || strcmp(key, TFRT_CLUSTER_FILE_ARG) == 0;
    if (is_list) {
      TFRT_RETURN_IF_ERROR(cluster_file_read_list(reader, key));
      continue;
    }
    const char* value = NULL;
    TFRT_RETURN_IF_ERROR(cluster_file_text(reader, key, &value));
    TFRT_RETURN_IF_ERROR(cluster_file_add(reader, cluster_file_line(reader), key, value));
  }
}

static tfrt_status_t cluster_file_read(tfrt_cluster_file_reader_t* reader) {
  TFRT_RETURN_IF_ERROR(cluster_file_next(reader));  // begin of the stream
  TFRT_RETURN_IF_ERROR(cluster_file_next(reader));
  if (reader->event.type == YAML_STREAM_END_EVENT) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "%s", "the file is empty; name the hosts: in it");
  }
  TFRT_RETURN_IF_ERROR(cluster_file_next(reader));
  if (reader->event.type != YAML_MAPPING_START_EVENT) {
    return TFRT_CLUSTER_FILE_ERROR(reader, "the file wants lines KEY: VALUE, and here is %s",
                                   cluster_file_kind(reader));
  }
  TFRT_RETURN_IF_ERROR(cluster_file_read_pairs(reader));
  TFRT_RETURN_IF_ERROR(cluster_file_next(reader));  // end of the document
  TFRT_RETURN_IF_ERROR(cluster_file_next(reader));
  if (reader->event.type == YAML_STREAM_END_EVENT) return NULL;
  return TFRT_CLUSTER_FILE_ERROR(
      reader, "%s",
      "a second document begins here, and a cluster file has one: remove one of them");
}

tfrt_status_t tfrt_cluster_file_load(const char* path, tfrt_cluster_file_t* out_file) {
  *out_file = (tfrt_cluster_file_t){.path = path};
  tfrt_string_builder_initialize(&out_file->arguments, tfrt_allocator_system());
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(
      tfrt_file_read_at_most(path, TFRT_CLUSTER_FILE_MAX_SIZE, tfrt_allocator_system(), &contents));
  tfrt_cluster_file_reader_t reader = {.file = out_file};
  tfrt_status_t status = NULL;
  if (yaml_parser_initialize(&reader.parser)) {
    yaml_parser_set_input_string(&reader.parser, contents.data, contents.size);
    status = cluster_file_read(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
  } else {
    status = tfrt_status_out_of_memory();
  }
  tfrt_file_contents_deinitialize(&contents);
  return status;
}

void tfrt_cluster_file_free(tfrt_cluster_file_t* file) {
  if (!file->path) return;
  tfrt_string_builder_deinitialize(&file->arguments);
  file->path = NULL;
}

// --- Flags ---------------------------------------------------------------------

static bool cluster_file_has_flag(const tfrt_flag_table_t* table, const char* key, size_t size) {
  for (size_t i = 0; i < table->flag_count; ++i) {
    const char* name = table->flags[i].name;
    if (strlen(name) == size && memcmp(name, key, size) == 0) return true;
  }
  return false;
}

tfrt_status_t tfrt_cluster_file_apply(const tfrt_cluster_file_t* file,
                                      const tfrt_flag_table_t* table) {
  const char* argument = tfrt_string_builder_text(&file->arguments);
  for (uint32_t i = 0; i < file->count; ++i, argument += strlen(argument) + 1) {
    const char* key = argument + 2;
    if (!cluster_file_has_flag(table, key, strcspn(key, "="))) continue;
    static tfrt_flag_list_t rest;
    bool help = false;
    tfrt_status_t status = tfrt_flags_parse(table, 1, (char* const*)&argument, &rest, &help);
    if (status) return tfrt_status_take_annotate(status, "%s:%u", file->path, file->lines[i]);
  }
  return NULL;
}

tfrt_status_t tfrt_cluster_file_locate(const tfrt_cluster_file_t* file, const char* text,
                                       tfrt_status_t status) {
  if (!status || !file->path) return status;
  const char* argument = tfrt_string_builder_text(&file->arguments);
  for (uint32_t i = 0; i < file->count; ++i) {
    const char* end = argument + strlen(argument);
    // As numbers: |text| may be of anywhere.
    if ((uintptr_t)text >= (uintptr_t)argument && (uintptr_t)text <= (uintptr_t)end) {
      return tfrt_status_take_annotate(status, "--cluster: %s:%u", file->path, file->lines[i]);
    }
    argument = end + 1;
  }
  return status;
}

// The line in which |file| sets |key|; 0: it does not.
static uint32_t cluster_file_find_key(const tfrt_cluster_file_t* file, const char* key) {
  size_t size = strlen(key);
  const char* argument = tfrt_string_builder_text(&file->arguments);
  for (uint32_t i = 0; i < file->count; ++i, argument += strlen(argument) + 1) {
    bool is_it = strncmp(argument + 2, key, size) == 0 && argument[2 + size] == '=';
    if (is_it) return file->lines[i];
  }
  return 0;
}

bool tfrt_cluster_file_sets(const tfrt_cluster_file_t* file, const char* key) {
  return file->path && cluster_file_find_key(file, key) > 0;
}

tfrt_status_t tfrt_cluster_file_locate_key(const tfrt_cluster_file_t* file, const char* key,
                                           const char* other, int argument_count,
                                           char* const* arguments, tfrt_status_t status) {
  const char* const keys[] = {key, other};
  for (size_t i = 0; status && file->path && i < TFRT_ARRAY_SIZE(keys); ++i) {
    if (!keys[i] || tfrt_flags_last_value(argument_count, arguments, keys[i])) continue;
    uint32_t line = cluster_file_find_key(file, keys[i]);
    if (line > 0) return tfrt_status_take_annotate(status, "--cluster: %s:%u", file->path, line);
  }
  return status;
}
