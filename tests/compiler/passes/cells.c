// SPDX-License-Identifier: Apache-2.0
//
// A kernel library for the test of random programs without chains: cells that hold a number, which
// kernels write to and read late, after a random number of rounds in the work queue. Two kernels
// that run in the wrong order, or at the same time, give another number.
//
// cell.new makes a cell and cell.view gives it another name, both at once. cell.set, cell.add and
// cell.mix write to one late. cell.get reads one late, and cell.peek does so without a chain of its
// own.
//
// file.save and file.load do the same to a file, which is a number in this process; file.clear does
// it to all files.
//
// The environment's CELL_SEED chooses the delays.
#include <stdatomic.h>
#include <stdlib.h>

#include "embedding/kernel_library.h"

#define CELL "!cell.cell"
#define CHAIN "!tfrt.chain"

typedef struct cell_box_s {
  atomic_int owners;
  _Atomic int64_t number;
} cell_box_t;

static tfrt_type_id_t cell_type;
// "a" to "d".
static _Atomic int64_t cell_files[4];
static _Atomic uint64_t cell_seed;

static uint32_t cell_random(uint32_t below) {
  uint64_t number =
      atomic_fetch_add_explicit(&cell_seed, 0x9E3779B97F4A7C15u, memory_order_relaxed);
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((number ^ (number >> 31)) % below);
}

static void cell_destroy(void* payload) {
  cell_box_t* box = *(cell_box_t**)payload;
  // Pairs with itself: the last owner sees what the others wrote.
  if (atomic_fetch_sub_explicit(&box->owners, 1, memory_order_acq_rel) == 1) {
    tfrt_allocator_free(tfrt_allocator_system(), box, sizeof(*box));
  }
}

static cell_box_t* cell_of(tfrt_async_value_t* value) {
  return *(cell_box_t**)tfrt_async_value_payload(value);
}

// --- On other hosts ----------------------------------------------------------------------------

static tfrt_status_t cell_encode(const void* payload, tfrt_encoding_t* out_encoding) {
  const cell_box_t* box = *(cell_box_t* const*)payload;
  out_encoding->body = (const void*)&box->number;
  out_encoding->body_size = sizeof(box->number);
  return NULL;
}

static tfrt_status_t cell_decode(const uint8_t* header, size_t header_size, size_t body_size,
                                 tfrt_allocator_t allocator, void* payload, void** out_body) {
  (void)header;
  (void)allocator;
  cell_box_t* box = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*box));
  if (!box) abort();
  if (header_size != 0 || body_size != sizeof(box->number)) abort();
  atomic_init(&box->owners, 1);
  *(cell_box_t**)payload = box;
  *out_body = (void*)&box->number;
  return NULL;
}

static const tfrt_codec_t cell_codec = {.encode = cell_encode, .decode = cell_decode};

// --- Cells -------------------------------------------------------------------------------------

static void cell_give(tfrt_kernel_frame_t* frame, cell_box_t* box) {
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_create_copy(cell_type, &box, sizeof(box)));
}

static void cell_new(tfrt_kernel_frame_t* frame) {
  cell_box_t* box = tfrt_allocator_allocate(tfrt_allocator_system(), sizeof(*box));
  if (!box) abort();
  atomic_init(&box->owners, 1);
  atomic_init(&box->number, *(const int64_t*)frame->attributes[0]);
  cell_give(frame, box);
}

static void cell_view(tfrt_kernel_frame_t* frame) {
  cell_box_t* box = cell_of(frame->arguments[0]);
  atomic_fetch_add_explicit(&box->owners, 1, memory_order_relaxed);
  cell_give(frame, box);
}

static void cell_even(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0, tfrt_kernel_frame_i64(frame, 0) % 2 == 0);
}

// --- Late kernels ------------------------------------------------------------------------------
// ----------------------------------------------------------------------------

typedef enum cell_action_e {
  CELL_SET,
  CELL_ADD,
  CELL_MIX,
  CELL_GET,
  FILE_SAVE,
  FILE_LOAD,
  FILE_CLEAR,
} cell_action_t;

typedef struct cell_job_s {
  tfrt_task_t task;
  tfrt_work_queue_t* queue;
  cell_action_t action;
  uint32_t rounds;
  int64_t number;
  uint32_t file;
  tfrt_async_value_t* target;  // +1, or NULL
  tfrt_async_value_t* source;  // +1, or NULL
  tfrt_async_value_t* result;  // +1, an i64 or NULL
  tfrt_async_value_t* chain;   // +1 or NULL
} cell_job_t;

static void cell_act_on_file(const cell_job_t* job) {
  _Atomic int64_t* file = &cell_files[job->file];
  if (job->action == FILE_LOAD) {
    *(int64_t*)tfrt_async_value_payload(job->result) =
        atomic_load_explicit(file, memory_order_relaxed);
  } else if (job->action == FILE_SAVE) {
    atomic_store_explicit(file, job->number, memory_order_relaxed);
  } else {
    for (int i = 0; i < 4; ++i) {
      atomic_store_explicit(&cell_files[i], 0, memory_order_relaxed);
    }
  }
}

static void cell_act(const cell_job_t* job) {
  if (!job->target) {
    cell_act_on_file(job);
    return;
  }
  cell_box_t* box = cell_of(job->target);
  int64_t old = atomic_load_explicit(&box->number, memory_order_relaxed);
  // Between reading and writing others get a chance.
  uint64_t number = (uint64_t)old;
  if (job->action == CELL_SET) number = (uint64_t)job->number;
  if (job->action == CELL_ADD) {
    number += (uint64_t)atomic_load_explicit(&cell_of(job->source)->number, memory_order_relaxed);
  }
  if (job->action == CELL_MIX) number = 3 * number + 1;
  if (job->action == CELL_GET) {
    *(int64_t*)tfrt_async_value_payload(job->result) = old;
  } else {
    atomic_store_explicit(&box->number, (int64_t)number, memory_order_relaxed);
  }
}

static void cell_run(tfrt_task_t* task) {
  cell_job_t* job = TFRT_CONTAINER_OF(task, cell_job_t, task);
  if (job->rounds-- > 0) {
    tfrt_task_initialize(&job->task, cell_run);
    tfrt_work_queue_add_task(job->queue, &job->task);
    return;
  }
  cell_act(job);
  tfrt_async_value_release(job->target);
  tfrt_async_value_release(job->source);
  if (job->result) tfrt_async_value_set_available(job->result);
  if (job->chain) tfrt_async_value_set_available(job->chain);
  tfrt_async_value_release(job->result);
  tfrt_async_value_release(job->chain);
  tfrt_allocator_free(tfrt_allocator_system(), job, sizeof(*job));
}

static void cell_start(tfrt_kernel_frame_t* frame, cell_action_t action, bool gives_number,
                       bool gives_chain) {
  cell_job_t* job = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*job));
  if (!job) abort();
  tfrt_task_initialize(&job->task, cell_run);
  job->queue = frame->context->work_queue;
  job->action = action;
  job->rounds = cell_random(4);
  if (action < FILE_SAVE) job->target = tfrt_async_value_retain(frame->arguments[0]);
  if (action == CELL_SET) job->number = tfrt_kernel_frame_i64(frame, 1);
  if (action == FILE_SAVE) job->number = tfrt_kernel_frame_i64(frame, 0);
  if (action == FILE_SAVE || action == FILE_LOAD) {
    tfrt_string_view_t path = tfrt_bef_attribute_string(frame->attributes[0]);
    job->file = path.size ? (uint32_t)(path.data[0] - 'a') % 4 : 0;
  }
  if (action == CELL_ADD) job->source = tfrt_async_value_retain(frame->arguments[1]);
  uint32_t result = 0;
  if (gives_number) {
    job->result = tfrt_async_value_create_unconstructed(TFRT_TYPE_I64);
    tfrt_kernel_frame_set(frame, result++, tfrt_async_value_retain(job->result));
  }
  if (gives_chain) {
    job->chain = tfrt_async_value_create_unconstructed(TFRT_TYPE_CHAIN);
    tfrt_kernel_frame_set(frame, result, tfrt_async_value_retain(job->chain));
  }
  if (cell_random(4) == 0) {
    job->rounds = 0;
    cell_run(&job->task);
  } else {
    tfrt_work_queue_add_task(job->queue, &job->task);
  }
}

static void cell_set(tfrt_kernel_frame_t* frame) { cell_start(frame, CELL_SET, false, true); }
static void cell_add(tfrt_kernel_frame_t* frame) { cell_start(frame, CELL_ADD, false, true); }
static void cell_mix(tfrt_kernel_frame_t* frame) { cell_start(frame, CELL_MIX, false, true); }
static void cell_get(tfrt_kernel_frame_t* frame) { cell_start(frame, CELL_GET, true, true); }
static void cell_peek(tfrt_kernel_frame_t* frame) { cell_start(frame, CELL_GET, true, false); }
static void file_save(tfrt_kernel_frame_t* frame) { cell_start(frame, FILE_SAVE, false, true); }
static void file_load(tfrt_kernel_frame_t* frame) { cell_start(frame, FILE_LOAD, true, true); }
static void file_clear(tfrt_kernel_frame_t* frame) { cell_start(frame, FILE_CLEAR, false, true); }

// --- The library -------------------------------------------------------------------------------

static const tfrt_operand_descriptor_t one_cell[] = {{"cell", CELL, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t number[] = {{"number", "i64", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t only_chain[] = {{"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t number_and_chain[] = {
    {"number", "i64", TFRT_OPERAND_DEMANDED}, {"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t read_cell[] = {{"cell", CELL, TFRT_OPERAND_DEMANDED},
                                                      {"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t written_cell[] = {{"cell", CELL, TFRT_OPERAND_MUTATED},
                                                         {"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t cell_and_number[] = {
    {"cell", CELL, TFRT_OPERAND_MUTATED},
    {"number", "i64", TFRT_OPERAND_DEMANDED},
    {"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t cell_and_cell[] = {{"cell", CELL, TFRT_OPERAND_MUTATED},
                                                          {"source", CELL, TFRT_OPERAND_DEMANDED},
                                                          {"chain", CHAIN, TFRT_OPERAND_AWAITED}};
static const tfrt_result_descriptor_t cell_result[] = {{"cell", CELL}};
static const tfrt_result_descriptor_t i64_result[] = {{"number", "i64"}};
static const tfrt_result_descriptor_t i1_result[] = {{"result", "i1"}};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", CHAIN}};
static const tfrt_result_descriptor_t i64_and_chain[] = {{"number", "i64"}, {"chain", CHAIN}};
static const tfrt_attribute_descriptor_t value[] = {{"value", TFRT_ATTRIBUTE_I64, NULL}};
static const tfrt_attribute_descriptor_t path[] = {{"path", TFRT_ATTRIBUTE_STRING, NULL}};

static const tfrt_kernel_descriptor_t ops[] = {
    {.name = "cell.new",
     .summary = "A new cell.",
     .assembly = "#value attr-dict",
     TFRT_RESULTS(cell_result),
     TFRT_ATTRIBUTES(value),
     .effects = TFRT_EFFECT_NONE},
    {.name = "cell.view",
     .summary = "The same cell.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_cell),
     TFRT_RESULTS(cell_result),
     .effects = TFRT_EFFECT_NONE | TFRT_EFFECT_READS_NO_CONTENTS,
     .shares = "cell"},
    {.name = "cell.even",
     .summary = "Whether a number is even.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(number),
     TFRT_RESULTS(i1_result),
     .flags = TFRT_KERNEL_PURE},
    {.name = "cell.set",
     .summary = "Sets a cell.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(cell_and_number),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE},
    {.name = "cell.add",
     .summary = "Adds another cell to a cell.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(cell_and_cell),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE},
    {.name = "cell.mix",
     .summary = "Three times a cell, and one.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(written_cell),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_NONE},
    {.name = "cell.get",
     .summary = "The number in a cell.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(read_cell),
     TFRT_RESULTS(i64_and_chain),
     .effects = TFRT_EFFECT_NONE},
    {.name = "cell.peek",
     .summary = "The number in a cell, without a chain of its own.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(one_cell),
     TFRT_RESULTS(i64_result),
     .flags = TFRT_KERNEL_TRAILING_CHAIN,
     .effects = TFRT_EFFECT_NONE},
    {.name = "file.save",
     .summary = "Writes a number to the file `path`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(number_and_chain),
     TFRT_RESULTS(chain_result),
     TFRT_ATTRIBUTES(path),
     .effects = TFRT_EFFECT_FILE_WRITE},
    {.name = "file.load",
     .summary = "The number in the file `path`.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(only_chain),
     TFRT_RESULTS(i64_and_chain),
     TFRT_ATTRIBUTES(path),
     .effects = TFRT_EFFECT_FILE_READ},
    {.name = "file.clear",
     .summary = "Writes 0 to all files.",
     .assembly = "operands attr-dict",
     TFRT_OPERANDS(only_chain),
     TFRT_RESULTS(chain_result),
     .effects = TFRT_EFFECT_FILE_WRITE},
};

static const tfrt_kernel_registration_t kernels[] = {
    {"cell.new", cell_new},   {"cell.view", cell_view},   {"cell.even", cell_even},
    {"cell.set", cell_set},   {"cell.add", cell_add},     {"cell.mix", cell_mix},
    {"cell.get", cell_get},   {"cell.peek", cell_peek},   {"file.save", file_save},
    {"file.load", file_load}, {"file.clear", file_clear},
};

static tfrt_status_t cell_set_up(void) {
  static const tfrt_type_t cell = {.name = CELL,
                                   .size = sizeof(cell_box_t*),
                                   .flags = TFRT_TYPE_FLAG_MUTABLE,
                                   .destroy = cell_destroy,
                                   .codec = &cell_codec};
  const char* seed = getenv("CELL_SEED");
  atomic_store_explicit(&cell_seed, seed ? strtoull(seed, NULL, 10) : 1, memory_order_relaxed);
  return tfrt_type_register(&cell, &cell_type);
}

const tfrt_kernel_library_t tfrt_kernel_library = {
    TFRT_KERNEL_LIBRARY_HEADER("cell"),
    TFRT_KERNEL_LIBRARY_OPS(ops),
    TFRT_KERNEL_LIBRARY_KERNELS(kernels),
    .set_up = cell_set_up,
};
