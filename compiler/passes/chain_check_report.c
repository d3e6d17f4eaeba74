// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/chain_checker_impl.h"
#include "compiler/passes/pass.h"

// The name of the place; NULL: it is memory.
static const char* name_of_place(tfrt_place_t place) {
  static const char* const names[] = {
      [TFRT_PLACE_OUTPUT] = "the output",
      [TFRT_PLACE_FILES] = "files",
      [TFRT_PLACE_MESSAGES] = "messages",
      [TFRT_PLACE_STATE] = "the state of the host",
  };
  if (place >= TFRT_PLACE_FIRST_FILE && place < TFRT_PLACE_OUTSIDE_COUNT) return "a file";
  return place < TFRT_ARRAY_SIZE(names) ? names[place] : NULL;
}

static bool may_report(tfrt_chain_checker_t* checker, tfrt_place_t place) {
  if (checker->mode == TFRT_CHECK_ASKS) {
    if (checker->reports && place >= TFRT_PLACE_OUTSIDE_COUNT)
      checker->verdict = TFRT_CHECK_UNORDERED;
    return false;
  }
  return checker->reports && checker->warning_count++ < TFRT_CHAIN_CHECKER_MAX_WARNINGS;
}

// Says where the access of |op| is, if that is inside of what the op runs.
static void note_inside(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                        const tfrt_check_access_t* access) {
  if (access->leaf == op) return;
  tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_NOTE, access->leaf,
                   "'%s' op runs this '%s' op", op->name->data, access->leaf->name->data);
}

void tfrt_check_report_pair(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                            const tfrt_check_access_t* later, const tfrt_ir_operation_t* other,
                            const tfrt_check_access_t* earlier) {
  if (!may_report(checker, later->place)) return;
  const char* place = name_of_place(later->place);
  if (place) {
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_WARNING, op,
                     "no chain orders the effects on %s of '%s' op and, before it, of '%s' op",
                     place, op->name->data, other->name->data);
  } else {
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_WARNING, op,
                     "'%s' op %s memory that '%s' op, before it, %s, and no chain orders the two",
                     op->name->data, later->writes ? "writes to" : "reads", other->name->data,
                     earlier->writes ? "writes to" : "reads");
  }
  note_inside(checker, op, later);
  tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_NOTE, other,
                   "this '%s' op need not be done by then", other->name->data);
  note_inside(checker, other, earlier);
}

void tfrt_check_report_turns(tfrt_chain_checker_t* checker, const tfrt_ir_operation_t* op,
                             const tfrt_check_access_t* later, const tfrt_check_access_t* earlier) {
  if (!may_report(checker, later->place)) return;
  const char* place = name_of_place(later->place);
  if (place) {
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_WARNING, later->leaf,
                     "no chain orders the effects on %s of '%s' op and of '%s' op in a turn before "
                     "of '%s' op",
                     place, later->leaf->name->data, earlier->leaf->name->data, op->name->data);
  } else {
    tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_WARNING, later->leaf,
                     "'%s' op %s memory that '%s' op %s in a turn before of '%s' op, and no chain "
                     "orders the two",
                     later->leaf->name->data, later->writes ? "writes to" : "reads",
                     earlier->leaf->name->data, earlier->writes ? "writes to" : "reads",
                     op->name->data);
  }
  tfrt_pass_report(checker->diagnostics, TFRT_SEVERITY_NOTE, earlier->leaf,
                   "this '%s' op need not be done by then", earlier->leaf->name->data);
}
