// SPDX-License-Identifier: Apache-2.0
//
// The attributes that MLIR's own definitions of ops have. Stock MLIR prints these as an op's
// properties, and all others behind its regions.

#include <stdlib.h>
#include <string.h>

#include "compiler/printer/printer_impl.h"

// An op, and the names of its properties.
typedef struct properties_s {
  const char* op;
  const char* names[TFRT_PRINTER_MAX_PROPERTIES];
} properties_t;

static const properties_t all_properties[] = {
    {"arith.addf", {"fastmath"}},
    {"arith.addi", {"overflowFlags"}},
    {"arith.cmpf", {"fastmath", "predicate"}},
    {"arith.cmpi", {"predicate"}},
    {"arith.constant", {"value"}},
    {"arith.divf", {"fastmath"}},
    {"arith.divsi", {"isExact"}},
    {"arith.divui", {"isExact"}},
    {"arith.extf", {"fastmath"}},
    {"arith.maximumf", {"fastmath"}},
    {"arith.maxnumf", {"fastmath"}},
    {"arith.minimumf", {"fastmath"}},
    {"arith.minnumf", {"fastmath"}},
    {"arith.mulf", {"fastmath"}},
    {"arith.muli", {"overflowFlags"}},
    {"arith.negf", {"fastmath"}},
    {"arith.remf", {"fastmath"}},
    {"arith.shli", {"overflowFlags"}},
    {"arith.shrsi", {"isExact"}},
    {"arith.shrui", {"isExact"}},
    {"arith.subf", {"fastmath"}},
    {"arith.subi", {"overflowFlags"}},
    {"arith.truncf", {"fastmath", "roundingmode"}},
    {"arith.trunci", {"overflowFlags"}},
    {"async.call", {"arg_attrs", "callee", "res_attrs"}},
    {"async.execute", {"operandSegmentSizes"}},
    {"async.func", {"arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"}},
    {"async.runtime.add_ref", {"count"}},
    {"async.runtime.drop_ref", {"count"}},
    {"builtin.module", {"sym_name", "sym_visibility"}},
    {"cf.assert", {"msg"}},
    {"cf.cond_br", {"branch_weights", "operandSegmentSizes"}},
    {"cf.switch", {"case_operand_segments", "case_values", "operandSegmentSizes"}},
    {"func.call", {"arg_attrs", "callee", "no_inline", "res_attrs"}},
    {"func.func",
     {"arg_attrs", "function_type", "no_inline", "res_attrs", "sym_name", "sym_visibility"}},
    {"gpu.alloc", {"hostShared", "operandSegmentSizes"}},
    {"gpu.binary", {"objects", "offloadingHandler", "sym_name"}},
    {"gpu.launch_func", {"kernel", "operandSegmentSizes"}},
    {"linalg.fill", {"operandSegmentSizes"}},
    {"memref.alloc", {"alignment", "operandSegmentSizes"}},
    {"memref.alloca", {"alignment", "operandSegmentSizes"}},
    {"memref.atomic_rmw", {"kind"}},
    {"memref.load", {"alignment", "nontemporal"}},
    {"memref.store", {"alignment", "nontemporal"}},
    {"scf.for", {"unsignedCmp"}},
    {"scf.parallel", {"operandSegmentSizes"}},
    {"vector.print", {"punctuation", "stringLiteral"}},
};

static int compare_op(const void* key, const void* element) {
  return strcmp(key, ((const properties_t*)element)->op);
}

tfrt_printer_properties_t tfrt_printer_find_properties(const tfrt_ir_operation_t* operation) {
  static const char* const of_math[TFRT_PRINTER_MAX_PROPERTIES] = {"fastmath"};
  const properties_t* found =
      bsearch(operation->name->data, all_properties, TFRT_ARRAY_SIZE(all_properties),
              sizeof(all_properties[0]), compare_op);
  bool is_math = !found && operation->descriptor &&
                 strncmp(operation->name->data, "math.", 5) == 0 &&
                 !tfrt_ir_operation_is(operation, "math.absi");
  const char* const* names = is_math ? of_math : NULL;
  if (found) names = found->names;
  tfrt_printer_properties_t properties = {.count = 0};
  while (names && properties.count < TFRT_PRINTER_MAX_PROPERTIES && names[properties.count]) {
    properties.names[properties.count] = tfrt_string_view_of(names[properties.count]);
    ++properties.count;
  }
  return properties;
}

bool tfrt_printer_is_property(const tfrt_ir_operation_t* operation,
                              const tfrt_printer_properties_t* properties,
                              const tfrt_ir_named_attribute_t* entry) {
  const tfrt_ir_attribute_t* own = operation->properties;
  if (own) {
    return own->kind == TFRT_IR_ATTRIBUTE_DICTIONARY &&
           tfrt_ir_named_attributes_find(own->entries, own->count, entry->name->data) ==
               entry->value;
  }
  tfrt_string_view_t name = tfrt_ir_string_view(entry->name);
  for (uint32_t i = 0; i < properties->count; ++i) {
    if (tfrt_string_view_equal_short(name, properties->names[i])) return true;
  }
  return false;
}
