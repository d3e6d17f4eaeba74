// SPDX-License-Identifier: Apache-2.0
//
// The tables of distributed/wire say what proto/*.proto say, field by field.
#include "distributed/wire/codec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "distributed/wire/batch.h"
#include "tests/distributed/wire/peer_descriptors.h"
#include "tests/support/test_main.h"

static bool same_type(tfrt_wire_field_type_t type, ProtobufCType there) {
  switch (type) {
    case TFRT_WIRE_FIELD_BOOL:
      return there == PROTOBUF_C_TYPE_BOOL;
    case TFRT_WIRE_FIELD_UINT32:
      return there == PROTOBUF_C_TYPE_UINT32;
    case TFRT_WIRE_FIELD_UINT64:
      return there == PROTOBUF_C_TYPE_UINT64;
    case TFRT_WIRE_FIELD_FIXED32:
      return there == PROTOBUF_C_TYPE_FIXED32;
    case TFRT_WIRE_FIELD_FIXED64:
      return there == PROTOBUF_C_TYPE_FIXED64;
    case TFRT_WIRE_FIELD_ENUM:  // a status code is a plain number there
      return there == PROTOBUF_C_TYPE_ENUM || there == PROTOBUF_C_TYPE_UINT32;
    case TFRT_WIRE_FIELD_STRING:
      return there == PROTOBUF_C_TYPE_STRING;
    case TFRT_WIRE_FIELD_BYTES:
      return there == PROTOBUF_C_TYPE_BYTES;
    case TFRT_WIRE_FIELD_MESSAGE:
      return there == PROTOBUF_C_TYPE_MESSAGE;
  }
  return false;
}

// How the content of a field is delimited, by what protoc says of it.
static tfrt_wire_type_t content_of(ProtobufCType there) {
  switch (there) {
    case PROTOBUF_C_TYPE_FIXED32:
      return TFRT_WIRE_TYPE_FIXED32;
    case PROTOBUF_C_TYPE_FIXED64:
      return TFRT_WIRE_TYPE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
      return TFRT_WIRE_TYPE_BYTES;
    default:
      return TFRT_WIRE_TYPE_VARINT;
  }
}

// Every enum's last value is known: one above it is not there.
static void compare_enum(const tfrt_wire_field_t* field, const ProtobufCFieldDescriptor* there) {
  if (there->type != PROTOBUF_C_TYPE_ENUM) return;
  const ProtobufCEnumDescriptor* values = there->descriptor;
  uint64_t highest = 0;
  for (unsigned i = 0; i < values->n_values; ++i) {
    if ((uint64_t)values->values[i].value > highest) highest = (uint64_t)values->values[i].value;
  }
  ck_assert_msg(field->limit == highest, "%s: limit of enum %s", field->name, values->name);
}

static void compare_message(const tfrt_wire_message_t* message,
                            const ProtobufCMessageDescriptor* descriptor) {
  ck_assert_str_eq(message->name, descriptor->short_name);
  ck_assert_msg(message->field_count == descriptor->n_fields, "%s: number of fields",
                message->name);
  for (size_t i = 0; i < message->field_count; ++i) {
    const tfrt_wire_field_t* field = &message->fields[i];
    const ProtobufCFieldDescriptor* there = &descriptor->fields[i];  // by rising number
    ck_assert_str_eq(field->name, there->name);
    ck_assert_msg(field->number == there->id, "%s.%s: number", message->name, field->name);
    // Only protobuf-c reads parts.
    const uint32_t highest = strcmp(message->name, "AnswerPart") == 0 ? 31 : 15;
    ck_assert_msg(field->number <= highest, "%s.%s: its tag has more than a byte", message->name,
                  field->name);
    ck_assert_msg(same_type(field->type, there->type), "%s.%s: type", message->name, field->name);
    ck_assert_msg(field->tag == tfrt_wire_tag(there->id, content_of(there->type)), "%s.%s: tag",
                  message->name, field->name);
    bool is_repeated = field->form == TFRT_WIRE_FORM_REPEATED;
    ck_assert_msg(is_repeated == (there->label == PROTOBUF_C_LABEL_REPEATED), "%s.%s: repeated",
                  message->name, field->name);
    bool is_oneof = (there->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    ck_assert_msg(is_oneof == message->is_oneof, "%s.%s: oneof", message->name, field->name);
    compare_enum(field, there);
    if (field->message) compare_message(field->message, there->descriptor);
  }
}

START_TEST(a_batch_is_what_the_contract_says) {
  compare_message(&tfrt_wire_batch_message, tfrt_peer_descriptor("Batch"));
}
END_TEST

START_TEST(messages_of_a_channel_are_what_the_contract_says) {
  compare_message(&tfrt_wire_bulk_up_message, tfrt_peer_descriptor("BulkUp"));
  compare_message(&tfrt_wire_bulk_down_message, tfrt_peer_descriptor("BulkDown"));
}
END_TEST

START_TEST(questions_and_answers_are_what_the_contract_says) {
  compare_message(&tfrt_wire_question_message, tfrt_peer_descriptor("Question"));
  compare_message(&tfrt_wire_answer_part_message, tfrt_peer_descriptor("AnswerPart"));
}
END_TEST

// "FRAME_JOB_OPEN" for "JobOpen".
static void make_enum_name(const char* message, char* out_name, size_t size) {
  size_t length = (size_t)snprintf(out_name, size, "FRAME");
  for (const char* c = message; *c != '\0' && length + 2 < size; ++c) {
    if (isupper((unsigned char)*c)) out_name[length++] = '_';
    out_name[length++] = (char)toupper((unsigned char)*c);
  }
  out_name[length] = '\0';
}

START_TEST(every_frame_kind_has_the_body_that_the_contract_says) {
  const ProtobufCEnumDescriptor* kinds = tfrt_peer_frame_kinds();
  ck_assert_uint_gt(kinds->n_values, 1);
  for (unsigned i = 0; i < kinds->n_values; ++i) {
    uint32_t kind = (uint32_t)kinds->values[i].value;
    if (kind == TFRT_WIRE_FRAME_UNSPECIFIED) continue;
    const tfrt_wire_message_t* message = tfrt_wire_frame_message_of(kind);
    ck_assert_msg(message != NULL, "no table for %s", kinds->values[i].name);
    char name[64];
    make_enum_name(message->name, name, sizeof(name));
    ck_assert_str_eq(name, kinds->values[i].name);
    compare_message(message, tfrt_peer_descriptor(message->name));
  }
}
END_TEST

START_TEST(no_other_frame_kind_is_known) {
  const ProtobufCEnumDescriptor* kinds = tfrt_peer_frame_kinds();
  unsigned known = 0;
  for (uint32_t kind = 0; kind < 1000; ++kind) known += tfrt_wire_frame_kind_is_known(kind);
  ck_assert_uint_eq(known, kinds->n_values - 1);
  ck_assert(!tfrt_wire_frame_kind_is_known(TFRT_WIRE_FRAME_UNSPECIFIED));
  ck_assert_str_eq(tfrt_wire_frame_kind_name(1000), "unknown");
  ck_assert_str_eq(tfrt_wire_frame_kind_name(TFRT_WIRE_FRAME_VOID), "Void");
}
END_TEST

START_TEST(odd_kinds_are_optional_and_even_ones_are_not) {
  ck_assert(tfrt_wire_frame_kind_is_optional(TFRT_WIRE_FRAME_PUSH));
  ck_assert(tfrt_wire_frame_kind_is_optional(TFRT_WIRE_FRAME_CANCEL_REQUEST));
  ck_assert(!tfrt_wire_frame_kind_is_optional(TFRT_WIRE_FRAME_CANCEL));
  ck_assert(!tfrt_wire_frame_kind_is_optional(TFRT_WIRE_FRAME_INVOKE));
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* tables = tcase_create("schema");
  tcase_add_test(tables, a_batch_is_what_the_contract_says);
  tcase_add_test(tables, messages_of_a_channel_are_what_the_contract_says);
  tcase_add_test(tables, questions_and_answers_are_what_the_contract_says);
  tcase_add_test(tables, every_frame_kind_has_the_body_that_the_contract_says);
  tcase_add_test(tables, no_other_frame_kind_is_known);
  tcase_add_test(tables, odd_kinds_are_optional_and_even_ones_are_not);
  Suite* suite = suite_create("schema");
  suite_add_tcase(suite, tables);
  return suite;
}
