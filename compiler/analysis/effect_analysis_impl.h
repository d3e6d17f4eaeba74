// SPDX-License-Identifier: Apache-2.0
//
// The inside of the effect analysis, shared by its sources.
//
//   effect_analysis.c  the functions, their ports, what the header promises
//   alias_classes.c    which values may share memory
//   op_accesses.c      what one op does
//   file_names.c       which files ops name
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: |failed| is set when memory is out.
#ifndef TFRT_COMPILER_ANALYSIS_EFFECT_ANALYSIS_IMPL_H_
#define TFRT_COMPILER_ANALYSIS_EFFECT_ANALYSIS_IMPL_H_

#include "compiler/analysis/effect_analysis.h"

// --- effect_analysis.c ---------------------------------------------------------------------

// The result of |op| that result |result| of the functions it names becomes, or UINT32_MAX.
uint32_t tfrt_effect_result_of(const tfrt_ir_operation_t* op, uint32_t result);
// The return of |function|, which has a block.
const tfrt_ir_operation_t* tfrt_effect_return(const tfrt_effect_function_t* function);

// --- alias_classes.c -----------------------------------------------------------------------

// The size of what |first| has for each class, which alias_classes.c knows.
extern const size_t tfrt_effect_first_size;
// Numbers all values and finds their classes. Called once the functions are known.
void tfrt_effect_find_classes(tfrt_effect_analysis_t* analysis);
// The class of the value with |number|.
uint32_t tfrt_effect_class(tfrt_effect_analysis_t* analysis, uint32_t number);

// --- op_accesses.c ---------------------------------------------------------------------------

// Makes the lists of |analysis|, which has its allocator.
void tfrt_effect_initialize_lists(tfrt_effect_analysis_t* analysis);
// A list of accesses is open between these two; the latter moves it to |found|.
typedef struct tfrt_access_list_s {
  size_t mark;
  uint32_t outer;
} tfrt_access_list_t;
tfrt_access_list_t tfrt_effect_begin_list(tfrt_effect_analysis_t* analysis);
void tfrt_effect_end_list(tfrt_effect_analysis_t* analysis, tfrt_access_list_t list);
// Adds what comes behind what the open list has, or what may happen in its place.
void tfrt_effect_add_next(tfrt_effect_analysis_t* analysis, tfrt_place_t place, uint32_t bits);
void tfrt_effect_add_other(tfrt_effect_analysis_t* analysis, tfrt_place_t place, uint32_t bits);
// Adds all that the ops of |block| do.
void tfrt_effect_add_block(tfrt_effect_analysis_t* analysis, const tfrt_ir_block_t* block);

#endif  // TFRT_COMPILER_ANALYSIS_EFFECT_ANALYSIS_IMPL_H_
