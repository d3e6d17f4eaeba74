// SPDX-License-Identifier: Apache-2.0
#include "distributed/value/object_table.h"

#include "distributed/domain/job.h"
#include "host_runtime/base/counting_allocator.h"
#include "tests/support/test_main.h"

// --- What the tests are made of ----------------------------------------------

#define OURS 0x1000u
#define CALLER 0x2000u
#define OTHER 0x3000u
#define THIRD 0x4000u

static tfrt_node_lock_t lock;
static tfrt_action_queue_t actions;
static tfrt_counting_allocator_t books;
static tfrt_object_table_t table;

// The table needs only the lists of jobs, and how many are in them.
static tfrt_job_t jobs[2];
static tfrt_job_t* const job = &jobs[0];
static tfrt_job_t* const other_job = &jobs[1];

// Values whose end is counted.
static int destroyed;
static void count_destroy(void* payload) {
  (void)payload;
  ++destroyed;
}

static tfrt_async_value_t* new_value(void) {
  static const tfrt_type_t type = {
      .name = "!test.counted_object", .size = 4, .destroy = count_destroy};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  ck_assert_ptr_null(tfrt_type_register(&type, &id));
  tfrt_async_value_t* value = tfrt_async_value_create_available(id);
  ck_assert_ptr_nonnull(value);
  return value;
}

static tfrt_wire_object_id_t name(uint64_t namer, uint64_t number, uint32_t index) {
  return (tfrt_wire_object_id_t){.namer = namer, .number = number, .index = index};
}

// No want waits in these tests.
static void abandon(tfrt_object_t* object) {
  (void)object;
  ck_abort_msg("nothing waits");
}

static void set_up(void) {
  destroyed = 0;
  for (int i = 0; i < 2; ++i) {
    jobs[i] = (tfrt_job_t){0};
    tfrt_list_initialize(&jobs[i].usage.object_list);
  }
  tfrt_node_lock_initialize(&lock);
  tfrt_action_queue_initialize(&actions, &lock, tfrt_allocator_system(), NULL);
  tfrt_counting_allocator_initialize(&books, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  tfrt_object_table_initialize(&table, OURS, abandon, &actions,
                               tfrt_counting_allocator_interface(&books));
  tfrt_node_lock_lock(&lock);
}

// Runs the deferred actions, as each thread does that opens the lock.
static void open_lock(void) {
  tfrt_node_lock_unlock_and_run(&lock);
  tfrt_node_lock_lock(&lock);
}

static void tear_down(void) {
  tfrt_object_table_deinitialize(&table);
  tfrt_node_lock_unlock_and_run(&lock);
  tfrt_action_queue_deinitialize(&actions);
  tfrt_node_lock_deinitialize(&lock);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_count, 0);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

static tfrt_object_t* add_slot(uint64_t number, tfrt_job_t* of, uint64_t holder) {
  tfrt_object_t* object =
      tfrt_object_table_add_slot(&table, name(CALLER, number, 0), of, new_value(), holder);
  ck_assert_ptr_nonnull(object);
  return object;
}

// An export of a value that nobody else holds.
static tfrt_object_t* add_export(tfrt_job_t* of) {
  tfrt_async_value_t* value = new_value();
  tfrt_object_t* object = tfrt_object_table_export(&table, of, value);
  ck_assert_ptr_nonnull(object);
  tfrt_async_value_release(value);
  return object;
}

static bool is_known(uint64_t number, const tfrt_job_t* of) {
  return tfrt_object_table_find(&table, name(CALLER, number, 0), of) != NULL;
}

static void forbid_memory(int64_t bytes_more) {
  books.limit_bytes = tfrt_counting_allocator_counts(&books).current_bytes + bytes_more;
}

// --- Names -------------------------------------------------------------------

START_TEST(a_slot_is_found_by_its_name_within_its_job_only) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  ck_assert_ptr_eq(tfrt_object_table_find(&table, name(CALLER, 7, 0), job), object);
  ck_assert_ptr_null(tfrt_object_table_find(&table, name(CALLER, 7, 0), other_job));
  ck_assert_uint_eq(tfrt_object_table_count(&table), 1);
}
END_TEST

START_TEST(names_that_differ_in_one_part_name_different_objects) {
  tfrt_wire_object_id_t names[] = {name(CALLER, 1, 0), name(OTHER, 1, 0), name(CALLER, 2, 0),
                                   name(CALLER, 1, 1),
                                   name(CALLER, TFRT_WIRE_MAX_NUMBER, TFRT_WIRE_MAX_INDEX)};
  const size_t count = sizeof(names) / sizeof(names[0]);
  tfrt_object_t* objects[sizeof(names) / sizeof(names[0])];
  for (size_t i = 0; i < count; ++i) {
    objects[i] = tfrt_object_table_add_slot(&table, names[i], job, new_value(), CALLER);
    ck_assert_ptr_nonnull(objects[i]);
  }
  ck_assert_uint_eq(tfrt_object_table_count(&table), count);
  for (size_t i = 0; i < count; ++i) {
    ck_assert_ptr_eq(tfrt_object_table_find(&table, names[i], job), objects[i]);
  }
  tfrt_wire_object_id_t unknown = name(CALLER, TFRT_WIRE_MAX_NUMBER, TFRT_WIRE_MAX_INDEX - 1);
  ck_assert_ptr_null(tfrt_object_table_find(&table, unknown, job));
}
END_TEST

START_TEST(exports_are_named_by_us_with_numbers_from_1) {
  tfrt_object_t* first = add_export(job);
  tfrt_object_t* second = add_export(other_job);
  ck_assert(tfrt_wire_object_id_equal(first->id, name(OURS, 1, 0)));
  ck_assert(tfrt_wire_object_id_equal(second->id, name(OURS, 2, 0)));
  // A number is never used again, also when its object is gone.
  tfrt_object_table_end_loan(&table, second);
  ck_assert(tfrt_wire_object_id_equal(add_export(job)->id, name(OURS, 3, 0)));
}
END_TEST

START_TEST(a_name_in_use_is_refused_and_the_new_value_released) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  ck_assert_ptr_null(
      tfrt_object_table_add_slot(&table, name(CALLER, 7, 0), job, new_value(), OTHER));
  // The names of a caller run over all of its jobs.
  ck_assert_ptr_null(
      tfrt_object_table_add_slot(&table, name(CALLER, 7, 0), other_job, new_value(), CALLER));
  open_lock();
  ck_assert_int_eq(destroyed, 2);
  ck_assert_ptr_eq(tfrt_object_table_find(&table, name(CALLER, 7, 0), job), object);
  // The refused holder holds nothing.
  ck_assert(!tfrt_object_table_end_hold(&table, object, OTHER));
}
END_TEST

// --- Holders and loans -------------------------------------------------------

START_TEST(a_slot_lives_until_its_last_holder_lets_go) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  ck_assert(tfrt_object_table_hold(&table, object, OTHER));
  ck_assert(tfrt_object_table_hold(&table, object, THIRD));
  // From the middle, the end and the front of the set.
  ck_assert(tfrt_object_table_end_hold(&table, object, OTHER));
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  ck_assert(is_known(7, job));
  ck_assert(tfrt_object_table_end_hold(&table, object, THIRD));
  ck_assert(!is_known(7, job));
  open_lock();
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(who_holds_twice_lets_go_twice) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  int64_t blocks = tfrt_counting_allocator_counts(&books).current_count;
  ck_assert(tfrt_object_table_hold(&table, object, CALLER));
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_count, blocks);
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  ck_assert(is_known(7, job));
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  ck_assert(!is_known(7, job));
}
END_TEST

START_TEST(who_does_not_hold_can_not_let_go) {
  tfrt_object_t* slot = add_slot(7, job, CALLER);
  ck_assert(!tfrt_object_table_end_hold(&table, slot, OTHER));
  ck_assert(is_known(7, job));
  // Nobody holds what is only lent.
  tfrt_object_t* lent = add_export(job);
  ck_assert(!tfrt_object_table_end_hold(&table, lent, CALLER));
  ck_assert_ptr_eq(tfrt_object_table_find(&table, name(OURS, 1, 0), job), lent);
}
END_TEST

START_TEST(an_export_lives_while_it_is_lent_or_held) {
  tfrt_object_t* lent_first = add_export(job);
  tfrt_object_t* held_first = add_export(job);
  ck_assert(tfrt_object_table_hold(&table, lent_first, OTHER));
  ck_assert(tfrt_object_table_hold(&table, held_first, OTHER));
  tfrt_object_table_end_loan(&table, lent_first);
  ck_assert(tfrt_object_table_end_hold(&table, held_first, OTHER));
  ck_assert_uint_eq(tfrt_object_table_count(&table), 2);
  ck_assert(tfrt_object_table_end_hold(&table, lent_first, OTHER));
  ck_assert_ptr_null(tfrt_object_table_find(&table, name(OURS, 1, 0), job));
  tfrt_object_table_end_loan(&table, held_first);
  ck_assert_uint_eq(tfrt_object_table_count(&table), 0);
}
END_TEST

START_TEST(an_export_leaves_the_lenders_reference_alone) {
  tfrt_async_value_t* value = new_value();
  tfrt_object_t* object = tfrt_object_table_export(&table, job, value);
  ck_assert_ptr_eq(object->value, value);
  tfrt_object_table_end_loan(&table, object);
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  tfrt_async_value_release(value);
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(a_value_is_let_go_when_the_lock_is_opened_and_not_before) {
  tfrt_object_table_end_loan(&table, add_export(job));
  ck_assert_uint_eq(tfrt_object_table_count(&table), 0);
  ck_assert_int_eq(destroyed, 0);
  open_lock();
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

// --- What was said that it is ------------------------------------------------

START_TEST(what_an_object_was_said_to_be_lives_as_long_as_the_object) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  tfrt_async_value_t* remote = new_value();
  ck_assert(tfrt_object_table_keep(&table, object, TFRT_OBJECT_WHOLE, remote));
  ck_assert(tfrt_object_table_keeps(&table, remote));
  tfrt_async_value_release(remote);
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  open_lock();
  ck_assert_int_eq(destroyed, 2);
}
END_TEST

// --- What a slot was promised ------------------------------------------------

// A slot that |promise| will give its value to.
static tfrt_object_t* add_promised(uint64_t number, tfrt_object_promise_t* promise) {
  tfrt_object_t* object =
      tfrt_object_table_add_slot(&table, name(CALLER, number, 0), job, NULL, CALLER);
  ck_assert_ptr_nonnull(object);
  tfrt_object_table_promise(object, promise);
  return object;
}

START_TEST(a_promised_slot_gets_the_value_itself) {
  tfrt_object_promise_t promise = {0};
  tfrt_object_t* object = add_promised(7, &promise);
  ck_assert_ptr_null(object->value);
  tfrt_async_value_t* value = new_value();
  tfrt_object_table_fulfil(&table, &promise, value);
  ck_assert_ptr_eq(tfrt_object_table_value(object), value);
  tfrt_object_table_tell(&table, object, value);
  tfrt_async_value_release(value);
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  tfrt_object_table_break(&table, &promise);
  open_lock();
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(who_needs_what_was_promised_gets_a_placeholder_for_it) {
  tfrt_object_promise_t promise = {0};
  tfrt_object_t* object = add_promised(7, &promise);
  tfrt_async_value_t* early = tfrt_async_value_retain(tfrt_object_table_value(object));
  ck_assert_ptr_eq(tfrt_object_table_value(object), early);
  ck_assert(!tfrt_async_value_is_available(early));
  tfrt_async_value_t* value = new_value();
  tfrt_object_table_fulfil(&table, &promise, value);
  open_lock();
  ck_assert_ptr_eq(tfrt_async_value_resolved(early), value);
  tfrt_object_table_break(&table, &promise);
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  tfrt_async_value_release(value);
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  tfrt_async_value_release(early);
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(a_placeholder_gets_its_value_when_its_slot_is_gone) {
  tfrt_object_promise_t promises[2] = {{0}};
  tfrt_object_t* asked = add_promised(7, &promises[0]);
  tfrt_async_value_t* early = tfrt_async_value_retain(tfrt_object_table_value(asked));
  ck_assert(tfrt_object_table_end_hold(&table, asked, CALLER));
  ck_assert(tfrt_object_table_end_hold(&table, add_promised(8, &promises[1]), CALLER));
  tfrt_async_value_t* value = new_value();
  for (size_t i = 0; i < 2; ++i) tfrt_object_table_fulfil(&table, &promises[i], value);
  for (size_t i = 0; i < 2; ++i) tfrt_object_table_break(&table, &promises[i]);
  open_lock();
  ck_assert_ptr_eq(tfrt_async_value_resolved(early), value);
  tfrt_async_value_release(value);
  tfrt_async_value_release(early);
  open_lock();
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

START_TEST(a_slot_may_outlive_its_promise) {
  tfrt_object_promise_t promise = {0};
  tfrt_object_t* object = add_promised(7, &promise);
  tfrt_object_table_break(&table, &promise);
  ck_assert_ptr_null(object->promise);
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
}
END_TEST

// --- Elements of a list --------------------------------------------------------

// Lends the element |index| of |object|; returns its export.
static tfrt_object_t* lend_element(tfrt_object_t* object, uint32_t index,
                                   tfrt_async_value_t* value) {
  tfrt_object_t* lent = tfrt_object_table_lend_element(&table, object, index, value);
  ck_assert_ptr_nonnull(lent);
  return lent;
}

START_TEST(elements_live_as_long_as_their_list) {
  tfrt_object_t* list = add_slot(7, job, CALLER);
  ck_assert(tfrt_object_table_add_elements(&table, list, 2));
  tfrt_async_value_t* own = new_value();
  tfrt_async_value_t* remote = new_value();
  const tfrt_object_t* lent = lend_element(list, 0, own);
  ck_assert_ptr_eq(lend_element(list, 0, own), lent);
  ck_assert(tfrt_object_table_add_elements(&table, list, 2));
  ck_assert_uint_eq(list->elements->items[0].exported.number, lent->id.number);
  ck_assert(tfrt_object_table_keep(&table, list, 1, remote));
  ck_assert(tfrt_object_table_keep(&table, list, 1, remote));
  ck_assert(tfrt_object_table_keeps(&table, remote));
  ck_assert(!tfrt_object_table_keeps(&table, own));
  tfrt_async_value_release(own);
  tfrt_async_value_release(remote);
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  ck_assert_uint_eq(tfrt_object_table_count(&table), 2);
  ck_assert(tfrt_object_table_end_hold(&table, list, CALLER));
  open_lock();
  ck_assert_int_eq(destroyed, 3);
  ck_assert_uint_eq(tfrt_object_table_count(&table), 0);
}
END_TEST

START_TEST(an_element_that_is_held_outlives_its_list) {
  tfrt_object_t* list = add_slot(7, job, CALLER);
  ck_assert(tfrt_object_table_add_elements(&table, list, 1));
  tfrt_async_value_t* own = new_value();
  tfrt_object_t* lent = lend_element(list, 0, own);
  tfrt_async_value_release(own);
  ck_assert(tfrt_object_table_hold(&table, lent, OTHER));
  ck_assert(tfrt_object_table_end_hold(&table, list, CALLER));
  open_lock();
  ck_assert_int_eq(destroyed, 1);
  ck_assert(tfrt_object_table_end_hold(&table, lent, OTHER));
  open_lock();
  ck_assert_int_eq(destroyed, 2);
}
END_TEST

// Lists within lists; each is freed while the table is walked.
START_TEST(lists_that_end_together_free_their_elements_once) {
  for (int way = 0; way < 2; ++way) {
    destroyed = 0;
    for (uint64_t number = 1; number <= 20; ++number) {
      tfrt_object_t* list = add_slot(20 * (uint64_t)way + number, job, CALLER);
      ck_assert(tfrt_object_table_add_elements(&table, list, 2));
      tfrt_async_value_t* inner_value = new_value();
      tfrt_object_t* inner = lend_element(list, 1, inner_value);
      ck_assert(tfrt_object_table_add_elements(&table, inner, 1));
      tfrt_async_value_t* element = new_value();
      lend_element(inner, 0, element);
      tfrt_async_value_release(inner_value);
      tfrt_async_value_release(element);
    }
    if (way == 0) tfrt_object_table_drop_job(&table, job);
    if (way == 1) tfrt_object_table_drop_holder(&table, CALLER, job);
    open_lock();
    ck_assert_int_eq(destroyed, 60);
    ck_assert_uint_eq(tfrt_object_table_count(&table), 0);
  }
}
END_TEST

START_TEST(all_that_an_object_was_said_to_be_are_kept) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  tfrt_async_value_t* values[3];
  for (int i = 0; i < 3; ++i) {
    values[i] = new_value();
    ck_assert(tfrt_object_table_keep(&table, object, TFRT_OBJECT_WHOLE, values[i]));
  }
  // Again, the first, too, which is not the one that needs no memory any more.
  for (int i = 0; i < 3; ++i) {
    ck_assert(tfrt_object_table_keep(&table, object, TFRT_OBJECT_WHOLE, values[i]));
    ck_assert(tfrt_object_table_keeps(&table, values[i]));
    tfrt_async_value_release(values[i]);
  }
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  open_lock();
  ck_assert_int_eq(destroyed, 4);
}
END_TEST

START_TEST(an_object_that_is_gone_keeps_nothing) {
  tfrt_async_value_t* remote = new_value();
  ck_assert(tfrt_object_table_keep(&table, NULL, TFRT_OBJECT_WHOLE, remote));
  tfrt_async_value_release(remote);
  ck_assert_int_eq(destroyed, 1);
}
END_TEST

// --- Funerals ----------------------------------------------------------------

// Enough to make the hash table grow several times.
#define MANY 200

START_TEST(the_death_of_a_holder_frees_what_it_alone_held) {
  for (uint64_t number = 1; number <= MANY; ++number) {
    tfrt_object_t* object = add_slot(number, job, CALLER);
    if (number % 3 == 0) ck_assert(tfrt_object_table_hold(&table, object, OTHER));
  }
  tfrt_object_t* lent = add_export(job);
  ck_assert(tfrt_object_table_hold(&table, lent, CALLER));
  tfrt_object_table_drop_holder(&table, CALLER, job);
  for (uint64_t number = 1; number <= MANY; ++number) {
    ck_assert_int_eq(is_known(number, job), number % 3 == 0);
  }
  ck_assert_ptr_eq(tfrt_object_table_find(&table, name(OURS, 1, 0), job), lent);
  open_lock();
  ck_assert_int_eq(destroyed, MANY - MANY / 3);
  // It is a stranger now.
  ck_assert(!tfrt_object_table_end_hold(&table, lent, CALLER));
  tfrt_object_table_drop_holder(&table, OTHER, job);
  ck_assert_uint_eq(tfrt_object_table_count(&table), 1);
}
END_TEST

START_TEST(the_end_of_a_job_frees_all_of_its_objects_and_no_other) {
  for (uint64_t number = 1; number <= MANY; ++number) {
    tfrt_object_t* object = add_slot(number, number % 2 == 0 ? job : other_job, CALLER);
    ck_assert(tfrt_object_table_hold(&table, object, OTHER));
  }
  add_export(job);
  tfrt_object_table_drop_job(&table, job);
  ck_assert_uint_eq(tfrt_object_table_count(&table), MANY / 2);
  for (uint64_t number = 1; number <= MANY; ++number) {
    ck_assert(!is_known(number, job));
    ck_assert_int_eq(is_known(number, other_job), number % 2 == 1);
  }
  open_lock();
  ck_assert_int_eq(destroyed, MANY / 2 + 1);
}
END_TEST

START_TEST(a_table_that_ends_lets_go_of_everything) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  ck_assert(tfrt_object_table_hold(&table, object, OTHER));
  tfrt_async_value_t* remote = new_value();
  ck_assert(tfrt_object_table_keep(&table, object, TFRT_OBJECT_WHOLE, remote));
  tfrt_async_value_release(remote);
  add_export(other_job);
  tfrt_object_table_deinitialize(&table);
  open_lock();
  ck_assert_int_eq(destroyed, 3);
  ck_assert_int_eq(tfrt_counting_allocator_counts(&books).current_count, 0);
  // For tear_down().
  tfrt_object_table_initialize(&table, OURS, abandon, &actions,
                               tfrt_counting_allocator_interface(&books));
}
END_TEST

// --- Without memory ----------------------------------------------------------

START_TEST(without_memory_no_slot_is_made_and_its_value_is_released) {
  forbid_memory(0);
  ck_assert_ptr_null(
      tfrt_object_table_add_slot(&table, name(CALLER, 7, 0), job, new_value(), CALLER));
  ck_assert_uint_eq(tfrt_object_table_count(&table), 0);
  open_lock();
  ck_assert_int_eq(destroyed, 1);
  // The name is free still, and the first holder takes nothing beside the object.
  forbid_memory(sizeof(tfrt_object_t));
  ck_assert_ptr_nonnull(
      tfrt_object_table_add_slot(&table, name(CALLER, 7, 0), job, new_value(), CALLER));
}
END_TEST

START_TEST(without_memory_nothing_is_exported_and_no_number_is_used_up) {
  tfrt_async_value_t* value = new_value();
  forbid_memory(0);
  ck_assert_ptr_null(tfrt_object_table_export(&table, job, value));
  open_lock();
  ck_assert_int_eq(destroyed, 0);
  forbid_memory(sizeof(tfrt_object_t));
  tfrt_object_t* object = tfrt_object_table_export(&table, job, value);
  ck_assert_ptr_nonnull(object);
  ck_assert_uint_eq(object->id.number, 1);
  tfrt_async_value_release(value);
}
END_TEST

START_TEST(without_memory_a_list_has_no_elements) {
  tfrt_object_t* list = add_slot(7, job, CALLER);
  forbid_memory(0);
  ck_assert(!tfrt_object_table_add_elements(&table, list, 2));
  ck_assert_ptr_null(list->elements);
}
END_TEST

START_TEST(without_memory_a_hold_fails_and_the_object_stays_as_it_is) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  forbid_memory(0);
  ck_assert(!tfrt_object_table_hold(&table, object, OTHER));
  // A second hold of the same holder needs no memory.
  ck_assert(tfrt_object_table_hold(&table, object, CALLER));
  ck_assert(!tfrt_object_table_end_hold(&table, object, OTHER));
  ck_assert(is_known(7, job));
}
END_TEST

START_TEST(without_memory_a_holder_takes_the_place_of_one_that_let_go) {
  tfrt_object_t* object = add_slot(7, job, CALLER);
  ck_assert(tfrt_object_table_hold(&table, object, OTHER));
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  forbid_memory(0);
  ck_assert(tfrt_object_table_hold(&table, object, CALLER));
  ck_assert(tfrt_object_table_end_hold(&table, object, OTHER));
  ck_assert(is_known(7, job));
  ck_assert(tfrt_object_table_end_hold(&table, object, CALLER));
  ck_assert(!is_known(7, job));
}
END_TEST

static void add_tests(TCase* tests) {
  tcase_add_test(tests, a_slot_is_found_by_its_name_within_its_job_only);
  tcase_add_test(tests, names_that_differ_in_one_part_name_different_objects);
  tcase_add_test(tests, exports_are_named_by_us_with_numbers_from_1);
  tcase_add_test(tests, a_name_in_use_is_refused_and_the_new_value_released);
  tcase_add_test(tests, a_slot_lives_until_its_last_holder_lets_go);
  tcase_add_test(tests, who_holds_twice_lets_go_twice);
  tcase_add_test(tests, who_does_not_hold_can_not_let_go);
  tcase_add_test(tests, an_export_lives_while_it_is_lent_or_held);
  tcase_add_test(tests, an_export_leaves_the_lenders_reference_alone);
  tcase_add_test(tests, a_value_is_let_go_when_the_lock_is_opened_and_not_before);
  tcase_add_test(tests, what_an_object_was_said_to_be_lives_as_long_as_the_object);
  tcase_add_test(tests, a_promised_slot_gets_the_value_itself);
  tcase_add_test(tests, who_needs_what_was_promised_gets_a_placeholder_for_it);
  tcase_add_test(tests, a_placeholder_gets_its_value_when_its_slot_is_gone);
  tcase_add_test(tests, a_slot_may_outlive_its_promise);
  tcase_add_test(tests, elements_live_as_long_as_their_list);
  tcase_add_test(tests, an_element_that_is_held_outlives_its_list);
  tcase_add_test(tests, lists_that_end_together_free_their_elements_once);
  tcase_add_test(tests, without_memory_a_list_has_no_elements);
  tcase_add_test(tests, all_that_an_object_was_said_to_be_are_kept);
  tcase_add_test(tests, an_object_that_is_gone_keeps_nothing);
  tcase_add_test(tests, the_death_of_a_holder_frees_what_it_alone_held);
  tcase_add_test(tests, the_end_of_a_job_frees_all_of_its_objects_and_no_other);
  tcase_add_test(tests, a_table_that_ends_lets_go_of_everything);
  tcase_add_test(tests, without_memory_no_slot_is_made_and_its_value_is_released);
  tcase_add_test(tests, without_memory_nothing_is_exported_and_no_number_is_used_up);
  tcase_add_test(tests, without_memory_a_hold_fails_and_the_object_stays_as_it_is);
  tcase_add_test(tests, without_memory_a_holder_takes_the_place_of_one_that_let_go);
}

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("object table");
  TCase* tests = tcase_create("objects");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  add_tests(tests);
  suite_add_tcase(suite, tests);
  return suite;
}
