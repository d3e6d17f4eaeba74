// SPDX-License-Identifier: Apache-2.0
//
// A kernel library with one type and two kernels; with WITH_CHOICES, also with a work queue and an
// allocator; and, for each other macro that the test defines, with one mistake that such libraries
// may have.
#include <unistd.h>

#include "embedding/kernel_library.h"

#ifndef TRIPLE
#define TRIPLE "sample.triple"
#endif
#ifndef PAIR_TYPE
#define PAIR_TYPE "!sample.pair"
#endif
#ifndef VERSION
#define VERSION TFRT_API_VERSION
#endif

#ifdef OWN_RUNTIME
// The identity of the runtime in a library that was linked with libtfrt.
const void* tfrt_runtime_identity(void) {
  static const char identity = 0;
  return &identity;
}
#endif

#ifdef UNKNOWN_FUNCTION
void tfrt_function_that_nobody_has(void);
#endif

typedef struct sample_pair_s {
  int32_t first, second;
} sample_pair_t;

static tfrt_type_id_t sample_pair_type;

#ifndef NO_SET_UP
static void sample_pair_print(const void* payload, tfrt_string_builder_t* out) {
  const sample_pair_t* pair = (const sample_pair_t*)payload;
  tfrt_string_builder_append_format(out, "<%d, %d>", pair->first, pair->second);
}
#endif

static void sample_make_pair(tfrt_kernel_frame_t* frame) {
#ifdef UNKNOWN_FUNCTION
  tfrt_function_that_nobody_has();
#endif
  sample_pair_t pair = {tfrt_kernel_frame_i32(frame, 0), tfrt_kernel_frame_i32(frame, 1)};
  tfrt_kernel_frame_set(frame, 0,
                        tfrt_async_value_create_copy(sample_pair_type, &pair, sizeof(pair)));
}

#ifdef NEVER
static void sample_triple(tfrt_kernel_frame_t* frame) {
  // The mistake: nobody keeps the value, to resolve it one day.
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_unconstructed(TFRT_TYPE_I32));
}
#elif defined(BLOCKING)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  while (pause() != 0) {
  }
  tfrt_kernel_frame_set_i32(frame, 0, 0);
}
#elif defined(KEEPING)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  // The mistake: a reference that nobody will drop.
  tfrt_kernel_frame_set_i32(frame, 0, 6);
  tfrt_async_value_retain(frame->results[0]);
}
#elif defined(RETURNS_ARGUMENT)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  // The mistake: the argument is borrowed, and a result is given away.
  tfrt_kernel_frame_set(frame, 0, frame->arguments[0]);
}
#elif defined(RELEASES_ARGUMENT)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, 6);
  // The mistake: the argument is borrowed.
  tfrt_async_value_release(frame->arguments[0]);
}
#elif defined(RELEASES_RESULT)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, 6);
  // The mistake: the result was given away.
  tfrt_async_value_release(frame->results[0]);
}
#elif defined(RESOLVES_TWICE)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* result = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  int32_t six = 6;
  tfrt_async_value_emplace(result, &six, sizeof(six));
  tfrt_async_value_set_available(result);
  tfrt_kernel_frame_set(frame, 0, result);
}
#elif defined(READS_ERROR)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* error =
      tfrt_async_value_create_error_take(tfrt_status_create(TFRT_STATUS_ABORTED, "no"));
  tfrt_kernel_frame_set_i32(frame, 0, *(const int32_t*)tfrt_async_value_payload(error));
  tfrt_async_value_release(error);
}
#elif defined(READS_F32)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  // The mistake: the entry says i32.
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)tfrt_kernel_frame_f32(frame, 0));
}
#elif defined(TWICE)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, 3);
  tfrt_kernel_frame_set_i32(frame, 0, 3 * tfrt_kernel_frame_i32(frame, 0));
}
#elif defined(WRONG_RESULT)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  // The mistake: the entry says i32.
  tfrt_kernel_frame_set(frame, 0, WRONG_RESULT);
}
#elif !defined(NO_KERNEL)
static void sample_triple(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, 3 * tfrt_kernel_frame_i32(frame, 0));
}
#endif

#ifndef NO_ENTRY
static const tfrt_operand_descriptor_t sample_one[] = {{"value", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t sample_i32[] = {{"result", "i32"}};
#endif
static const tfrt_operand_descriptor_t sample_two[] = {{"first", "i32", TFRT_OPERAND_DEMANDED},
                                                       {"second", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_result_descriptor_t sample_pair[] = {{"pair", PAIR_TYPE}};
#ifdef UNSORTED_ATTRIBUTES
static const tfrt_attribute_descriptor_t sample_attributes[] = {{"z", TFRT_ATTRIBUTE_I32, NULL},
                                                                {"a", TFRT_ATTRIBUTE_I32, NULL}};
#endif

static const tfrt_kernel_descriptor_t sample_ops[] = {
    {.name = "sample.make_pair",
     .summary = "Makes a pair of two numbers.",
#ifndef FORM
#define FORM "operands"
#endif
     .assembly = FORM,
     TFRT_OPERANDS(sample_two),
     TFRT_RESULTS(sample_pair),
#ifdef UNSORTED_ATTRIBUTES
     TFRT_ATTRIBUTES(sample_attributes),
#endif
     .flags = TFRT_KERNEL_PURE},
#ifndef NO_ENTRY
    {.name = TRIPLE,
     .summary = "Three times a number.",
     .assembly = "operands",
     TFRT_OPERANDS(sample_one),
     TFRT_RESULTS(sample_i32),
     .flags = TFRT_KERNEL_PURE},
#endif
};

static const tfrt_kernel_registration_t sample_kernels[] = {
    {"sample.make_pair", sample_make_pair},
#ifndef NO_KERNEL
    {TRIPLE, sample_triple},
#endif
};

#ifdef WITH_CHOICES
// A queue that is a built-in one under another name.
static tfrt_status_t sample_create_queue(const char* arguments,
                                         const tfrt_work_queue_settings_t* settings,
                                         tfrt_allocator_t allocator,
                                         tfrt_work_queue_t** out_queue) {
  if (!arguments[0]) arguments = "s";
  return tfrt_work_queue_create_by_name(arguments, settings, allocator, out_queue);
}

static const tfrt_work_queue_type_t sample_queue = {{"sample", "[:QUEUE]"}, sample_create_queue};

// An allocator that is the system's under another name.
static tfrt_status_t sample_create_allocator(const char* arguments,
                                             tfrt_allocator_t* out_allocator) {
  (void)arguments;
  *out_allocator = tfrt_allocator_system();
  return NULL;
}

static bool sample_finish_allocator(tfrt_allocator_t allocator, tfrt_string_builder_t* report) {
  (void)allocator;
  tfrt_string_builder_append_text(report, "The sample is done.\n");
  return true;
}

static const tfrt_allocator_type_t sample_allocator = {
    {"sample", ""}, NULL, sample_create_allocator, sample_finish_allocator};
#endif

#ifndef NO_SET_UP
static tfrt_status_t sample_set_up(void) {
#ifdef FAILING_SET_UP
  return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "there is no sample today");
#endif
  static const tfrt_type_t pair = {
      .name = "!sample.pair", .size = sizeof(sample_pair_t), .print = sample_pair_print};
#ifdef WITH_CHOICES
  TFRT_RETURN_IF_ERROR(tfrt_work_queue_type_register(&sample_queue));
  TFRT_RETURN_IF_ERROR(tfrt_allocator_type_register(&sample_allocator));
#endif
  return tfrt_type_register(&pair, &sample_pair_type);
}
#endif

#ifdef NO_DESCRIPTION
extern const tfrt_kernel_library_t sample_kernel_library;
#define tfrt_kernel_library sample_kernel_library
#endif

const tfrt_kernel_library_t tfrt_kernel_library = {
    .api_version = VERSION,
    .runtime = tfrt_runtime_identity,
    .name = "sample",
    TFRT_KERNEL_LIBRARY_OPS(sample_ops),
    TFRT_KERNEL_LIBRARY_KERNELS(sample_kernels),
#ifndef NO_SET_UP
    .set_up = sample_set_up,
#endif
};
