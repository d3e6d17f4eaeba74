// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_report.h"

#include <stdio.h>
#include <string.h>

#include "tools/coordinator/told_errors.h"
#include "tools/output/json.h"
#include "tools/output/result_printer.h"

static void run_report_text(const tfrt_run_outcome_t* outcome, const tfrt_run_style_t* style,
                            tfrt_string_builder_t* out) {
  if (outcome->result_count == 0) return;
  tfrt_result_printer_append(outcome->function, outcome->results, outcome->result_count,
                             style->print_error_code, out);
  tfrt_string_builder_append_char(out, '\n');
  if (style->shown != TFRT_RUN_SHOWN_TENSORS) return;
  tfrt_result_printer_append_tensors(outcome->results, outcome->result_count, out);
}

// {"function":"main","results":[{"value":"1"},{"error":{...}}]}; with an |error| of none of them
// (+0, may be OK) it is a member behind them.
static void run_report_json(const tfrt_run_outcome_t* outcome, tfrt_status_t error,
                            tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "{\"function\":");
  tfrt_json_append_string(out, tfrt_string_view_of(outcome->function));
  tfrt_string_builder_append_text(out, ",\"results\":[");
  for (uint32_t i = 0; i < outcome->result_count; ++i) {
    if (i > 0) tfrt_string_builder_append_char(out, ',');
    tfrt_result_printer_append_json(outcome->results[i], out);
  }
  tfrt_string_builder_append_char(out, ']');
  if (error) {
    tfrt_string_builder_append_char(out, ',');
    tfrt_result_printer_append_json_error_member(error, out);
  }
  tfrt_string_builder_append_text(out, "}\n");
}

// Prints |before| and |text| as one line. |text| may come from a program, a file or a peer, so line
// breaks and control characters are escaped, as in logs.
static void run_report_line(const char* before, const char* text) {
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_string_builder_append_shown(&line, tfrt_string_view_of(text));
  fprintf(stderr, "tfrt: %s%s\n", before,
          line.failed ? "an error, and no memory to print it" : tfrt_string_builder_text(&line));
  tfrt_string_builder_deinitialize(&line);
}

void tfrt_run_report_error(tfrt_status_t status) {
  char text[2048];
  tfrt_status_format(status, text, sizeof(text));
  run_report_line("", text);
}

// The program checks for write errors once, at its end.
static void run_report_print(tfrt_string_builder_t* out) {
  fputs(tfrt_string_builder_text(out), stdout);
  fflush(stdout);
}

void tfrt_run_report_failure(tfrt_status_t status, bool is_json) {
  tfrt_run_report_error(status);
  if (!is_json) return;
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  tfrt_result_printer_append_json_error(status, &out);
  tfrt_string_builder_append_char(&out, '\n');
  run_report_print(&out);
  tfrt_string_builder_deinitialize(&out);
}

// Prints the errors of results that say something else than |first|.
static void run_report_others(const tfrt_run_outcome_t* outcome, tfrt_status_t first) {
  tfrt_told_errors_t told;
  tfrt_told_errors_initialize(&told, tfrt_allocator_system());
  tfrt_told_errors_add(&told, first);
  for (uint32_t i = 0; i < outcome->result_count; ++i) {
    if (!tfrt_async_value_is_error(outcome->results[i])) continue;
    tfrt_status_t error = tfrt_async_value_error(outcome->results[i]);
    if (!tfrt_told_errors_add(&told, error)) continue;
    char text[2048];
    tfrt_status_format(error, text, sizeof(text));
    char before[32];
    snprintf(before, sizeof(before), "  result %u: ", i);
    run_report_line(before, text);
  }
  tfrt_told_errors_deinitialize(&told);
}

// Whether |error|, in its words, was printed while the run went on.
static bool run_report_was_told(const tfrt_run_outcome_t* outcome, tfrt_status_t error) {
  if (!outcome->told) return false;
  tfrt_told_errors_t told;
  tfrt_told_errors_initialize(&told, tfrt_allocator_system());
  tfrt_told_errors_add(&told, outcome->told);
  bool is_new = tfrt_told_errors_add(&told, error);
  tfrt_told_errors_deinitialize(&told);
  return !is_new;
}

// Prints the first error, then, if the user wants them, what its causes say and the other errors.
static void run_report_errors(const tfrt_run_outcome_t* outcome, tfrt_status_t first,
                              bool is_verbose) {
  if (!run_report_was_told(outcome, first)) tfrt_run_report_error(first);
  if (!is_verbose) return;
  const tfrt_status_fields_t* fields = tfrt_status_fields(first);
  for (uint32_t i = 0; i < fields->cause_count; ++i) {
    run_report_line("  because: ", fields->causes[i]);
  }
  run_report_others(outcome, first);
}

// The error of the first result that is one (+0), or OK.
static tfrt_status_t run_report_result_error(const tfrt_run_outcome_t* outcome) {
  for (uint32_t i = 0; i < outcome->result_count; ++i) {
    tfrt_async_value_t* result = outcome->results[i];
    if (tfrt_async_value_is_error(result)) return tfrt_async_value_error(result);
  }
  return NULL;
}

// The error of the run where it is none of a result (+0), or OK. A run in this process does not
// tell by its end that it was cut off, nor does one whose host 0 is of an older version.
static tfrt_status_t run_report_own_error(const tfrt_run_outcome_t* outcome) {
  if (outcome->cancelled) return outcome->cancelled;
  bool has_error = outcome->ended && tfrt_async_value_is_error(outcome->ended);
  return has_error ? tfrt_async_value_error(outcome->ended) : NULL;
}

tfrt_status_t tfrt_run_report_results(const tfrt_run_outcome_t* outcome,
                                      const tfrt_run_style_t* style) {
  tfrt_status_t of_result = run_report_result_error(outcome);
  tfrt_status_t own = of_result ? NULL : run_report_own_error(outcome);
  tfrt_string_builder_t out;
  tfrt_string_builder_initialize(&out, tfrt_allocator_system());
  if (style->shown == TFRT_RUN_SHOWN_ERRORS && !of_result) {
    // They are written when the run is over.
  } else if (style->is_json) {
    run_report_json(outcome, own, &out);
  } else {
    run_report_text(outcome, style, &out);
  }
  tfrt_status_t error = of_result ? of_result : own;
  // A result that can't be printed is none.
  if (!error && out.failed) error = tfrt_status_out_of_memory();
  // First the errors: nobody may be reading the results.
  if (error) run_report_errors(outcome, error, style->is_verbose);
  run_report_print(&out);
  tfrt_string_builder_deinitialize(&out);
  return error;
}
