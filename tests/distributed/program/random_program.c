// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/program/random_program.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host_runtime/base/macros.h"

// Calls of one run, at most.
#define MAX_COST 80
// How often a text has that of the argument, at most.
#define MAX_COPIES 24
// The turns of a loop, and how many hosts each turn goes along.
#define LOOP_TURNS 4
#define LOOP_HOSTS 3
// Values of one kind in a function.
#define MAX_VALUES (TFRT_RANDOM_PROGRAM_MAX_OPS + 1)

// --- What there is -----------------------------------------------------------

static bool is_call(tfrt_random_op_kind_t kind) {
  return kind >= TFRT_RANDOM_OP_CALL && kind <= TFRT_RANDOM_OP_KEEP;
}

static bool is_of_all_hosts(tfrt_random_op_kind_t kind) {
  return kind == TFRT_RANDOM_OP_ALL || kind == TFRT_RANDOM_OP_GET || kind == TFRT_RANDOM_OP_KEEP;
}

static bool gives_number(tfrt_random_op_kind_t kind) {
  return kind != TFRT_RANDOM_OP_APPEND && kind != TFRT_RANDOM_OP_COPY;
}

static bool gives_text(tfrt_random_op_kind_t kind) {
  return kind == TFRT_RANDOM_OP_APPEND || kind == TFRT_RANDOM_OP_COPY ||
         kind == TFRT_RANDOM_OP_CALL || kind == TFRT_RANDOM_OP_COMPUTE;
}

static uint32_t below(tfrt_random_t* random, uint32_t limit) {
  return (uint32_t)tfrt_random_below(random, limit);
}

// --- What must come of it ----------------------------------------------------

// False if a text becomes too long.
static bool evaluate(const tfrt_random_program_t* program, uint32_t index,
                     const tfrt_random_value_t arguments[2], tfrt_random_value_t out_results[2]) {
  const tfrt_random_function_t* function = &program->functions[index];
  tfrt_random_value_t numbers[MAX_VALUES] = {arguments[0]};
  tfrt_random_value_t texts[MAX_VALUES] = {arguments[1]};
  uint32_t n = 1;
  uint32_t t = 1;
  for (uint32_t i = 0; i < function->op_count; ++i) {
    const tfrt_random_op_t* op = &function->ops[i];
    tfrt_random_value_t made[2] = {{0}};
    if (op->kind == TFRT_RANDOM_OP_ADD || op->kind == TFRT_RANDOM_OP_APPEND) {
      const tfrt_random_value_t* of = op->kind == TFRT_RANDOM_OP_ADD ? numbers : texts;
      made[0] = (tfrt_random_value_t){of[op->a].value + of[op->b].value,
                                      of[op->a].is_error || of[op->b].is_error};
      made[1] = made[0];
    } else if (op->kind == TFRT_RANDOM_OP_LOOP) {
      made[0] = numbers[op->a];
      made[0].value += LOOP_TURNS * LOOP_HOSTS;
    } else if (op->kind == TFRT_RANDOM_OP_FAIL) {
      made[0].is_error = true;
    } else if (op->kind == TFRT_RANDOM_OP_COPY) {
      made[1] = texts[op->b];
    } else if (op->kind == TFRT_RANDOM_OP_TELL) {
      made[0] = numbers[0];
    } else if (op->kind == TFRT_RANDOM_OP_REDUCE) {
      made[0] = numbers[op->a];
      made[0].value *= program->host_count;
    } else {
      tfrt_random_value_t given[2] = {numbers[op->a], texts[op->b]};
      if (!evaluate(program, op->function, given, made)) return false;
      bool is_sum = is_of_all_hosts(op->kind) && op->kind != TFRT_RANDOM_OP_GET;
      if (is_sum) made[0].value *= program->host_count;
    }
    if (gives_number(op->kind)) numbers[n++] = made[0];
    if (gives_text(op->kind)) texts[t++] = made[1];
    if (gives_text(op->kind) && made[1].value > MAX_COPIES) return false;
  }
  out_results[0] = numbers[function->number];
  out_results[1] = texts[function->text];
  return true;
}

// --- Generation --------------------------------------------------------------

// The cost of |op| in calls.
static uint32_t cost_of(const tfrt_random_program_t* program, const tfrt_random_op_t* op) {
  uint32_t callee = program->functions[op->function].cost;
  switch (op->kind) {
    case TFRT_RANDOM_OP_CALL:
    case TFRT_RANDOM_OP_COMPUTE:
      return callee;
    case TFRT_RANDOM_OP_ALL:
    case TFRT_RANDOM_OP_GET:
    case TFRT_RANDOM_OP_KEEP:
      return program->host_count * callee + 2;
    case TFRT_RANDOM_OP_REDUCE:
      return 4 * program->host_count;
    case TFRT_RANDOM_OP_LOOP:
      return LOOP_TURNS * LOOP_HOSTS;
    case TFRT_RANDOM_OP_TELL:
      return 2;
    default:
      return 0;
  }
}

static tfrt_random_op_t pick_op(const tfrt_random_program_t* program, uint32_t index,
                                uint32_t numbers, uint32_t texts, tfrt_random_t* random) {
  static const tfrt_random_op_kind_t kinds[] = {
      TFRT_RANDOM_OP_ADD,     TFRT_RANDOM_OP_CALL,   TFRT_RANDOM_OP_CALL,   TFRT_RANDOM_OP_CALL,
      TFRT_RANDOM_OP_COMPUTE, TFRT_RANDOM_OP_ALL,    TFRT_RANDOM_OP_GET,    TFRT_RANDOM_OP_KEEP,
      TFRT_RANDOM_OP_COPY,    TFRT_RANDOM_OP_APPEND, TFRT_RANDOM_OP_REDUCE, TFRT_RANDOM_OP_TELL};
  bool may_wait = index == 0 && program->has_messages;
  uint32_t kind_count = TFRT_ARRAY_SIZE(kinds) - (may_wait ? 0 : 2);
  tfrt_random_op_t op = {.kind = kinds[below(random, kind_count)]};
  if (below(random, 25) == 0) op.kind = TFRT_RANDOM_OP_FAIL;
  op.host = below(random, program->host_count);
  bool is_leaf = index + 1 == program->function_count;
  if (!is_leaf) op.function = index + 1 + below(random, program->function_count - index - 1);
  if (is_call(op.kind) && is_leaf) op.kind = TFRT_RANDOM_OP_ADD;
  bool is_of_texts = op.kind == TFRT_RANDOM_OP_APPEND;
  op.a = below(random, is_of_texts ? texts : numbers);
  op.b = below(random, op.kind == TFRT_RANDOM_OP_ADD ? numbers : texts);
  if (op.kind == TFRT_RANDOM_OP_ADD && op.host + 1 == program->host_count) {
    op.kind = TFRT_RANDOM_OP_LOOP;
  }
  return op;
}

static void generate_function(tfrt_random_program_t* program, uint32_t index,
                              tfrt_random_t* random) {
  tfrt_random_function_t* function = &program->functions[index];
  uint32_t numbers = 1;
  uint32_t texts = 1;
  uint32_t want = 2 + below(random, TFRT_RANDOM_PROGRAM_MAX_OPS - 1);
  function->cost = 1;
  for (uint32_t i = 0; i < want; ++i) {
    tfrt_random_op_t op = pick_op(program, index, numbers, texts, random);
    uint32_t cost = cost_of(program, &op);
    if (function->cost + cost > MAX_COST) continue;
    function->cost += cost;
    if (gives_number(op.kind)) ++numbers;
    if (gives_text(op.kind)) ++texts;
    function->ops[function->op_count++] = op;
  }
  // Mostly the last, so that much is needed; sometimes an argument.
  function->number = below(random, 3) ? numbers - 1 : below(random, numbers);
  function->text = below(random, 3) ? texts - 1 : below(random, texts);
}

// --- Text --------------------------------------------------------------------

static void put(tfrt_random_program_t* program, const char* format, ...) TFRT_PRINTF(2, 3);

static void put(tfrt_random_program_t* program, const char* format, ...) {
  size_t used = strlen(program->source);
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(program->source + used, sizeof(program->source) - used, format, arguments);
  va_end(arguments);
  ck_assert_int_lt(size, (int)(sizeof(program->source) - used));
}

#define BOTH "(i32, !tfrt.string) -> (i32, !tfrt.string)"

// All functions are pure. Some calls say so.
static const char* const again_options[] = {"", ", pure, retries = 1 : i32", ", retries = 1 : i32",
                                            ", pure, retries = 3 : i32"};

// Whether a list is used where it is, or by some other host.
static bool is_used_here(const tfrt_random_op_t* op) { return (op->a + op->b) % 2 == 0; }
static uint32_t elsewhere(const tfrt_random_program_t* program, const tfrt_random_op_t* op) {
  return (op->host + op->a) % program->host_count;
}

static void put_call_all(tfrt_random_program_t* program, const tfrt_random_op_t* op, uint32_t i) {
  put(program,
      "  %%l%u = tfrt_dist.call_all @number%u(%%n%u, %%t%u) : (i32, !tfrt.string) -> "
      "(!tfrt_dist.list)\n",
      i, op->function, op->a, op->b);
}

// The same as put_op(), for lists.
static void put_list(tfrt_random_program_t* program, const tfrt_random_op_t* op, uint32_t i,
                     uint32_t n) {
  switch (op->kind) {
    case TFRT_RANDOM_OP_ALL:
      put_call_all(program, op, i);
      if (is_used_here(op)) {
        put(program, "  %%n%u = tfrt_dist.list.sum %%l%u : i32\n", n, i);
      } else {
        put(program,
            "  %%n%u = tfrt.call @sum(%%l%u) {host = %u : i32} : (!tfrt_dist.list) -> i32\n", n, i,
            op->host);
      }
      break;
    case TFRT_RANDOM_OP_GET:
      put_call_all(program, op, i);
      put(program, "  %%i%u = tfrt.constant.i32 %u\n", i, op->host);
      if (is_used_here(op)) {
        put(program, "  %%n%u = tfrt_dist.list.get %%l%u, %%i%u : i32\n", n, i, i);
      } else {
        put(program,
            "  %%n%u = tfrt.call @at(%%l%u, %%i%u) {host = %u : i32} : (!tfrt_dist.list, i32) -> "
            "i32\n",
            n, i, i, elsewhere(program, op));
      }
      break;
    case TFRT_RANDOM_OP_KEEP:
      put(program,
          "  %%l%u = tfrt.call @keep%u(%%n%u, %%t%u) {host = %u : i32} : (i32, !tfrt.string) -> "
          "!tfrt_dist.list\n"
          "  %%n%u = tfrt.call @sum(%%l%u) {host = %u : i32} : (!tfrt_dist.list) -> i32\n",
          i, op->function, op->a, op->b, op->host, n, i,
          is_used_here(op) ? op->host : elsewhere(program, op));
      break;
    default:
      break;
  }
}

// The same for calls, and lists.
static void put_call(tfrt_random_program_t* program, const tfrt_random_op_t* op, uint32_t i,
                     uint32_t n, uint32_t t) {
  const char* again = again_options[(op->a + op->host + op->function) % 4];
  switch (op->kind) {
    case TFRT_RANDOM_OP_CALL:
      put(program,
          "  %%n%u, %%t%u = tfrt.call @f%u(%%n%u, %%t%u) {host = %u : i32%s}\n      : " BOTH "\n",
          n, t, op->function, op->a, op->b, op->host, again);
      break;
    case TFRT_RANDOM_OP_COMPUTE:
      put(program,
          "  %%i%u = tfrt.constant.i32 %u\n  %%h%u = tfrt_dist.host %%i%u\n"
          "  %%n%u, %%t%u = tfrt_dist.call %%h%u @f%u(%%n%u, %%t%u) {deadline_ms = 600000 : "
          "i32%s}\n"
          "      : (!tfrt_dist.host, i32, !tfrt.string) -> (i32, !tfrt.string)\n",
          i, op->host, i, i, n, t, i, op->function, op->a, op->b, again);
      break;
    default:
      put_list(program, op, i, n);
      break;
  }
}

// The same for what hosts do together. Groups with names of their own take turns of their own.
static void put_together(tfrt_random_program_t* program, const tfrt_random_op_t* op, uint32_t i,
                         uint32_t n) {
  if (op->kind == TFRT_RANDOM_OP_TELL) {
    put(program,
        "  %%k%u = tfrt_dist.key \"%u\"\n"
        "  %%a%u, %%b%u = tfrt.call @tell(%%n0, %%k%u) {host = %u : i32}\n"
        "      : (i32, !tfrt.string) -> (i32, !tfrt.chain)\n"
        "  %%h%u = tfrt_dist.host %%a%u\n  %%c%u = tfrt.new.chain\n"
        "  %%n%u, %%d%u = tfrt_dist.recv %%h%u, %%k%u, %%c%u : i32\n",
        i, i, i, i, i, op->host, i, i, i, n, i, i, i, i);
    return;
  }
  put(program, "  %%g%u = tfrt_dist.group [0", i);
  for (uint32_t host = 1; host < program->host_count; ++host) put(program, ", %u", host);
  put(program,
      "] {name = \"%u\"}\n"
      "  %%l%u = tfrt_dist.call_all @reduce(%%n%u, %%g%u) : (i32, !tfrt_dist.group) -> "
      "(!tfrt_dist.list)\n  %%n%u = tfrt_dist.list.sum %%l%u : i32\n",
      i, i, op->a, i, n, i);
}

// The body of loop |i| of function |index|. Its next turn begins when the number has come, from the
// last of several hosts; what the others make goes from each to the next alone.
static void put_turn(tfrt_random_program_t* program, uint32_t index, uint32_t i,
                     const tfrt_random_op_t* op) {
  put(program, "func.func @turn%u_%u(%%x0: i32, %%n: i32) -> (i32, i32, i1) {\n", index, i);
  for (uint32_t k = 0; k < LOOP_HOSTS; ++k) {
    put(program, "  %%x%u = tfrt.call @next(%%x%u) {host = %u : i32} : (i32) -> i32\n", k + 1, k,
        (op->host + k) % program->host_count);
  }
  put(program,
      "  %%z = tfrt.constant.i32 0\n  %%o = tfrt.mul.i32 %%x%u, %%z\n"
      "  %%c = tfrt.constant.i32 1\n  %%d = tfrt.add.i32 %%c, %%o\n"
      "  %%m = tfrt.add.i32 %%n, %%d\n  %%l = tfrt.constant.i32 %u\n"
      "  %%again = \"tfrt.lessequal.i32\"(%%m, %%l) : (i32, i32) -> (i1)\n"
      "  tfrt.return %%x%u, %%m, %%again : i32, i32, i1\n}\n",
      LOOP_HOSTS, LOOP_TURNS, LOOP_HOSTS);
}

// The same as put_op(), for a loop.
static void put_loop(tfrt_random_program_t* program, uint32_t index, const tfrt_random_op_t* op,
                     uint32_t i, uint32_t n) {
  put(program,
      "  %%i%u = tfrt.constant.i32 1\n  %%y%u = tfrt.constant.i1 1\n"
      "  %%n%u, %%m%u = tfrt.while %%y%u @turn%u_%u(%%n%u, %%i%u) parallel_iterations(1)\n"
      "      : (i32, i32) -> (i32, i32)\n",
      i, i, n, i, i, index, i, op->a, i);
}

// Writes |op|, number |i| of function |index|, which makes the number |n| and the text |t|.
static void put_op(tfrt_random_program_t* program, uint32_t index, const tfrt_random_op_t* op,
                   uint32_t i, uint32_t n, uint32_t t) {
  switch (op->kind) {
    case TFRT_RANDOM_OP_ADD:
      if (op->host % 2 == 0) {
        put(program, "  %%n%u = tfrt.add.i32 %%n%u, %%n%u\n", n, op->a, op->b);
      } else {
        put(program, "  %%n%u = \"tfrt_test.async_add.i32\"(%%n%u, %%n%u) : (i32, i32) -> i32\n", n,
            op->a, op->b);
      }
      break;
    case TFRT_RANDOM_OP_LOOP:
      put_loop(program, index, op, i, n);
      break;
    case TFRT_RANDOM_OP_FAIL:
      put(program, "  %%z%u = tfrt.constant.i32 0\n  %%n%u, %%r%u = tfrt.div.i32 %%n%u, %%z%u\n", i,
          n, i, op->a, i);
      break;
    case TFRT_RANDOM_OP_APPEND:
      put(program,
          "  %%t%u = \"tfrt_test.append_string\"(%%t%u, %%t%u)\n"
          "      : (!tfrt.string, !tfrt.string) -> !tfrt.string\n",
          t, op->a, op->b);
      break;
    case TFRT_RANDOM_OP_COPY:
      put(program,
          "  %%i%u = tfrt.constant.i32 %u\n  %%h%u = tfrt_dist.host %%i%u\n"
          "  %%t%u = tfrt_dist.copy_to %%h%u, %%t%u : !tfrt.string\n",
          i, op->host, i, i, t, i, op->b);
      break;
    case TFRT_RANDOM_OP_REDUCE:
    case TFRT_RANDOM_OP_TELL:
      put_together(program, op, i, n);
      break;
    default:
      put_call(program, op, i, n, t);
      break;
  }
}

static void put_function(tfrt_random_program_t* program, uint32_t index) {
  const tfrt_random_function_t* function = &program->functions[index];
  char name[16] = "main";
  if (index > 0) snprintf(name, sizeof(name), "f%u", index);
  put(program, "func.func @%s(%%n0: i32, %%t0: !tfrt.string) -> (i32, !tfrt.string) {\n", name);
  uint32_t n = 0;
  uint32_t t = 0;
  for (uint32_t i = 0; i < function->op_count; ++i) {
    const tfrt_random_op_t* op = &function->ops[i];
    if (gives_number(op->kind)) ++n;
    if (gives_text(op->kind)) ++t;
    put_op(program, index, op, i, n, t);
  }
  put(program, "  tfrt.return %%n%u, %%t%u : i32, !tfrt.string\n}\n", function->number,
      function->text);
  for (uint32_t i = 0; i < function->op_count; ++i) {
    const tfrt_random_op_t* op = &function->ops[i];
    if (op->kind == TFRT_RANDOM_OP_LOOP) put_turn(program, index, i, op);
  }
  if (index == 0) return;
  put(program,
      "func.func @number%u(%%n: i32, %%t: !tfrt.string) -> i32 {\n"
      "  %%m, %%s = tfrt.call @f%u(%%n, %%t) : " BOTH
      "\n  tfrt.return %%m : i32\n}\n"
      "func.func @keep%u(%%n: i32, %%t: !tfrt.string) -> !tfrt_dist.list {\n"
      "  %%l = tfrt_dist.call_all @number%u(%%n, %%t) : (i32, !tfrt.string) -> "
      "(!tfrt_dist.list)\n  tfrt.return %%l : !tfrt_dist.list\n}\n",
      index, index, index, index);
}

// Makes functions; false if a text would become too long.
static bool generate_functions(tfrt_random_program_t* program, uint32_t host_count,
                               bool has_messages, tfrt_random_t* random) {
  memset(program, 0, sizeof(*program));
  program->host_count = host_count;
  program->has_messages = has_messages;
  program->function_count = 3 + below(random, TFRT_RANDOM_PROGRAM_MAX_FUNCTIONS - 2);
  for (uint32_t i = program->function_count; i-- > 0;) generate_function(program, i, random);
  const tfrt_random_value_t arguments[2] = {{1, false}, {1, false}};
  tfrt_random_value_t results[2];
  return evaluate(program, 0, arguments, results);
}

void tfrt_random_program_generate(tfrt_random_program_t* program, uint32_t host_count,
                                  bool has_messages, tfrt_random_t* random) {
  while (!generate_functions(program, host_count, has_messages, random)) continue;
  put(program,
      "func.func @sum(%%l: !tfrt_dist.list) -> i32 {\n"
      "  %%s = tfrt_dist.list.sum %%l : i32\n  tfrt.return %%s : i32\n}\n"
      "func.func @next(%%n: i32) -> i32 {\n"
      "  %%c = tfrt.constant.i32 1\n  %%m = tfrt.add.i32 %%n, %%c\n  tfrt.return %%m : i32\n}\n"
      "func.func @at(%%l: !tfrt_dist.list, %%i: i32) -> i32 {\n"
      "  %%e = tfrt_dist.list.get %%l, %%i : i32\n  tfrt.return %%e : i32\n}\n"
      "func.func @tell(%%n: i32, %%k: !tfrt.string) -> (i32, !tfrt.chain) {\n"
      "  %%c = tfrt.new.chain\n  %%z = tfrt.constant.i32 0\n  %%h = tfrt_dist.host %%z\n"
      "  %%d = tfrt_dist.send %%h, %%k, %%n, %%c\n"
      "  %%me = tfrt_dist.rank\n  tfrt.return %%me, %%d : i32, !tfrt.chain\n}\n"
      "func.func @reduce(%%n: i32, %%g: !tfrt_dist.group) -> i32 {\n"
      "  %%c = tfrt.new.chain\n"
      "  %%t = tfrt_tensor.constant dense<[1, 2, 3]> : tensor<3xi32>\n"
      "  %%u, %%d = tfrt_dist.all_reduce %%g, %%t, %%c {reduction = \"sum\"}\n"
      "  %%m = \"tfrt_test.identity\"(%%d, %%n) : (!tfrt.chain, i32) -> i32\n"
      "  tfrt.return %%m : i32\n}\n");
  for (uint32_t i = program->function_count; i-- > 0;) put_function(program, i);
}

void tfrt_random_program_evaluate(const tfrt_random_program_t* program, uint32_t x,
                                  tfrt_random_value_t out_results[2]) {
  const tfrt_random_value_t arguments[2] = {{x, false}, {1, false}};
  ck_assert(evaluate(program, 0, arguments, out_results));
}
