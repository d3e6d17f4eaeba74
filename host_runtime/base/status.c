// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/base/status.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/random.h"
#include "host_runtime/base/ref_count.h"

// One block: this struct and behind it the bytes of all its strings.
struct tfrt_status_s {
  tfrt_ref_count_t ref_count;
  size_t block_size;
  tfrt_status_fields_t fields;
};

// The message, the three names of the origin, and the causes.
#define TEXT_COUNT (4 + TFRT_STATUS_MAX_CAUSES)

// Its own key is fixed: statuses without memory can't be told apart any more.
static struct tfrt_status_s out_of_memory_record = {
    .fields =
        {
            .code = TFRT_STATUS_RESOURCE_EXHAUSTED,
            .message = "memory is out",
            .origin = {.rank = TFRT_STATUS_NO_RANK, .function = "", .kernel = "", .file = ""},
            .root_key = UINT64_C(0x6d656d6f72792121),
            .may_have_run = true,
            .truncated = true,
            .causes = {"", "", "", ""},
        },
};

// A thread takes this many keys at a time, so that most errors need no operation that locks.
#define KEYS_AT_ONCE 256

// The first of as many keys. They count up from a random start, so that those of different
// processes don't meet.
static uint64_t take_root_keys(void) {
  static _Atomic uint64_t next = 0;
  // All operations are relaxed: the numbers order nothing but themselves.
  for (;;) {
    if (atomic_load_explicit(&next, memory_order_relaxed) == 0) {
      uint64_t start = 0;
      tfrt_random_entropy(&start, sizeof start);
      uint64_t expected = 0;
      atomic_compare_exchange_strong_explicit(&next, &expected, start, memory_order_relaxed,
                                              memory_order_relaxed);
    }
    uint64_t key = atomic_fetch_add_explicit(&next, KEYS_AT_ONCE, memory_order_relaxed);
    // 0 is no key: these are left out if it is among them.
    if (key != 0 && key <= UINT64_MAX - KEYS_AT_ONCE) return key;
  }
}

static uint64_t next_root_key(void) {
  static _Thread_local uint64_t next = 0;
  static _Thread_local uint32_t left = 0;
  if (left == 0) {
    next = take_root_keys();
    left = KEYS_AT_ONCE;
  }
  --left;
  return next++;
}

// Returns how many bytes of |text| are kept: all, or as many whole characters as fit.
static size_t kept_size(const char* text) {
  size_t size = strnlen(text, TFRT_STATUS_MAX_TEXT_SIZE + 1);
  if (size <= TFRT_STATUS_MAX_TEXT_SIZE) return size;
  size = TFRT_STATUS_MAX_TEXT_SIZE;
  // A continuation byte of UTF-8 has the bits 10 at its top; no character has more
  // than three of them.
  for (int step = 0; step < 3 && ((unsigned char)text[size] & 0xc0) == 0x80; ++step) --size;
  return size;
}

// Fills |out_texts| with the addresses of all strings of |fields|.
static void list_texts(tfrt_status_fields_t* fields, const char** out_texts[TEXT_COUNT]) {
  out_texts[0] = &fields->message;
  out_texts[1] = &fields->origin.function;
  out_texts[2] = &fields->origin.kernel;
  out_texts[3] = &fields->origin.file;
  for (size_t i = 0; i < TFRT_STATUS_MAX_CAUSES; ++i) out_texts[4 + i] = &fields->causes[i];
}

// The code of an error that was made with |code|.
static tfrt_status_code_t valid_code(tfrt_status_code_t code) {
  assert(code != TFRT_STATUS_OK);
  if (code == TFRT_STATUS_OK) return TFRT_STATUS_INTERNAL;
  return (unsigned)code > TFRT_STATUS_UNAUTHENTICATED ? TFRT_STATUS_UNKNOWN : code;
}

// Brings |fields| into the form that records have: no NULL strings, codes and counts
// in range.
static void normalize_fields(tfrt_status_fields_t* fields) {
  fields->code = valid_code(fields->code);
  if (fields->cause_count > TFRT_STATUS_MAX_CAUSES) {
    fields->cause_count = TFRT_STATUS_MAX_CAUSES;
    fields->truncated = true;
  }
  for (size_t i = fields->cause_count; i < TFRT_STATUS_MAX_CAUSES; ++i) fields->causes[i] = NULL;
  if (fields->root_key == 0) fields->root_key = next_root_key();
  const char** texts[TEXT_COUNT];
  list_texts(fields, texts);
  for (size_t i = 0; i < TEXT_COUNT; ++i) {
    if (!*texts[i]) *texts[i] = "";
  }
}

// Makes the record for |fields|, or returns NULL when memory is out.
static tfrt_status_t create_record(const tfrt_status_fields_t* fields) {
  tfrt_status_fields_t copy = *fields;
  normalize_fields(&copy);
  const char** texts[TEXT_COUNT];
  list_texts(&copy, texts);
  size_t sizes[TEXT_COUNT];
  size_t block_size = sizeof(struct tfrt_status_s);
  for (size_t i = 0; i < TEXT_COUNT; ++i) {
    // Most texts of most errors are empty, and need no copy.
    sizes[i] = **texts[i] ? kept_size(*texts[i]) : 0;
    if ((*texts[i])[sizes[i]] != '\0') copy.truncated = true;
    if (sizes[i] > 0) block_size += sizes[i] + 1;
  }
  tfrt_status_t status = tfrt_allocator_allocate(tfrt_allocator_system(), block_size);
  if (!status) return NULL;
  char* end = (char*)(status + 1);
  for (size_t i = 0; i < TEXT_COUNT; ++i) {
    if (sizes[i] == 0) {
      *texts[i] = "";
      continue;
    }
    memcpy(end, *texts[i], sizes[i]);
    end[sizes[i]] = '\0';
    *texts[i] = end;
    end += sizes[i] + 1;
  }
  tfrt_ref_count_initialize(&status->ref_count);
  status->block_size = block_size;
  status->fields = copy;
  return status;
}

tfrt_status_t tfrt_status_create_from_fields(const tfrt_status_fields_t* fields) {
  tfrt_status_t status = create_record(fields);
  return status ? status : &out_of_memory_record;
}

// The same for an error that is its code and |message| alone, as it is where errors begin.
static tfrt_status_t create_plain_record(tfrt_status_code_t code, const char* message) {
  const size_t size = kept_size(message);
  const size_t block_size = sizeof(struct tfrt_status_s) + size + 1;
  tfrt_status_t status = tfrt_allocator_allocate(tfrt_allocator_system(), block_size);
  if (!status) return NULL;
  char* text = (char*)(status + 1);
  memcpy(text, message, size);
  text[size] = '\0';
  tfrt_ref_count_initialize(&status->ref_count);
  status->block_size = block_size;
  status->fields = (tfrt_status_fields_t){
      .code = code,
      .message = text,
      .origin = {.rank = TFRT_STATUS_NO_RANK, .function = "", .kernel = "", .file = ""},
      .root_key = next_root_key(),
      .may_have_run = true,
      .truncated = message[size] != '\0',
      .causes = {"", "", "", ""},
  };
  return status;
}

tfrt_status_t tfrt_status_create_v(tfrt_status_code_t code, const char* format, va_list arguments) {
  // Two bytes more than are kept, so that kept_size() sees that the text was longer.
  char message[TFRT_STATUS_MAX_TEXT_SIZE + 2];
  const bool is_plain = !strchr(format, '%');
  if (!is_plain) {
    message[0] = '\0';
    tfrt_number_text_format_v(message, sizeof message, format, arguments);
  }
  tfrt_status_t status = create_plain_record(valid_code(code), is_plain ? format : message);
  return status ? status : &out_of_memory_record;
}

tfrt_status_t tfrt_status_create(tfrt_status_code_t code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t status = tfrt_status_create_v(code, format, arguments);
  va_end(arguments);
  return status;
}

static bool has_place(const tfrt_status_origin_t* origin) {
  return origin->function[0] || origin->kernel[0] || origin->file[0];
}

tfrt_status_t tfrt_status_with_origin(tfrt_status_t status, const tfrt_status_origin_t* origin) {
  if (!status || has_place(&status->fields.origin)) return tfrt_status_retain(status);
  tfrt_status_fields_t fields = status->fields;
  fields.origin = *origin;
  tfrt_status_t result = create_record(&fields);
  return result ? result : tfrt_status_retain(status);
}

static tfrt_status_t annotate_v(tfrt_status_t status, const char* format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static tfrt_status_t annotate_v(tfrt_status_t status, const char* format, va_list arguments) {
  if (!status) return NULL;
  char message[TFRT_STATUS_MAX_TEXT_SIZE + 2];
  int length = tfrt_number_text_format_v(message, sizeof message, format, arguments);
  if (length < 0) length = 0;
  if ((size_t)length < sizeof message) {
    snprintf(message + length, sizeof message - (size_t)length, ": %s", status->fields.message);
  }
  tfrt_status_fields_t fields = status->fields;
  fields.message = message;
  tfrt_status_t result = create_record(&fields);
  return result ? result : tfrt_status_retain(status);
}

tfrt_status_t tfrt_status_annotate(tfrt_status_t status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t result = annotate_v(status, format, arguments);
  va_end(arguments);
  return result;
}

tfrt_status_t tfrt_status_take_annotate(tfrt_status_t status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tfrt_status_t result = annotate_v(status, format, arguments);
  va_end(arguments);
  tfrt_status_release(status);
  return result;
}

tfrt_status_t tfrt_status_out_of_memory(void) { return &out_of_memory_record; }

tfrt_status_t tfrt_status_retain(tfrt_status_t status) {
  if (status && status != &out_of_memory_record) tfrt_ref_count_increment(&status->ref_count);
  return status;
}

void tfrt_status_release(tfrt_status_t status) {
  if (!status || status == &out_of_memory_record) return;
  if (tfrt_ref_count_decrement(&status->ref_count)) {
    tfrt_allocator_free(tfrt_allocator_system(), status, status->block_size);
  }
}

tfrt_status_code_t tfrt_status_code(tfrt_status_t status) {
  return status ? status->fields.code : TFRT_STATUS_OK;
}

const char* tfrt_status_message(tfrt_status_t status) {
  return status ? status->fields.message : "";
}

const tfrt_status_fields_t* tfrt_status_fields(tfrt_status_t status) { return &status->fields; }

const char* tfrt_status_code_name(tfrt_status_code_t code) {
  static const char* const names[] = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
      "UNAUTHENTICATED",
  };
  if ((unsigned)code >= TFRT_ARRAY_SIZE(names)) return "UNKNOWN";
  return names[code];
}

// Where tfrt_status_format() writes: |length| counts also what did not fit.
typedef struct format_target_s {
  char* buffer;
  size_t size;
  size_t length;
} format_target_t;

static void format_text(format_target_t* target, const char* format, ...) TFRT_PRINTF(2, 3);

static void format_text(format_target_t* target, const char* format, ...) {
  bool is_full = target->length >= target->size;
  va_list arguments;
  va_start(arguments, format);
  int length =
      tfrt_number_text_format_v(is_full ? NULL : target->buffer + target->length,
                                is_full ? 0 : target->size - target->length, format, arguments);
  va_end(arguments);
  if (length > 0) target->length += (size_t)length;
}

static void format_origin(format_target_t* target, const tfrt_status_origin_t* origin) {
  const char* separator = " [in ";
  if (origin->function[0]) {
    format_text(target, "%s@%s", separator, origin->function);
    separator = ", ";
  }
  if (origin->kernel[0]) {
    format_text(target, "%s%s", separator, origin->kernel);
    separator = ", ";
  }
  if (origin->file[0]) {
    format_text(target, "%s%s", separator, origin->file);
    if (origin->line > 0) format_text(target, ":%u", (unsigned)origin->line);
    if (origin->column > 0) format_text(target, ":%u", (unsigned)origin->column);
    separator = ", ";
  }
  if (origin->rank != TFRT_STATUS_NO_RANK) {
    format_text(target, "%shost %u", separator, (unsigned)origin->rank);
  }
  format_text(target, "]");
}

size_t tfrt_status_format(tfrt_status_t status, char* buffer, size_t size) {
  format_target_t target = {buffer, size, 0};
  if (!status) {
    format_text(&target, "OK");
    return target.length;
  }
  format_text(&target, "%s: %s", tfrt_status_code_name(status->fields.code),
              status->fields.message);
  const tfrt_status_origin_t* origin = &status->fields.origin;
  if (has_place(origin) || origin->rank != TFRT_STATUS_NO_RANK) format_origin(&target, origin);
  return target.length;
}
