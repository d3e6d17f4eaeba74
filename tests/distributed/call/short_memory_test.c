// SPDX-License-Identifier: Apache-2.0
//
// A host that is short of memory when it tells what became of a call: an error stays one.
#include "host_runtime/base/string_builder.h"
#include "tests/distributed/host/node_harness.h"
#include "tests/support/test_main.h"

// The number of results, and a block size. Other blocks of such a call are smaller; the report that
// each result is an error takes a larger one.
#define RESULTS 400
#define LARGE (36u << 10)

static tfrt_node_world_t world;
static tfrt_string_builder_t program;

// Host 1 has no large block any more, or only the next one is not given.
typedef enum shortage_e { NO_SHORTAGE, ONE_BLOCK, ALL_BLOCKS } shortage_t;
static shortage_t shortage;
static int refused;

static void* allocate(void* self, size_t size, size_t alignment) {
  (void)self;
  if (size > LARGE && shortage != NO_SHORTAGE) {
    ++refused;
    if (shortage == ONE_BLOCK) shortage = NO_SHORTAGE;
    return NULL;
  }
  const tfrt_allocator_t system = tfrt_allocator_system();
  return system.vtable->allocate(system.self, size, alignment);
}

static void deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self;
  const tfrt_allocator_t system = tfrt_allocator_system();
  system.vtable->deallocate(system.self, pointer, size, alignment);
}

static const tfrt_allocator_vtable_t meagre = {.allocate = allocate, .deallocate = deallocate};

static void make_meagre(uint32_t index, tfrt_node_options_t* options) {
  if (index == 1) options->allocator = (tfrt_allocator_t){.vtable = &meagre};
}

// --- @main calls @fail on host 1; each result is the same chain, an error ------------------------

static void add(const char* text) { tfrt_string_builder_append_format(&program, "%s", text); }

static void add_types(void) {
  for (int i = 0; i < RESULTS; ++i) add(i > 0 ? ", !tfrt.chain" : "!tfrt.chain");
}

static void write_program(void) {
  tfrt_string_builder_initialize(&program, tfrt_allocator_system());
  add("func.func @fail() -> (");
  add_types();
  add(") {\n"
      "  %x = \"tfrt_test.fail\"() : () -> i32\n"
      "  %c = \"tfrt_test.as_chain\"(%x) : (i32) -> !tfrt.chain\n"
      "  tfrt.return ");
  for (int i = 0; i < RESULTS; ++i) add(i > 0 ? ", %c" : "%c");
  add(" : ");
  add_types();
  add("\n}\nfunc.func @main(%x: i32) -> (");
  add_types();
  tfrt_string_builder_append_format(
      &program, ") {\n  %%c:%d = tfrt.call @fail() {host = 1 : i32} : () -> (", RESULTS);
  add_types();
  add(")\n  tfrt.return ");
  for (int i = 0; i < RESULTS; ++i) {
    tfrt_string_builder_append_format(&program, i > 0 ? ", %%c#%d" : "%%c#%d", i);
  }
  add(" : ");
  add_types();
  add("\n}\n");
}

static void start(void) {
  tfrt_node_world_start_i32(&world, tfrt_string_builder_text(&program), 0, RESULTS);
}

static void begin(void) {
  shortage = NO_SHORTAGE;
  refused = 0;
  write_program();
  tfrt_node_world_set_configure(make_meagre);
  tfrt_node_world_initialize(&world, 2, NULL);
  tfrt_node_world_set_configure(NULL);
  // Sessions and program are there when the call is made that counts.
  start();
  tfrt_node_world_await(&world);
  for (uint32_t i = 0; i < RESULTS; ++i) tfrt_async_value_release(world.results[i]);
  tfrt_node_world_run_for(&world, TFRT_NODE_WORLD_SECOND);
}

static void end(void) {
  tfrt_node_world_finish(&world);
  tfrt_node_world_deinitialize(&world);
  tfrt_string_builder_deinitialize(&program);
}

START_TEST(a_chain_that_is_an_error_is_never_told_to_be_there) {
  begin();
  shortage = _i == 0 ? ONE_BLOCK : ALL_BLOCKS;
  start();
  tfrt_node_world_await(&world);
  ck_assert_int_gt(refused, 0);
  shortage = NO_SHORTAGE;
  int exhausted = 0;
  for (uint32_t i = 0; i < RESULTS; ++i) {
    tfrt_status_code_t code = tfrt_status_code(tfrt_node_world_error(&world, i));
    exhausted += code == TFRT_STATUS_RESOURCE_EXHAUSTED;
  }
  // Each result is an error, and some of the errors still carry their own message.
  ck_assert_int_gt(exhausted, 0);
  ck_assert_int_lt(exhausted, RESULTS);
  end();
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* memory = tcase_create("memory");
  tcase_add_loop_test(memory, a_chain_that_is_an_error_is_never_told_to_be_there, 0, 2);
  Suite* suite = suite_create("short memory");
  suite_add_tcase(suite, memory);
  return suite;
}
