// SPDX-License-Identifier: Apache-2.0
//
// One function of a program with a runtime of its own: tensors in, tensors out. It is the short way
// for a program that wants a model's answers; the headers in tfrt.h are the long one.
//
//   tfrt_model_load("resnet50.bef") --> model --tfrt_model_run(inputs)--> outputs
//
// The file is BEF (`tfrt import model.onnx -o model.bef` makes it) or a text. No element is copied:
// an input is read where it lies, and an output is read where the program left it. A number is a
// tensor of rank 0; a chain is given by the model itself.
//
// Life:
//  1. A model is loaded: file, kernels and threads are ready.
//  2. It runs any number of times, from any thread, several at once. Each output lives until it is
//     released, also after the model.
//  3. The model is freed. It waits for what still runs.
//
// Thread rule: everything is thread-safe, but freeing the model and using it.
// Failure rule: loading fails as tfrt_program_create_from_file() does; NOT_FOUND if there is no
// such function; UNIMPLEMENTED, with the parameter or result, if it is neither tensor nor number. A
// run fails with INVALID_ARGUMENT for inputs that don't fit, and with the errors of the program.
#ifndef TFRT_EMBEDDING_MODEL_H_
#define TFRT_EMBEDDING_MODEL_H_

#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/tensor/dtype.h"

TFRT_API_BEGIN

typedef struct tfrt_model_s tfrt_model_t;

typedef struct tfrt_model_options_s {
  const char* function;  // NULL: "main"
  int thread_count;      // of compute threads; 0: one per processor
} tfrt_model_options_t;

// A tensor as a model takes and gives it: elements row-major without gaps, aligned for their type.
typedef struct tfrt_model_tensor_s {
  tfrt_dtype_t dtype;
  uint32_t rank;        // at most TFRT_SHAPE_MAX_RANK
  const int64_t* dims;  // |rank| lengths; they live as long as |data|
  const void* data;     // the program doesn't write to it
  // Called once with |context| when nobody reads |data| any more: of an input by the runtime, on
  // any thread; of an output by tfrt_model_tensor_release(). NULL in an input: its data outlives
  // the model and all outputs.
  void (*release)(void* context);
  void* context;
} tfrt_model_tensor_t;

// Sets |*out_model| (owned) to the function that |options| name of the program in the file |path|.
// NULL for |options|: all defaults.
tfrt_status_t tfrt_model_load(const char* path, const tfrt_model_options_t* options,
                              tfrt_model_t** out_model) TFRT_MUST_USE;

// Waits until nothing of |model| runs and frees it; NULL is allowed.
void tfrt_model_free(tfrt_model_t* model);

// How many inputs and outputs the function has. Chains don't count.
uint32_t tfrt_model_input_count(const tfrt_model_t* model);
uint32_t tfrt_model_output_count(const tfrt_model_t* model);

// The name of input |index|, less than their number; "" if the file doesn't say. It lives as long
// as |model|.
const char* tfrt_model_input_name(const tfrt_model_t* model, uint32_t index);

// Calls the function with |input_count| |inputs|, which are consumed, also on an error, and waits.
// Sets the |output_count| entries of |outputs|; each is given back with
// tfrt_model_tensor_release(). On an error no output is set. An output can be the input of another
// run: its reference goes along.
tfrt_status_t tfrt_model_run(tfrt_model_t* model, const tfrt_model_tensor_t* inputs,
                             uint32_t input_count, tfrt_model_tensor_t* outputs,
                             uint32_t output_count) TFRT_MUST_USE;

// Gives |tensor| back and leaves it empty; an empty one is allowed.
void tfrt_model_tensor_release(tfrt_model_tensor_t* tensor);

TFRT_API_END

#endif  // TFRT_EMBEDDING_MODEL_H_
