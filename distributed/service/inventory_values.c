// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/inventory.h"
#include "distributed/value/object_table.h"
#include "distributed/value/remote_value.h"

static void inventory_set_holders(tfrt_inventory_t* inventory, const tfrt_object_t* object,
                                  tfrt_wire_object_part_t* part) {
  size_t count = 0;
  for (tfrt_object_holder_t* holder = object->holders; holder; holder = holder->next) ++count;
  if (count > TFRT_WIRE_MAX_MEMBERS) count = TFRT_WIRE_MAX_MEMBERS;
  tfrt_wire_holder_t* holders =
      count > 0 ? tfrt_answer_parts_room(&inventory->parts, count, sizeof(*holders)) : NULL;
  if (!holders) return;
  part->holders = holders;
  for (tfrt_object_holder_t* holder = object->holders; part->holder_count < count;
       holder = holder->next) {
    holders[part->holder_count++].incarnation = holder->incarnation;
  }
}

static void inventory_add_object(tfrt_inventory_t* inventory, const tfrt_object_t* object) {
  const char* name = object->name;
  const tfrt_program_t* program = object->program ? object->program->program : NULL;
  if (program && object->function < tfrt_program_function_count(program)) {
    name = tfrt_program_function(program, object->function)->name;
  }
  tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_OBJECT,
      .object = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                 .id = object->id,
                 .value = tfrt_answer_parts_value(&inventory->parts, object->value),
                 .age_us = tfrt_answer_parts_age_us(&inventory->parts, object->since_ns),
                 .function = tfrt_answer_parts_text(&inventory->parts, name),
                 .loans = object->loans}};
  inventory_set_holders(inventory, object, &part.object);
  tfrt_answer_parts_emit(&inventory->parts, &part);
}

// How far |value| is, which is not here.
static tfrt_wire_value_info_t inventory_away(const tfrt_remote_value_t* value) {
  tfrt_wire_value_info_t info = {
      .state = tfrt_remote_value_is_there(value) ? TFRT_WIRE_VALUE_THERE : TFRT_WIRE_VALUE_WAITING,
      .has_size = true,
      .size = value->bytes.there};
  bool is_moving = value->question.want != 0 && value->question.level == TFRT_WIRE_WANT_VALUE;
  if (!is_moving) return info;
  info.state = TFRT_WIRE_VALUE_MOVING;
  // The owner may not have said how much it is, but the first chunk does.
  if (value->bytes.here > 0) info.size = value->bytes.here;
  info.received =
      tfrt_bulk_manager_traffic(value->node->bulk, value->peer->incarnation, value->question.want)
          .of_want;
  return info;
}

// One whose last reference is gone is on its way out of the list, and its payload may be gone.
static void inventory_add_remote(tfrt_inventory_t* inventory, tfrt_remote_value_t* value) {
  if (!tfrt_async_value_try_retain(&value->base.base)) return;
  bool is_here = tfrt_async_value_is_available(&value->base.base);
  tfrt_status_origin_t place = tfrt_call_site_origin(&value->place.site);
  const tfrt_wire_answer_part_t part = {
      .kind = TFRT_WIRE_PART_REMOTE_VALUE,
      .remote_value = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                       .id = value->name.id,
                       .owner = value->location.owner,
                       .value = is_here
                                    ? tfrt_answer_parts_value(&inventory->parts, &value->base.base)
                                    : inventory_away(value),
                       .age_us = tfrt_answer_parts_age_us(&inventory->parts, value->since_ns),
                       .function = tfrt_answer_parts_text(&inventory->parts, value->place.function),
                       .place = tfrt_answer_parts_place(&inventory->parts, &place)}};
  tfrt_answer_parts_emit(&inventory->parts, &part);
  tfrt_remote_value_release(value);
}

static void inventory_add_message(void* self, const tfrt_mailbox_entry_t* entry) {
  tfrt_inventory_t* inventory = self;
  if (tfrt_inventory_skips(inventory, TFRT_WIRE_PART_MAIL) ||
      !tfrt_inventory_take(inventory, TFRT_WIRE_PART_MAIL)) {
    return;
  }
  tfrt_string_view_t key = entry->key;
  if (key.size > TFRT_WIRE_MAX_KEY_SIZE) key.size = TFRT_WIRE_MAX_KEY_SIZE;
  tfrt_wire_answer_part_t part = {.kind = TFRT_WIRE_PART_MAIL,
                                  .mail = {.job = tfrt_answer_parts_job_id(&inventory->parts),
                                           .is_sent = entry->is_sent,
                                           .request = entry->request,
                                           .sender = entry->sender,
                                           .key = key}};
  if (entry->site) {
    part.mail.kernel = tfrt_answer_parts_text(&inventory->parts, entry->site->kernel);
    part.mail.place = tfrt_answer_parts_place(&inventory->parts, entry->site);
  }
  tfrt_answer_parts_emit(&inventory->parts, &part);
}

static void inventory_add_objects(tfrt_inventory_t* inventory) {
  const tfrt_node_t* node = inventory->parts.node;
  const tfrt_wire_part_kind_t kind = TFRT_WIRE_PART_OBJECT;
  tfrt_hash_table_t* objects = &node->objects->by_id;
  for (tfrt_hash_node_t* at = tfrt_hash_table_first(objects);
       at && tfrt_inventory_goes_on(inventory, kind, tfrt_object_table_count(node->objects) - 1);
       at = tfrt_hash_table_next(objects, at)) {
    const tfrt_object_t* object = TFRT_CONTAINER_OF(at, tfrt_object_t, by_id);
    if (!object->job || object->job == inventory->asker) continue;
    if (tfrt_inventory_skips(inventory, kind)) continue;
    ++inventory->listed[kind];
    inventory->parts.job = object->job;
    inventory_add_object(inventory, object);
  }
}

static void inventory_add_remotes_of(tfrt_inventory_t* inventory, tfrt_job_t* job) {
  const tfrt_wire_part_kind_t kind = TFRT_WIRE_PART_REMOTE_VALUE;
  for (tfrt_list_link_t* link = job->remote_values.next;
       link != &job->remote_values &&
       tfrt_inventory_goes_on(inventory, kind, job->node->counts.remote_values);
       link = link->next) {
    if (tfrt_inventory_skips(inventory, kind)) continue;
    ++inventory->listed[kind];
    inventory_add_remote(inventory, TFRT_CONTAINER_OF(link, tfrt_remote_value_t, in_job));
  }
}

static void inventory_add_mail_of(tfrt_inventory_t* inventory, tfrt_job_t* job) {
  tfrt_mailbox_visit(&job->exchange.mailbox, inventory_add_message, inventory);
}

const tfrt_inventory_section_t tfrt_inventory_value_sections[TFRT_INVENTORY_VALUE_SECTIONS] = {
    {.kind = TFRT_WIRE_PART_OBJECT, .add = inventory_add_objects},
    {.kind = TFRT_WIRE_PART_REMOTE_VALUE, .add_of_job = inventory_add_remotes_of},
    {.kind = TFRT_WIRE_PART_MAIL, .add_of_job = inventory_add_mail_of},
};
