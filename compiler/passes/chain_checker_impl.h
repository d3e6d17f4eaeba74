// SPDX-License-Identifier: Apache-2.0
//
// The inside of the pass `check-chains`, shared by its sources.
//
//   chain_checker.c        walks functions and blocks, and compares their accesses
//
//   chain_check_inner.c    what functions and regions do where an op runs them
//
//   chain_check_report.c   the warnings
//
// Values, operands and results are bits of 64-bit words; an op, or a function, with more of them
// counts as ordered.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: |failed| is set when memory is out.
#ifndef TFRT_COMPILER_PASSES_CHAIN_CHECKER_IMPL_H_
#define TFRT_COMPILER_PASSES_CHAIN_CHECKER_IMPL_H_

#include "compiler/analysis/effect_analysis.h"
#include "compiler/passes/chain_checker.h"
#include "compiler/passes/chain_waits.h"

#define TFRT_CHECK_BITS 64

// An access of an op, or of what it runs.
typedef struct tfrt_check_access_s {
  tfrt_port_t port;    // in the summary of a function: what stands for the place
  tfrt_place_t place;  // in a block, and in the summary of a region
  bool writes;
  bool commutes;   // of memory: no order is needed with others that have this (an entry's word)
  bool is_new;     // of memory that a function made and gives: no access before it is one of that
  bool needs_all;  // it is done when all of |done| are there; else each of them says so
  uint64_t done;   // the results that come behind it
  tfrt_chain_waits_t guards;  // the operands that it waits for; in a summary the parameters
  const tfrt_ir_operation_t* leaf;
} tfrt_check_access_t;

// The accesses of one op.
typedef struct tfrt_check_op_s {
  size_t first_access;
  size_t access_count;
  size_t first_transfer;  // for each result, the operands that it comes behind; SIZE_MAX: all
                          // that the op waits for
} tfrt_check_op_t;

// The accesses of a function or a region.
typedef struct tfrt_check_summary_s {
  tfrt_scratch_t accesses;   // tfrt_check_access_t
  tfrt_scratch_t transfers;  // tfrt_chain_waits_t for each result: the parameters it comes behind
  bool is_known;             // else nothing was found yet
} tfrt_check_summary_t;

// The bits that a value comes behind; valid if the stamp is that of the walk.
typedef struct tfrt_check_mask_s {
  uint32_t stamp;
  tfrt_chain_waits_t waits;
} tfrt_check_mask_t;

// The use that the checker makes of a pair of accesses that no chain orders.
typedef enum tfrt_check_mode_e {
  TFRT_CHECK_REPORTS = 0,
  TFRT_CHECK_ASKS,  // it notes that there is one
} tfrt_check_mode_t;

// The answer so far.
typedef enum tfrt_check_verdict_e {
  TFRT_CHECK_ORDERED = 0,
  TFRT_CHECK_UNKNOWN,    // something counted as ordered that may not be
  TFRT_CHECK_UNORDERED,  // a pair of accesses of memory is not
} tfrt_check_verdict_t;

typedef struct tfrt_chain_checker_s {
  tfrt_effect_analysis_t analysis;
  tfrt_diagnostics_t* diagnostics;
  tfrt_scratch_t summaries;  // tfrt_check_summary_t for each function
  tfrt_scratch_t accesses;   // tfrt_check_access_t, of the blocks around the current one, and of it
  tfrt_scratch_t ops;        // tfrt_check_op_t, likewise; the scratch word of an op is its index
  tfrt_scratch_t transfers;  // tfrt_chain_waits_t
  tfrt_scratch_t masks;      // tfrt_check_mask_t for each value
  tfrt_scratch_t places;     // what a walk knows of each place, see chain_checker.c
  uint32_t stamp;
  tfrt_check_mode_t mode;
  bool reports;  // this round says what it finds
  tfrt_check_verdict_t verdict;
  uint64_t steps;  // of walks that are left
  uint32_t warning_count;
  bool changed;
  bool failed;
} tfrt_chain_checker_t;

// Notes that something counts as ordered that may not be.
static inline void tfrt_check_count_as_ordered(tfrt_chain_checker_t* checker) {
  if (checker->verdict == TFRT_CHECK_ORDERED) checker->verdict = TFRT_CHECK_UNKNOWN;
}

// --- chain_checker.c -----------------------------------------------------------------------

// Sums up |block| in |out_summary| (NULL: nobody asks), and compares its accesses.
void tfrt_check_block(tfrt_chain_checker_t* checker, tfrt_ir_block_t* block,
                      tfrt_check_summary_t* out_summary);
void tfrt_check_summary_initialize(tfrt_chain_checker_t* checker, tfrt_check_summary_t* summary);
void tfrt_check_summary_deinitialize(tfrt_check_summary_t* summary);

// --- chain_check_inner.c ---------------------------------------------------------------------

// Adds to the accesses of the current block those of the functions and regions that |op| runs, and
// its transfers, as |out_op| says; the latter has the first access already.
void tfrt_check_inner(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                      tfrt_check_op_t* out_op);

// --- chain_check_report.c --------------------------------------------------------------------

// Reports that nothing orders |later|, of |op|, behind |earlier|, of |other|.
void tfrt_check_report_pair(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                            const tfrt_check_access_t* later, const tfrt_ir_operation_t* other,
                            const tfrt_check_access_t* earlier);
// Reports that nothing orders |later| in one turn of the loop |op| behind |earlier| in one before.
void tfrt_check_report_turns(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                             const tfrt_check_access_t* later, const tfrt_check_access_t* earlier);

#endif  // TFRT_COMPILER_PASSES_CHAIN_CHECKER_IMPL_H_
