// SPDX-License-Identifier: Apache-2.0
#include "distributed/service/inventory_line.h"

#include <inttypes.h>

#include "distributed/service/text_answer.h"

void tfrt_inventory_begin_job(tfrt_inventory_t* inventory, const char* kind, const uint8_t* id) {
  tfrt_string_builder_append_text(inventory->out, kind);
  if (!id) return;
  tfrt_string_builder_append_text(inventory->out, " job=");
  for (size_t i = 0; i < TFRT_WIRE_JOB_ID_SIZE; ++i) {
    tfrt_string_builder_append_format(inventory->out, "%02x", id[i]);
  }
}

void tfrt_inventory_begin(tfrt_inventory_t* inventory, const char* kind) {
  tfrt_inventory_begin_job(inventory, kind, inventory->job ? inventory->job->identity.id : NULL);
}

void tfrt_inventory_end(tfrt_inventory_t* inventory) {
  tfrt_string_builder_append_char(inventory->out, '\n');
}

void tfrt_inventory_add_word(tfrt_inventory_t* inventory, const char* name,
                             tfrt_string_view_t text) {
  tfrt_string_builder_append_format(inventory->out, " %s=", name);
  tfrt_text_answer_add_word(inventory->out, text);
}

void tfrt_inventory_add_text(tfrt_inventory_t* inventory, const char* name, const char* text) {
  tfrt_inventory_add_word(inventory, name, tfrt_string_view_of(text ? text : ""));
}

void tfrt_inventory_add_number(tfrt_inventory_t* inventory, const char* name, uint64_t number) {
  tfrt_string_builder_append_format(inventory->out, " %s=%" PRIu64, name, number);
}

void tfrt_inventory_add_incarnation(tfrt_inventory_t* inventory, const char* name,
                                    uint64_t incarnation) {
  tfrt_string_builder_append_format(inventory->out, " %s=%016" PRIx64, name, incarnation);
}

void tfrt_inventory_add_age(tfrt_inventory_t* inventory, int64_t since_ns) {
  int64_t age_ns = since_ns > 0 ? inventory->now_ns - since_ns : 0;
  tfrt_inventory_add_number(inventory, "age_us", age_ns > 0 ? (uint64_t)age_ns / 1000 : 0);
}

void tfrt_inventory_append_id(tfrt_inventory_t* inventory, tfrt_wire_object_id_t id) {
  tfrt_string_builder_append_format(inventory->out, "%016" PRIx64 ".%" PRIu64 ".%u", id.namer,
                                    id.number, id.index);
}

void tfrt_inventory_add_id(tfrt_inventory_t* inventory, tfrt_wire_object_id_t id) {
  tfrt_string_builder_append_text(inventory->out, " id=");
  tfrt_inventory_append_id(inventory, id);
}

void tfrt_inventory_add_place(tfrt_inventory_t* inventory, const tfrt_status_origin_t* place) {
  if (!place->file) {
    tfrt_inventory_add_text(inventory, "at", NULL);
    return;
  }
  tfrt_inventory_add_text(inventory, "at", place->file);
  tfrt_string_builder_append_format(inventory->out, ":%u:%u", place->line, place->column);
}

void tfrt_inventory_add_site(tfrt_inventory_t* inventory, const tfrt_call_site_t* site) {
  tfrt_status_origin_t place = tfrt_call_site_origin(site);
  tfrt_inventory_add_place(inventory, &place);
}

void tfrt_inventory_add_value(tfrt_inventory_t* inventory, tfrt_async_value_t* value) {
  bool is_error = value && tfrt_async_value_is_error(value);
  bool is_here = value && !is_error && tfrt_async_value_is_available(value);
  tfrt_inventory_add_text(inventory, "state", is_error ? "error" : is_here ? "ready" : "waiting");
  if (!is_here) return;
  tfrt_async_value_t* payload = tfrt_async_value_resolved(value);
  const tfrt_type_t* type = tfrt_type_get(payload->type_id);
  tfrt_inventory_add_text(inventory, "type", type->name);
  tfrt_encoding_t encoding;
  if (!type->codec) return;
  tfrt_status_t status = tfrt_type_encode(type, tfrt_async_value_payload(payload), &encoding);
  if (!status) tfrt_inventory_add_number(inventory, "bytes", encoding.body_size);
  tfrt_status_release(status);
}
