// SPDX-License-Identifier: Apache-2.0
#include "distributed/domain/program_cache.h"

#include <stdio.h>
#include <string.h>

#include "compiler/translate.h"
#include "distributed/domain/domain.h"
#include "distributed/host/node.h"
#include "distributed/security/digest.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/async/builtin_types.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/distributed/simulated/network.h"
#include "tests/fakes/failing_malloc.h"
#include "tests/support/test_main.h"
#include "tools/kernels/kernel_rooms.h"
#include "tools/kernels/op_tables.h"

// The number of unused programs that stay in the cache.
#define SPARE 16

// --- What the tests are made of ----------------------------------------------

static tfrt_simulated_network_t* network;
static tfrt_simulated_endpoint_t* endpoint;
static tfrt_counting_allocator_t node_books;
static tfrt_counting_allocator_t host_books;
static tfrt_host_context_t* host;
static tfrt_node_t* node;

static void expect_ok(tfrt_status_t status) {
  ck_assert_msg(!status, "%s", tfrt_status_message(status));
}

static tfrt_host_context_t* new_host(void) {
  tfrt_work_queue_t* queue = NULL;
  expect_ok(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  tfrt_host_context_t* made = NULL;
  expect_ok(tfrt_host_context_allocate(tfrt_counting_allocator_interface(&host_books),
                                       tfrt_simulated_network_clock(network), queue, &made));
  return made;
}

static void set_up(void) {
  tfrt_simulated_options_t network_options;
  tfrt_simulated_options_initialize(&network_options);
  network = tfrt_simulated_network_allocate(&network_options, tfrt_allocator_system());
  endpoint = tfrt_simulated_network_add_endpoint(network, "n0");
  tfrt_counting_allocator_initialize(&node_books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_counting_allocator_initialize(&host_books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  host = new_host();
  expect_ok(tfrt_kernel_rooms_register(host->registry));
  tfrt_node_options_t options;
  tfrt_node_options_initialize(&options);
  options.allocator = tfrt_counting_allocator_interface(&node_books);
  options.timers = tfrt_simulated_endpoint_timers(endpoint);
  options.transport = tfrt_simulated_endpoint_transport(endpoint);
  options.host = host;
  options.session.cluster_key = tfrt_string_view_of("key");
  expect_ok(tfrt_node_create(&options, &node));
}

// Opens the lock, and lets all that follows from it happen.
static void unlock(void) {
  tfrt_node_unlock(node);
  tfrt_work_queue_quiesce(host->work_queue);
}

static void tear_down(void) {
  tfrt_transport_t* transport = tfrt_simulated_endpoint_transport(endpoint);
  tfrt_node_close(node);
  tfrt_transport_close(transport);
  tfrt_transport_drain(transport);
  ck_assert(tfrt_node_is_drained(node));
  tfrt_node_release(node);
  tfrt_work_queue_quiesce(host->work_queue);
  tfrt_host_context_free(host);
  tfrt_simulated_network_free(network);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&node_books).current_count, 0);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&host_books).current_count, 0);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

// A program in bytes, and what it is announced by.
typedef struct image_s {
  void* bytes;
  size_t size;
  uint8_t sha256[TFRT_SHA256_SIZE];
} image_t;

static tfrt_string_view_t bytes_of(const image_t* image) {
  return tfrt_string_view_make(image->bytes, image->size);
}

static tfrt_string_view_t sha256_of(const image_t* image) {
  return tfrt_string_view_make((const char*)image->sha256, sizeof(image->sha256));
}

// The program that gives |number|.
static image_t compile(int number) {
  char text[128];
  snprintf(text, sizeof(text),
           "func.func @main() -> i32 {\n"
           "  %%x = tfrt.constant.i32 %d\n"
           "  tfrt.return %%x : i32\n"
           "}\n",
           number);
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_text_to_bef_options_t options = {0};
  image_t image = {0};
  expect_ok(tfrt_translate_text_to_bef("test.mlir", tfrt_string_view_of(text), tfrt_all_op_tables(),
                                       &options, tfrt_allocator_system(), &report, &image.bytes,
                                       &image.size));
  tfrt_string_builder_deinitialize(&report);
  expect_ok(tfrt_sha256(bytes_of(&image), image.sha256));
  return image;
}

static void free_image(image_t* image) {
  tfrt_allocator_free(tfrt_allocator_system(), image->bytes, image->size);
}

// The image that announces |bytes|, which need not be a program. The text isn't owned.
static image_t image_of_text(const char* bytes) {
  image_t image = {.bytes = (void*)(uintptr_t)bytes, .size = strlen(bytes)};
  expect_ok(tfrt_sha256(bytes_of(&image), image.sha256));
  return image;
}

// The source and the job of programs that are on their way; only the addresses of the two count.
static const char job_of_source;
static const tfrt_program_source_t a_source = {
    .job = (const tfrt_job_t*)(const void*)&job_of_source, .owner = 7};

static tfrt_cached_program_t* find_from(const image_t* image, const tfrt_program_source_t* source) {
  tfrt_node_lock_tables(node);
  tfrt_cached_program_t* program = tfrt_program_cache_find(node, sha256_of(image), source);
  unlock();
  return program;
}

static tfrt_cached_program_t* find(const image_t* image) { return find_from(image, &a_source); }

static tfrt_cached_program_t* add(const image_t* image, uint64_t size, tfrt_async_value_t* bytes) {
  tfrt_node_lock_tables(node);
  tfrt_cached_program_t* program =
      tfrt_program_cache_add(node, sha256_of(image), size, bytes, &a_source);
  unlock();
  ck_assert_ptr_nonnull(program);
  return program;
}

static tfrt_cached_program_t* add_bytes(const image_t* image) {
  tfrt_cached_program_t* program = NULL;
  expect_ok(tfrt_program_cache_add_bytes(node, bytes_of(image), &program));
  ck_assert_ptr_nonnull(program);
  return program;
}

static void load(tfrt_cached_program_t* program) {
  tfrt_node_lock_tables(node);
  tfrt_cached_program_load(program, NULL);
  unlock();
}

static void release(tfrt_cached_program_t* program) {
  tfrt_node_lock_tables(node);
  tfrt_cached_program_release(program);
  unlock();
}

static bool is_cached(const image_t* image) {
  tfrt_cached_program_t* program = find(image);
  if (program) release(program);
  return program != NULL;
}

static size_t count_programs(void) {
  size_t count = 0;
  tfrt_node_lock_tables(node);
  for (tfrt_list_link_t* l = node->programs.next; l != &node->programs; l = l->next) ++count;
  unlock();
  return count;
}

// |program| could not be loaded: it is the error |code|, whose message has |part| in it.
static void expect_failed(const tfrt_cached_program_t* program, tfrt_status_code_t code,
                          const char* part) {
  ck_assert(tfrt_async_value_is_error(program->ready));
  tfrt_status_t status = tfrt_async_value_error(program->ready);
  ck_assert_msg(strstr(tfrt_status_message(status), part), "%s", tfrt_status_message(status));
  ck_assert_int_eq(tfrt_status_code(status), code);
  ck_assert_ptr_null(program->program);
}

// --- Finding -----------------------------------------------------------------

START_TEST(a_program_is_kept_once_however_often_it_comes) {
  image_t image = compile(1);
  ck_assert_ptr_null(find(&image));
  tfrt_cached_program_t* first = add_bytes(&image);
  tfrt_cached_program_t* second = add_bytes(&image);
  tfrt_cached_program_t* found = find(&image);
  ck_assert_ptr_eq(first, second);
  ck_assert_ptr_eq(first, found);
  ck_assert_uint_eq(count_programs(), 1);
  image_t other = compile(2);
  ck_assert_ptr_null(find(&other));
  release(first);
  release(second);
  release(found);
  free_image(&other);
  free_image(&image);
}
END_TEST

START_TEST(the_bytes_are_copied) {
  image_t image = compile(1);
  image_t same = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  memset(image.bytes, 0, image.size);
  ck_assert(tfrt_string_view_equal(tfrt_async_value_string(program->bytes), bytes_of(&same)));
  ck_assert_uint_eq(program->size, same.size);
  release(program);
  free_image(&same);
  free_image(&image);
}
END_TEST

START_TEST(a_digest_that_is_cut_short_names_nothing) {
  image_t image = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  tfrt_node_lock_tables(node);
  tfrt_string_view_t cut = tfrt_string_view_make((const char*)image.sha256, 31);
  ck_assert_ptr_null(tfrt_program_cache_find(node, cut, NULL));
  ck_assert_ptr_null(tfrt_program_cache_find(node, tfrt_string_view_of(""), NULL));
  unlock();
  release(program);
  free_image(&image);
}
END_TEST

START_TEST(bytes_that_are_here_are_looked_at_and_not_taken_in_again) {
  image_t image = compile(1);
  image_t other = compile(2);
  ck_assert_uint_eq(image.size, other.size);
  tfrt_cached_program_t* program = add_bytes(&image);
  tfrt_cached_program_t* another = add_bytes(&other);
  ck_assert_ptr_ne(another, program);
  // The first look is at the other one, which is as long: these bytes get a digest again.
  tfrt_cached_program_t* again = add_bytes(&image);
  ck_assert_ptr_eq(again, program);
  int64_t values = tfrt_async_value_live_count();
  int64_t blocks = tfrt_counting_allocator_counts(&node_books).total_count;
  for (int is_loaded = 0; is_loaded <= 1; ++is_loaded) {
    tfrt_cached_program_t* same = add_bytes(&image);
    ck_assert_ptr_eq(same, program);
    release(same);
    ck_assert_int_eq(tfrt_async_value_live_count(), values);
    ck_assert_int_eq(tfrt_counting_allocator_counts(&node_books).total_count, blocks);
    load(program);
    values = tfrt_async_value_live_count();
    blocks = tfrt_counting_allocator_counts(&node_books).total_count;
  }
  release(again);
  release(another);
  release(program);
  free_image(&other);
  free_image(&image);
}
END_TEST

// --- Loading -----------------------------------------------------------------

START_TEST(a_good_program_becomes_ready_and_is_found_by_its_functions) {
  image_t image = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  ck_assert_int_eq(tfrt_async_value_state(program->ready), TFRT_ASYNC_VALUE_UNRESOLVED);
  load(program);
  ck_assert_int_eq(tfrt_async_value_state(program->ready), TFRT_ASYNC_VALUE_AVAILABLE);
  ck_assert_ptr_nonnull(program->program);
  const tfrt_function_t* function = tfrt_program_find_function(program->program, "main");
  ck_assert_ptr_nonnull(function);
  image_t other = compile(2);
  tfrt_cached_program_t* unloaded = add_bytes(&other);
  tfrt_node_lock_tables(node);
  ck_assert_ptr_eq(tfrt_program_cache_find_program(node, function->program), program);
  ck_assert_ptr_null(tfrt_program_cache_find_program(node, (tfrt_program_t*)&image));
  unlock();
  release(unloaded);
  release(program);
  free_image(&other);
  free_image(&image);
}
END_TEST

START_TEST(bytes_that_come_later_are_waited_for) {
  image_t image = compile(1);
  tfrt_indirect_value_t* bytes = tfrt_indirect_value_create();
  tfrt_cached_program_t* program = add(&image, image.size, &bytes->base);
  load(program);
  load(program);
  ck_assert_int_eq(tfrt_async_value_state(program->ready), TFRT_ASYNC_VALUE_UNRESOLVED);
  tfrt_cached_program_t* same = find(&image);
  ck_assert_ptr_eq(same, program);
  tfrt_async_value_t* fetched = tfrt_async_value_create_string(bytes_of(&image));
  tfrt_indirect_value_forward(bytes, fetched);
  tfrt_work_queue_quiesce(host->work_queue);
  ck_assert_int_eq(tfrt_async_value_state(program->ready), TFRT_ASYNC_VALUE_AVAILABLE);
  // The placeholder belongs to the job that fetched them; what it stood for stays.
  ck_assert_ptr_eq(program->bytes, fetched);
  tfrt_async_value_release(fetched);
  tfrt_async_value_release(&bytes->base);
  release(same);
  release(program);
  free_image(&image);
}
END_TEST

// Another job does not wait for these bytes, and does not get their error.
START_TEST(bytes_that_come_later_are_waited_for_by_those_whom_they_go_to) {
  image_t image = compile(1);
  tfrt_indirect_value_t* bytes = tfrt_indirect_value_create();
  tfrt_cached_program_t* program = add(&image, image.size, &bytes->base);
  load(program);
  tfrt_program_source_t source = a_source;
  source.owner = 8;
  ck_assert_ptr_null(find_from(&image, &source));
  source = a_source;
  source.job = (const tfrt_job_t*)(const void*)(&job_of_source + 1);
  ck_assert_ptr_null(find_from(&image, &source));
  ck_assert_ptr_null(find_from(&image, NULL));
  tfrt_cached_program_t* brought = add_bytes(&image);
  ck_assert_ptr_ne(brought, program);
  tfrt_cached_program_t* found = find_from(&image, &source);
  ck_assert_ptr_eq(found, brought);
  tfrt_status_t lost = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "its host is lost");
  tfrt_async_value_set_error(&bytes->base, lost);
  tfrt_status_release(lost);
  tfrt_work_queue_quiesce(host->work_queue);
  expect_failed(program, TFRT_STATUS_UNAVAILABLE, "could not be fetched");
  load(brought);
  ck_assert_ptr_nonnull(brought->program);
  tfrt_async_value_release(&bytes->base);
  release(found);
  release(brought);
  release(program);
  free_image(&image);
}
END_TEST

START_TEST(loading_again_changes_nothing) {
  image_t image = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  load(program);
  const tfrt_program_t* loaded = program->program;
  int64_t blocks = tfrt_counting_allocator_counts(&host_books).total_count;
  load(program);
  ck_assert_ptr_eq(program->program, loaded);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&host_books).total_count, blocks);
  release(program);
  free_image(&image);
}
END_TEST

START_TEST(a_program_that_loads_outlives_all_who_asked_for_it) {
  image_t image = compile(1);
  tfrt_indirect_value_t* bytes = tfrt_indirect_value_create();
  tfrt_cached_program_t* program = add(&image, image.size, &bytes->base);
  load(program);
  release(program);
  tfrt_node_lock_tables(node);
  tfrt_program_cache_clear(node);
  unlock();
  ck_assert_uint_eq(count_programs(), 1);
  tfrt_async_value_t* fetched = tfrt_async_value_create_string(bytes_of(&image));
  tfrt_indirect_value_forward_take(bytes, fetched);
  tfrt_work_queue_quiesce(host->work_queue);
  tfrt_async_value_release(&bytes->base);
  ck_assert(is_cached(&image));
  free_image(&image);
}
END_TEST

// --- Threads -----------------------------------------------------------------

// The queue of the host, with one thread more: the test runs its task.
static tfrt_work_queue_vtable_t queue_vtable;
static tfrt_task_t* blocking_task;

static bool add_blocking_task(tfrt_work_queue_t* queue, tfrt_task_t* task, bool allow_queuing) {
  (void)queue;
  ck_assert(!allow_queuing);
  ck_assert_ptr_null(blocking_task);
  blocking_task = task;
  return true;
}

static void add_thread(void) {
  queue_vtable = *host->work_queue->vtable;
  queue_vtable.add_blocking_task = add_blocking_task;
  host->work_queue->vtable = &queue_vtable;
  blocking_task = NULL;
}

// The thread that the bytes come on reads messages, heartbeats among them.
START_TEST(a_large_program_is_loaded_on_a_thread_of_its_own) {
  static char text[TFRT_PROGRAM_CACHE_LARGE + 1];
  memset(text, 'x', sizeof(text) - 1);
  image_t image = image_of_text(text);
  add_thread();
  tfrt_indirect_value_t* bytes = tfrt_indirect_value_create();
  tfrt_cached_program_t* program = add(&image, image.size, &bytes->base);
  load(program);
  ck_assert_ptr_null(blocking_task);
  tfrt_indirect_value_forward_take(bytes, tfrt_async_value_create_string(bytes_of(&image)));
  tfrt_work_queue_quiesce(host->work_queue);
  ck_assert_ptr_nonnull(blocking_task);
  ck_assert_int_eq(tfrt_async_value_state(program->ready), TFRT_ASYNC_VALUE_UNRESOLVED);
  blocking_task->run(blocking_task);
  tfrt_work_queue_quiesce(host->work_queue);
  expect_failed(program, TFRT_STATUS_INVALID_ARGUMENT, "not a BEF file");
  tfrt_async_value_release(&bytes->base);
  release(program);
}
END_TEST

START_TEST(a_small_program_needs_no_other_thread) {
  image_t image = compile(1);
  add_thread();
  tfrt_cached_program_t* program = add_bytes(&image);
  load(program);
  ck_assert_ptr_null(blocking_task);
  ck_assert_ptr_nonnull(program->program);
  release(program);
  free_image(&image);
}
END_TEST

START_TEST(a_loaded_program_has_the_memory_of_its_bytes) {
  image_t image = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  load(program);
  size_t size;
  const void* bytes = tfrt_bef_file_bytes(tfrt_program_file(program->program), &size);
  ck_assert_ptr_eq(bytes, tfrt_async_value_string(program->bytes).data);
  ck_assert_uint_eq(size, image.size);
  release(program);
  free_image(&image);
}
END_TEST

// --- What can't be loaded ----------------------------------------------------

START_TEST(bytes_that_are_not_the_announced_ones_are_data_loss) {
  image_t image = compile(1);
  image_t other = compile(2);
  ck_assert_uint_eq(image.size, other.size);
  tfrt_async_value_t* bytes = tfrt_async_value_create_string(bytes_of(&other));
  tfrt_cached_program_t* program = add(&image, image.size, bytes);
  load(program);
  expect_failed(program, TFRT_STATUS_DATA_LOSS, "not the program that was announced");
  release(program);
  tfrt_async_value_release(bytes);
  free_image(&other);
  free_image(&image);
}
END_TEST

START_TEST(a_value_that_is_no_text_is_data_loss) {
  tfrt_async_value_t* const values[] = {tfrt_async_value_create_i64(8),
                                        tfrt_async_value_create_i1(1),
                                        tfrt_async_value_retain(tfrt_async_value_ready_chain())};
  static const char* const names[] = {"a i64 came", "a i1 came", "a !tfrt.chain came"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(values); ++i) {
    image_t image = compile(1);
    tfrt_cached_program_t* program = add(&image, image.size, values[i]);
    load(program);
    expect_failed(program, TFRT_STATUS_DATA_LOSS, names[i]);
    release(program);
    tfrt_async_value_release(values[i]);
    free_image(&image);
  }
}
END_TEST

START_TEST(a_size_that_is_not_the_announced_one_is_data_loss) {
  image_t image = compile(1);
  tfrt_async_value_t* bytes = tfrt_async_value_create_string(bytes_of(&image));
  tfrt_cached_program_t* program = add(&image, image.size + 1, bytes);
  load(program);
  expect_failed(program, TFRT_STATUS_DATA_LOSS, "not the program that was announced");
  release(program);
  tfrt_async_value_release(bytes);
  free_image(&image);
}
END_TEST

START_TEST(who_announces_others_bytes_under_a_digest_of_its_own_gives_them_to_nobody) {
  image_t image = compile(1);
  image_t other = compile(2);
  tfrt_async_value_t* bytes = tfrt_async_value_create_string(bytes_of(&other));
  tfrt_cached_program_t* announced = add(&image, image.size, bytes);
  tfrt_cached_program_t* program = add_bytes(&other);
  ck_assert_ptr_ne(program, announced);
  ck_assert_mem_eq(program->sha256, other.sha256, sizeof(other.sha256));
  load(announced);
  expect_failed(announced, TFRT_STATUS_DATA_LOSS, "not the program that was announced");
  tfrt_cached_program_t* again = add_bytes(&other);
  ck_assert_ptr_eq(again, program);
  release(again);
  release(program);
  release(announced);
  tfrt_async_value_release(bytes);
  free_image(&other);
  free_image(&image);
}
END_TEST

START_TEST(bytes_that_could_not_be_fetched_say_why) {
  image_t image = image_of_text("never seen");
  tfrt_indirect_value_t* bytes = tfrt_indirect_value_create();
  tfrt_cached_program_t* program = add(&image, image.size, &bytes->base);
  load(program);
  tfrt_status_t loss = tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "lost host 2");
  tfrt_async_value_set_error(&bytes->base, loss);
  tfrt_work_queue_quiesce(host->work_queue);
  expect_failed(program, TFRT_STATUS_UNAVAILABLE, "the program could not be fetched: lost host 2");
  // Still the same event.
  ck_assert_uint_eq(tfrt_status_fields(tfrt_async_value_error(program->ready))->root_key,
                    tfrt_status_fields(loss)->root_key);
  tfrt_status_release(loss);
  tfrt_async_value_release(&bytes->base);
  release(program);
}
END_TEST

START_TEST(bytes_that_are_no_program_are_an_invalid_argument) {
  static const char* const texts[] = {"", "x", "this is not a BEF file, whatever it says"};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    image_t image = image_of_text(texts[i]);
    tfrt_cached_program_t* program = add_bytes(&image);
    load(program);
    expect_failed(program, TFRT_STATUS_INVALID_ARGUMENT, "BEF");
    release(program);
  }
}
END_TEST

START_TEST(a_kernel_that_this_host_does_not_have_is_named) {
  tfrt_host_context_t* bare = new_host();
  node->options.host = bare;
  image_t image = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  load(program);
  expect_failed(program, TFRT_STATUS_NOT_FOUND, "tfrt.constant.i32");
  release(program);
  free_image(&image);
  node->options.host = host;
  tfrt_host_context_free(bare);
}
END_TEST

START_TEST(what_could_not_be_loaded_is_not_found_again) {
  image_t image = compile(1);
  tfrt_async_value_t* wrong = tfrt_async_value_create_string(tfrt_string_view_of("wrong"));
  tfrt_cached_program_t* failed = add(&image, image.size, wrong);
  load(failed);
  expect_failed(failed, TFRT_STATUS_DATA_LOSS, "5 bytes");
  ck_assert_ptr_null(find(&image));
  // The next announcement begins anew; who uses the first one keeps it.
  tfrt_cached_program_t* program = add_bytes(&image);
  ck_assert_ptr_ne(program, failed);
  load(program);
  ck_assert_int_eq(tfrt_async_value_state(program->ready), TFRT_ASYNC_VALUE_AVAILABLE);
  expect_failed(failed, TFRT_STATUS_DATA_LOSS, "5 bytes");
  release(program);
  release(failed);
  tfrt_async_value_release(wrong);
  free_image(&image);
}
END_TEST

// --- What stays --------------------------------------------------------------

// The announcement of nothing that exists; |number| tells them apart.
static image_t pretend(int number) {
  image_t image = {.size = 1};
  memcpy(image.sha256, &number, sizeof(number));
  return image;
}

// An entry for it that nobody uses.
static void add_unused(int number) {
  image_t image = pretend(number);
  release(add(&image, image.size, tfrt_async_value_ready_chain()));
}

static bool is_pretended(int number) {
  image_t image = pretend(number);
  return is_cached(&image);
}

START_TEST(the_most_recently_used_ones_stay) {
  for (int number = 1; number <= SPARE + 1; ++number) add_unused(number);
  // From now on the second one is the least recently used.
  ck_assert(is_pretended(1));
  add_unused(SPARE + 2);
  ck_assert_uint_eq(count_programs(), SPARE + 1);
  ck_assert(!is_pretended(2));
  ck_assert(is_pretended(1));
  for (int number = 3; number <= SPARE + 2; ++number) ck_assert(is_pretended(number));
}
END_TEST

START_TEST(what_is_used_stays_and_takes_no_place_of_others) {
  image_t image = compile(1);
  tfrt_cached_program_t* used = add_bytes(&image);
  for (int number = 1; number <= SPARE + 1; ++number) add_unused(number);
  ck_assert_uint_eq(count_programs(), SPARE + 2);
  ck_assert(is_pretended(1));
  for (int number = 2; number <= 3 * SPARE; ++number) add_unused(number);
  tfrt_cached_program_t* found = find(&image);
  ck_assert_ptr_eq(found, used);
  release(found);
  release(used);
  free_image(&image);
}
END_TEST

START_TEST(clearing_forgets_what_nobody_uses) {
  image_t image = compile(1);
  tfrt_cached_program_t* used = add_bytes(&image);
  for (int number = 1; number <= 3; ++number) add_unused(number);
  tfrt_node_lock_tables(node);
  tfrt_program_cache_clear(node);
  unlock();
  ck_assert_uint_eq(count_programs(), 1);
  ck_assert(is_cached(&image));
  release(used);
  free_image(&image);
}
END_TEST

START_TEST(what_could_not_be_loaded_takes_no_place_of_good_ones) {
  image_t image = compile(1);
  release(add_bytes(&image));
  for (int number = 1; number <= 2 * SPARE; ++number) {
    image_t bad = pretend(number);
    tfrt_async_value_t* wrong = tfrt_async_value_create_string(tfrt_string_view_of("wrong"));
    tfrt_cached_program_t* program = add(&bad, bad.size, wrong);
    tfrt_async_value_release(wrong);
    load(program);
    expect_failed(program, TFRT_STATUS_DATA_LOSS, "5 bytes");
    release(program);
  }
  ck_assert(is_cached(&image));
  // The last bad one is there until somebody adds another.
  ck_assert_uint_eq(count_programs(), 2);
  free_image(&image);
}
END_TEST

// --- Without memory ----------------------------------------------------------

START_TEST(without_memory_nothing_is_added) {
  image_t image = compile(1);
  int64_t failures = 1;
  int64_t successes = 0;
  for (; failures > 0; ++successes) {
    int64_t live = tfrt_async_value_live_count();
    tfrt_cached_program_t* program = NULL;
    tfrt_failing_malloc_arm(successes);
    tfrt_status_t status = tfrt_program_cache_add_bytes(node, bytes_of(&image), &program);
    failures = tfrt_failing_malloc_disarm();
    if (failures == 0) {
      expect_ok(status);
      release(program);
      break;
    }
    ck_assert_int_eq(tfrt_status_code(status), TFRT_STATUS_RESOURCE_EXHAUSTED);
    tfrt_status_release(status);
    ck_assert_ptr_null(program);
    ck_assert_uint_eq(count_programs(), 0);
    ck_assert_int_eq(tfrt_async_value_live_count(), live);
  }
  // The bytes, the entry, and a block of values: that of the bytes, and whether it is ready.
  ck_assert_int_ge(successes, 3);
  free_image(&image);
}
END_TEST

START_TEST(without_memory_to_load_it_a_program_is_an_error) {
  image_t image = compile(1);
  tfrt_cached_program_t* program = add_bytes(&image);
  host_books.limit_bytes = tfrt_counting_allocator_counts(&host_books).current_bytes + 64;
  load(program);
  host_books.limit_bytes = TFRT_COUNTING_ALLOCATOR_UNLIMITED;
  expect_failed(program, TFRT_STATUS_RESOURCE_EXHAUSTED, "memory");
  ck_assert(!is_cached(&image));
  release(program);
  free_image(&image);
}
END_TEST

static void add_tests(TCase* tests) {
  tcase_add_test(tests, a_program_is_kept_once_however_often_it_comes);
  tcase_add_test(tests, the_bytes_are_copied);
  tcase_add_test(tests, a_digest_that_is_cut_short_names_nothing);
  tcase_add_test(tests, bytes_that_are_here_are_looked_at_and_not_taken_in_again);
  tcase_add_test(tests, a_good_program_becomes_ready_and_is_found_by_its_functions);
  tcase_add_test(tests, bytes_that_come_later_are_waited_for);
  tcase_add_test(tests, bytes_that_come_later_are_waited_for_by_those_whom_they_go_to);
  tcase_add_test(tests, loading_again_changes_nothing);
  tcase_add_test(tests, a_program_that_loads_outlives_all_who_asked_for_it);
  tcase_add_test(tests, a_large_program_is_loaded_on_a_thread_of_its_own);
  tcase_add_test(tests, a_small_program_needs_no_other_thread);
  tcase_add_test(tests, a_loaded_program_has_the_memory_of_its_bytes);
  tcase_add_test(tests, bytes_that_are_not_the_announced_ones_are_data_loss);
  tcase_add_test(tests, a_value_that_is_no_text_is_data_loss);
  tcase_add_test(tests, a_size_that_is_not_the_announced_one_is_data_loss);
  tcase_add_test(tests, who_announces_others_bytes_under_a_digest_of_its_own_gives_them_to_nobody);
  tcase_add_test(tests, bytes_that_could_not_be_fetched_say_why);
  tcase_add_test(tests, bytes_that_are_no_program_are_an_invalid_argument);
  tcase_add_test(tests, a_kernel_that_this_host_does_not_have_is_named);
  tcase_add_test(tests, what_could_not_be_loaded_is_not_found_again);
  tcase_add_test(tests, the_most_recently_used_ones_stay);
  tcase_add_test(tests, what_is_used_stays_and_takes_no_place_of_others);
  tcase_add_test(tests, clearing_forgets_what_nobody_uses);
  tcase_add_test(tests, what_could_not_be_loaded_takes_no_place_of_good_ones);
  tcase_add_test(tests, without_memory_nothing_is_added);
  tcase_add_test(tests, without_memory_to_load_it_a_program_is_an_error);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("program cache");
  TCase* tests = tcase_create("programs");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  add_tests(tests);
  suite_add_tcase(suite, tests);
  return suite;
}
