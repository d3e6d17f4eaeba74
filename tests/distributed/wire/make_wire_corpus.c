// SPDX-License-Identifier: Apache-2.0
//
// Writes the seed corpus of tests/fuzz/wire_decoder_fuzz.c: each sample once, behind the
// byte that selects its decoder. Run it again after a change of the samples:
//
//   bazel run //tests/distributed/wire:make_wire_corpus -- "$PWD/tests/fuzz/wire_decoder_corpus"
#include <stdio.h>
#include <stdlib.h>

#include "tests/distributed/wire/samples.h"
#include "tests/distributed/wire/service_samples.h"

// As in the fuzz target.
enum {
  SELECT_BATCH = 0,
  SELECT_QUESTION = 252,
  SELECT_ANSWER = 253,
  SELECT_UP = 254,
  SELECT_DOWN = 255
};

static void fail(const char* what, const char* why) {
  fprintf(stderr, "error: %s: %s\n", what, why);
  exit(EXIT_FAILURE);
}

// Writes what |status| says was encoded into |bytes| to FOLDER/NAME_INDEX.
static void write_seed(const char* folder, const char* name, size_t index, uint8_t selector,
                       tfrt_status_t status, tfrt_string_builder_t* bytes) {
  if (!tfrt_status_is_ok(status)) fail(name, tfrt_status_message(status));
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s_%zu", folder, name, index);
  FILE* file = fopen(path, "wb");
  if (!file) fail(path, "can't be written; does the folder exist?");
  bool ok = fputc(selector, file) != EOF;
  if (bytes->size > 0) ok = ok && fwrite(bytes->data, 1, bytes->size, file) == bytes->size;
  if (fclose(file) != 0 || !ok) fail(path, "can't be written");
  tfrt_string_builder_clear(bytes);
}

int main(int argc, char** argv) {
  if (argc != 2) fail("usage", "make_wire_corpus FOLDER");
  const char* folder = argv[1];
  tfrt_string_builder_t bytes;
  tfrt_string_builder_initialize(&bytes, tfrt_allocator_system());
  for (size_t i = 0; i < tfrt_wire_sample_body_count; ++i) {
    const tfrt_wire_body_t* body = &tfrt_wire_sample_bodies[i];
    tfrt_status_t status = tfrt_wire_body_encode(body, &bytes);
    write_seed(folder, tfrt_wire_frame_kind_name(body->kind), i, (uint8_t)body->kind, status,
               &bytes);
  }
  for (size_t i = 0; i < tfrt_wire_sample_batch_count; ++i) {
    tfrt_status_t status = tfrt_wire_batch_encode(&tfrt_wire_sample_batches[i], &bytes);
    write_seed(folder, "Batch", i, SELECT_BATCH, status, &bytes);
  }
  for (size_t i = 0; i < tfrt_wire_sample_up_count; ++i) {
    tfrt_status_t status = tfrt_wire_bulk_encode(&tfrt_wire_sample_ups[i], true, &bytes);
    write_seed(folder, "BulkUp", i, SELECT_UP, status, &bytes);
  }
  for (size_t i = 0; i < tfrt_wire_sample_down_count; ++i) {
    tfrt_status_t status = tfrt_wire_bulk_encode(&tfrt_wire_sample_downs[i], false, &bytes);
    write_seed(folder, "BulkDown", i, SELECT_DOWN, status, &bytes);
  }
  for (size_t i = 0; i < tfrt_wire_sample_question_count; ++i) {
    tfrt_status_t status = tfrt_wire_question_encode(&tfrt_wire_sample_questions[i], &bytes);
    write_seed(folder, "Question", i, SELECT_QUESTION, status, &bytes);
  }
  for (size_t i = 0; i < tfrt_wire_sample_part_count; ++i) {
    tfrt_status_t status = tfrt_wire_answer_append(&tfrt_wire_sample_parts[i], &bytes);
    write_seed(folder, "Answer", i, SELECT_ANSWER, status, &bytes);
  }
  tfrt_string_builder_deinitialize(&bytes);
  return EXIT_SUCCESS;
}
