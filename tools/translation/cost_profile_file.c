// SPDX-License-Identifier: Apache-2.0
#include "tools/translation/cost_profile_file.h"

#include <string.h>
#include <yaml.h>

#include "host_runtime/base/file.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/string_builder.h"

// Some hundred bytes for each op of the largest programs.
#define TFRT_COST_PROFILE_FILE_MAX_SIZE ((size_t)1 << 30)

#define TFRT_COST_PROFILE_VERSION 1

// The text on its way: JSON is YAML, too.
typedef struct tfrt_cost_profile_reader_s {
  const char* path;
  yaml_parser_t parser;
  yaml_event_t event;  // the last one
  tfrt_cost_profile_t* profile;
} tfrt_cost_profile_reader_t;

// Lines of the library begin with 0.
static tfrt_status_t cost_profile_refuse(const tfrt_cost_profile_reader_t* reader,
                                         const char* what) {
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s:%zu: %s; write the profile anew with --profile", reader->path,
                            reader->event.start_mark.line + 1, what);
}

static tfrt_status_t cost_profile_next(tfrt_cost_profile_reader_t* reader) {
  yaml_event_delete(&reader->event);
  if (yaml_parser_parse(&reader->parser, &reader->event)) return NULL;
  if (reader->parser.error == YAML_MEMORY_ERROR) return tfrt_status_out_of_memory();
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s:%zu: this is no JSON: %s; write the profile anew with "
                            "--profile",
                            reader->path, reader->parser.problem_mark.line + 1,
                            reader->parser.problem ? reader->parser.problem : "no text in UTF-8");
}

static tfrt_status_t cost_profile_expect(tfrt_cost_profile_reader_t* reader, yaml_event_type_t type,
                                         const char* what) {
  TFRT_RETURN_IF_ERROR(cost_profile_next(reader));
  return reader->event.type == type ? NULL : cost_profile_refuse(reader, what);
}

// The scalar that the last event is.
static tfrt_string_view_t cost_profile_text(const tfrt_cost_profile_reader_t* reader) {
  return tfrt_string_view_make((const char*)reader->event.data.scalar.value,
                               reader->event.data.scalar.length);
}

// Sets |*out_number| to the scalar that the last event is.
static tfrt_status_t cost_profile_number(const tfrt_cost_profile_reader_t* reader, uint64_t limit,
                                         uint64_t* out_number) {
  bool is_number =
      tfrt_number_text_parse_u64(cost_profile_text(reader), out_number) && *out_number <= limit;
  return is_number ? NULL : cost_profile_refuse(reader, "this is no number, or too large");
}

// --- Ops ---------------------------------------------------------------------

// The texts of an op, which the events don't keep.
typedef struct tfrt_cost_profile_texts_s {
  tfrt_string_builder_t kernel;
  tfrt_string_builder_t file;
} tfrt_cost_profile_texts_t;

// Takes the value that the last event is, of |key|, a key of an op.
static tfrt_status_t cost_profile_take_value(tfrt_cost_profile_reader_t* reader, const char* key,
                                             tfrt_cost_profile_op_t* op,
                                             tfrt_cost_profile_texts_t* texts) {
  uint64_t number = 0;
  if (strcmp(key, "kernel") == 0 || strcmp(key, "file") == 0) {
    tfrt_string_builder_t* text = *key == 'k' ? &texts->kernel : &texts->file;
    tfrt_string_view_t value = cost_profile_text(reader);
    tfrt_string_builder_append(text, value.data, value.size);
    return tfrt_string_builder_status(text);
  }
  if (strcmp(key, "line") == 0 || strcmp(key, "column") == 0) {
    TFRT_RETURN_IF_ERROR(cost_profile_number(reader, UINT32_MAX, &number));
    *(*key == 'l' ? &op->line : &op->column) = (uint32_t)number;
  } else if (strcmp(key, "median_ns") == 0) {
    TFRT_RETURN_IF_ERROR(cost_profile_number(reader, INT64_MAX, &op->median_ns));
  }
  return NULL;
}

// Reads the pairs of one op, up to its end.
static tfrt_status_t cost_profile_read_pairs(tfrt_cost_profile_reader_t* reader,
                                             tfrt_cost_profile_op_t* op,
                                             tfrt_cost_profile_texts_t* texts) {
  char key[16];
  for (;;) {
    TFRT_RETURN_IF_ERROR(cost_profile_next(reader));
    if (reader->event.type == YAML_MAPPING_END_EVENT) return NULL;
    if (reader->event.type != YAML_SCALAR_EVENT) {
      return cost_profile_refuse(reader, "here a key of an op is missing");
    }
    tfrt_string_view_t text = cost_profile_text(reader);
    size_t size = text.size < sizeof(key) ? text.size : sizeof(key) - 1;
    memcpy(key, text.data, size);
    key[size] = '\0';
    TFRT_RETURN_IF_ERROR(cost_profile_expect(reader, YAML_SCALAR_EVENT,
                                             "the value of a key of an op is a number or a text"));
    TFRT_RETURN_IF_ERROR(cost_profile_take_value(reader, key, op, texts));
  }
}

// Reads the op that the last event begins.
static tfrt_status_t cost_profile_read_op(tfrt_cost_profile_reader_t* reader,
                                          tfrt_cost_profile_texts_t* texts) {
  if (reader->event.type != YAML_MAPPING_START_EVENT) {
    return cost_profile_refuse(reader, "an op is a mapping {...}");
  }
  tfrt_cost_profile_op_t op = {.median_ns = UINT64_MAX};
  tfrt_string_builder_clear(&texts->kernel);
  tfrt_string_builder_clear(&texts->file);
  TFRT_RETURN_IF_ERROR(cost_profile_read_pairs(reader, &op, texts));
  if (texts->kernel.size == 0 || op.median_ns == UINT64_MAX) {
    return cost_profile_refuse(reader, "this op lacks \"kernel\" or \"median_ns\"");
  }
  op.kernel = tfrt_string_builder_view(&texts->kernel);
  op.file = tfrt_string_builder_view(&texts->file);
  return tfrt_cost_profile_add(reader->profile, &op);
}

static tfrt_status_t cost_profile_read_ops(tfrt_cost_profile_reader_t* reader) {
  tfrt_cost_profile_texts_t texts;
  tfrt_string_builder_initialize(&texts.kernel, tfrt_allocator_system());
  tfrt_string_builder_initialize(&texts.file, tfrt_allocator_system());
  tfrt_status_t status =
      cost_profile_expect(reader, YAML_SEQUENCE_START_EVENT, "\"ops\" is a list [...]");
  while (!status) {
    status = cost_profile_next(reader);
    if (status || reader->event.type == YAML_SEQUENCE_END_EVENT) break;
    status = cost_profile_read_op(reader, &texts);
  }
  tfrt_string_builder_deinitialize(&texts.kernel);
  tfrt_string_builder_deinitialize(&texts.file);
  return status;
}

// --- The file ------------------------------------------------------------------

static tfrt_status_t cost_profile_read_version(tfrt_cost_profile_reader_t* reader) {
  uint64_t version = 0;
  TFRT_RETURN_IF_ERROR(
      cost_profile_expect(reader, YAML_SCALAR_EVENT, "the version of a profile is a number"));
  TFRT_RETURN_IF_ERROR(cost_profile_number(reader, UINT32_MAX, &version));
  if (version == TFRT_COST_PROFILE_VERSION) return NULL;
  return cost_profile_refuse(reader, "this is a profile of another version");
}

static bool cost_profile_is_key(const tfrt_cost_profile_reader_t* reader, const char* key) {
  return reader->event.type == YAML_SCALAR_EVENT &&
         tfrt_string_view_equal(cost_profile_text(reader), tfrt_string_view_of(key));
}

static tfrt_status_t cost_profile_read(tfrt_cost_profile_reader_t* reader) {
  static const char kNone[] = "this is no profile";
  TFRT_RETURN_IF_ERROR(cost_profile_expect(reader, YAML_STREAM_START_EVENT, kNone));
  TFRT_RETURN_IF_ERROR(cost_profile_expect(reader, YAML_DOCUMENT_START_EVENT, kNone));
  TFRT_RETURN_IF_ERROR(cost_profile_expect(reader, YAML_MAPPING_START_EVENT, kNone));
  TFRT_RETURN_IF_ERROR(cost_profile_next(reader));
  if (!cost_profile_is_key(reader, "tfrt_profile")) {
    return cost_profile_refuse(reader, "this is no profile: \"tfrt_profile\" is its first key");
  }
  TFRT_RETURN_IF_ERROR(cost_profile_read_version(reader));
  TFRT_RETURN_IF_ERROR(cost_profile_next(reader));
  if (!cost_profile_is_key(reader, "ops")) {
    return cost_profile_refuse(reader, "this profile lacks the key \"ops\"");
  }
  TFRT_RETURN_IF_ERROR(cost_profile_read_ops(reader));
  TFRT_RETURN_IF_ERROR(
      cost_profile_expect(reader, YAML_MAPPING_END_EVENT, "a profile has no more keys than these"));
  TFRT_RETURN_IF_ERROR(cost_profile_expect(reader, YAML_DOCUMENT_END_EVENT, kNone));
  return cost_profile_expect(reader, YAML_STREAM_END_EVENT,
                             "a file of a profile has no more than one");
}

tfrt_status_t tfrt_cost_profile_file_load(const char* path, tfrt_cost_profile_t* profile) {
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_read_at_most(path, TFRT_COST_PROFILE_FILE_MAX_SIZE,
                                              tfrt_allocator_system(), &contents));
  tfrt_cost_profile_reader_t reader = {.path = path, .profile = profile};
  tfrt_status_t status = NULL;
  if (yaml_parser_initialize(&reader.parser)) {
    yaml_parser_set_input_string(&reader.parser, contents.data, contents.size);
    status = cost_profile_read(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
  } else {
    status = tfrt_status_out_of_memory();
  }
  tfrt_file_contents_deinitialize(&contents);
  return status;
}
