// SPDX-License-Identifier: Apache-2.0
//
// A short notation for op tables: one row for each op, with its operands and results in it.
//
//   OP("tfrt.add.i32", "The sum of both operands.", IN(READ("lhs", "i32"), READ("rhs", "i32")),
//      OUT(GIVE("result", "i32")), FLAGS(PURE, SYNC_TOO), COST(1)),
//
// Behind name and summary come, in any order, and only those that the op has:
//
//   FORM("operands attr-dict")       the custom form
//   IN(...)  OUT(...)  SET(...)      operands, results and attributes: a list of what stands below
//   FLAGS(...)  EFFECTS(...)         names of kernel_descriptor.h, without TFRT_KERNEL_,
//   TFRT_EFFECT_ COST(n)                          without it, the cost depends on the program
//   TFRT_OPERANDS(array), ...        instead of IN(), OUT(), SET(): a list that several ops share
//   .shares = "input", ...           the other members, by their names
//
//   operands    READ demanded   WAIT awaited   WRITE mutated   TAKE consumed   PASS passed
//               AFTER: the chain behind which the op comes
//   results     GIVE   DONE: the chain
//   attributes  NEED: the text must have it   MAY: the text may leave it out, for the default
//
// Its names have no prefix: only sources of op tables include it.
//
// Thread rule: constant data. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_OP_ROW_H_
#define TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_OP_ROW_H_

#include "host_runtime/executor/descriptor/kernel_descriptor.h"

#define OP(name_, summary_, ...) \
  { .name = (name_), .summary = (summary_), __VA_ARGS__ }

#define FORM(text) .assembly = (text)
#define COST(units) .cost = (units)

// The literal is an array of static storage, as the table is.
#define OP_LIST(member, type, ...)          \
  .member##s = (const type[]){__VA_ARGS__}, \
  .member##_count = sizeof((const type[]){__VA_ARGS__}) / sizeof(type)
#define IN(...) OP_LIST(operand, tfrt_operand_descriptor_t, __VA_ARGS__)
#define OUT(...) OP_LIST(result, tfrt_result_descriptor_t, __VA_ARGS__)
#define SET(...) OP_LIST(attribute, tfrt_attribute_descriptor_t, __VA_ARGS__)

#define READ(name, type) \
  { name, type, TFRT_OPERAND_DEMANDED }
#define WAIT(name, type) \
  { name, type, TFRT_OPERAND_AWAITED }
#define WRITE(name, type) \
  { name, type, TFRT_OPERAND_MUTATED }
#define TAKE(name, type) \
  { name, type, TFRT_OPERAND_CONSUMED }
#define PASS(name, type) \
  { name, type, TFRT_OPERAND_PASSED }
#define AFTER WAIT("chain", "!tfrt.chain")
#define GIVE(name, type) \
  { name, type }
#define DONE GIVE("chain", "!tfrt.chain")
#define NEED(name, kind) \
  { name, TFRT_ATTRIBUTE_##kind, NULL }
#define MAY(name, kind, literal) \
  { name, TFRT_ATTRIBUTE_##kind, literal }

// Up to five names, each behind |prefix|, as one set.
#define OP_NAMES_1(prefix, a) prefix##a
#define OP_NAMES_2(prefix, a, b) prefix##a | prefix##b
#define OP_NAMES_3(prefix, a, b, c) prefix##a | OP_NAMES_2(prefix, b, c)
#define OP_NAMES_4(prefix, a, b, c, d) prefix##a | OP_NAMES_3(prefix, b, c, d)
#define OP_NAMES_5(prefix, a, b, c, d, e) prefix##a | OP_NAMES_4(prefix, b, c, d, e)
#define OP_NAMES_OF(a, b, c, d, e, n, ...) OP_NAMES_##n
#define OP_NAMES(prefix, ...) OP_NAMES_OF(__VA_ARGS__, 5, 4, 3, 2, 1, 0)(prefix, __VA_ARGS__)
#define FLAGS(...) .flags = OP_NAMES(TFRT_KERNEL_, __VA_ARGS__)
#define EFFECTS(...) .effects = OP_NAMES(TFRT_EFFECT_, __VA_ARGS__)

#endif  // TFRT_HOST_RUNTIME_EXECUTOR_DESCRIPTOR_OP_ROW_H_
