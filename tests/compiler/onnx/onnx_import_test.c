// SPDX-License-Identifier: Apache-2.0
//
// Small models, made here: what becomes of them, and what is said about bad ones.
#include "compiler/onnx/onnx_import.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/onnx/onnx.pb-c.h"
#include "compiler/onnx/onnx_translate.h"
#include "compiler/translate.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

// A model with one input, up to four nodes and one output.
typedef struct model_s {
  Onnx__ModelProto model;
  Onnx__OperatorSetIdProto opset;
  Onnx__OperatorSetIdProto* opsets[1];
  Onnx__GraphProto graph;
  Onnx__ValueInfoProto input, output;
  Onnx__ValueInfoProto *inputs[1], *outputs[1];
  Onnx__TypeProto type;
  Onnx__TensorTypeProto tensor_type;
  Onnx__TensorShapeProto shape;
  Onnx__DimensionProto dims[2];
  Onnx__DimensionProto* dim_list[2];
  Onnx__NodeProto nodes[4];
  Onnx__NodeProto* node_list[4];
  char* node_inputs[4][2];
  char* node_outputs[4][1];
  Onnx__TensorProto weights;
  Onnx__TensorProto* weight_list[1];
  int64_t weight_dims[1];
} model_t;

static model_t m;
static tfrt_string_builder_t report, summary, text;
static tfrt_onnx_options_t options;

static void add_node(const char* op, const char* a, const char* b, const char* result) {
  size_t i = m.graph.n_node++;
  onnx__node_proto__init(&m.nodes[i]);
  m.node_list[i] = &m.nodes[i];
  m.node_inputs[i][0] = (char*)(uintptr_t)a;
  m.node_inputs[i][1] = (char*)(uintptr_t)b;
  m.node_outputs[i][0] = (char*)(uintptr_t)result;
  m.nodes[i].op_type = (char*)(uintptr_t)op;
  m.nodes[i].name = (char*)(uintptr_t)result;
  m.nodes[i].n_input = b ? 2 : 1;
  m.nodes[i].input = m.node_inputs[i];
  m.nodes[i].n_output = 1;
  m.nodes[i].output = m.node_outputs[i];
}

static void set_types(void) {
  onnx__type_proto__init(&m.type);
  onnx__tensor_type_proto__init(&m.tensor_type);
  onnx__tensor_shape_proto__init(&m.shape);
  for (int i = 0; i < 2; ++i) {
    onnx__dimension_proto__init(&m.dims[i]);
    m.dim_list[i] = &m.dims[i];
  }
  m.dims[0].dim_param = (char*)(uintptr_t) "batch";
  m.dims[1].has_dim_value = 1;
  m.dims[1].dim_value = 3;
  m.shape.n_dim = 2;
  m.shape.dim = m.dim_list;
  m.tensor_type.has_elem_type = 1;
  m.tensor_type.elem_type = 1;
  m.tensor_type.shape = &m.shape;
  m.type.tensor_type = &m.tensor_type;
}

static void set_up(void) {
  memset(&m, 0, sizeof(m));
  onnx__model_proto__init(&m.model);
  onnx__graph_proto__init(&m.graph);
  onnx__operator_set_id_proto__init(&m.opset);
  onnx__value_info_proto__init(&m.input);
  onnx__value_info_proto__init(&m.output);
  onnx__tensor_proto__init(&m.weights);
  set_types();
  m.opset.has_version = 1;
  m.opset.version = 20;
  m.opsets[0] = &m.opset;
  m.model.n_opset_import = 1;
  m.model.opset_import = m.opsets;
  m.model.graph = &m.graph;
  m.graph.node = m.node_list;
  m.input.name = (char*)(uintptr_t) "x";
  m.output.name = (char*)(uintptr_t) "y";
  m.input.type = m.output.type = &m.type;
  m.inputs[0] = &m.input;
  m.outputs[0] = &m.output;
  m.graph.n_input = m.graph.n_output = 1;
  m.graph.input = m.inputs;
  m.graph.output = m.outputs;
  m.weight_list[0] = &m.weights;
  m.graph.initializer = m.weight_list;
  options = (tfrt_onnx_options_t){.directory = NULL};
  tfrt_string_builder_initialize(&report, tfrt_allocator_system());
  tfrt_string_builder_initialize(&summary, tfrt_allocator_system());
  tfrt_string_builder_initialize(&text, tfrt_allocator_system());
}

static void tear_down(void) {
  tfrt_string_builder_deinitialize(&report);
  tfrt_string_builder_deinitialize(&summary);
  tfrt_string_builder_deinitialize(&text);
}

static void add_weights(const char* name, int64_t length, void* data, size_t size) {
  m.graph.n_initializer = 1;
  m.weight_dims[0] = length;
  m.weights.name = (char*)(uintptr_t)name;
  m.weights.n_dims = 1;
  m.weights.dims = m.weight_dims;
  m.weights.has_data_type = 1;
  m.weights.data_type = 1;
  m.weights.has_raw_data = data != NULL;
  m.weights.raw_data = (ProtobufCBinaryData){size, data};
}

static tfrt_status_t import_bytes(const uint8_t* bytes, size_t size) {
  const tfrt_onnx_texts_t texts = {&report, &summary};
  return tfrt_onnx_to_text("m.onnx", tfrt_string_view_make((const char*)bytes, size),
                           tfrt_all_op_tables(), &options, tfrt_allocator_system(), &texts, &text);
}

static tfrt_status_t import(void) {
  size_t size = onnx__model_proto__get_packed_size(&m.model);
  uint8_t* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  onnx__model_proto__pack(&m.model, bytes);
  tfrt_status_t status = import_bytes(bytes, size);
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
  return status;
}

static void assert_text(const tfrt_string_builder_t* builder, const char* part) {
  ck_assert_msg(strstr(tfrt_string_builder_text(builder), part) != NULL, "no '%s' in:\n%s", part,
                tfrt_string_builder_text(builder));
}

// The import fails, and the report has |part|.
static void assert_refused(const char* part) {
  tfrt_status_t status = import();
  ck_assert_ptr_nonnull(status);
  tfrt_status_release(status);
  assert_text(&report, part);
}

static void assert_good(void) {
  tfrt_status_t status = import();
  ck_assert_msg(status == NULL, "%s", status ? tfrt_status_message(status) : "");
  // The text is one that is read back.
  void* bytes = NULL;
  size_t size = 0;
  status = tfrt_translate_text_to_bef(
      "m.mlir", tfrt_string_view_make(tfrt_string_builder_text(&text), text.size),
      tfrt_all_op_tables(), NULL, tfrt_allocator_system(), &report, &bytes, &size);
  ck_assert_msg(status == NULL, "%s", tfrt_string_builder_text(&report));
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
}

START_TEST(nodes_become_ops_and_weights_constants) {
  float data[3] = {1, 2, 3};
  add_weights("w", 3, data, sizeof(data));
  add_node("Add", "x", "w", "sum");
  add_node("Relu", "sum", NULL, "y");
  assert_good();
  assert_text(&text, "func.func @main(%x: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor");
  assert_text(&text, "tfrt_nn.argument(%x) {dims = [-1, 3], dtype = f32, name = \"x\"}");
  assert_text(&text, "tfrt_nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>");
  assert_text(&text, "tfrt_nn.relu(");
  assert_text(&summary,
              "input  x: FLOAT [batch, 3]\noutput y: FLOAT [batch, 3]\nopset 20, 2 nodes");
  assert_text(&summary, "fused: nothing; 3 ops\n");
}
END_TEST

START_TEST(a_shape_of_the_user_goes_before_the_models) {
  static const char* const shapes[] = {"x=2x3"};
  options.shapes = shapes;
  options.shape_count = 1;
  add_node("Relu", "x", NULL, "y");
  assert_good();
  assert_text(&text, "dims = [2, 3]");
}
END_TEST

START_TEST(a_shape_of_the_user_has_the_lengths_that_the_model_fixes) {
  static const char* const shapes[] = {"x=2x4"};
  options.shapes = shapes;
  options.shape_count = 1;
  add_node("Relu", "x", NULL, "y");
  assert_refused("'x=2x4': axis 1 of the input has the length 3 in the model");
}
END_TEST

START_TEST(weights_that_no_program_holds_are_refused_before_they_are_read) {
  add_weights("w", (int64_t)1 << 31, NULL, 0);
  m.weights.has_data_location = 1;
  m.weights.data_location = 1;
  add_node("Add", "x", "w", "y");
  assert_refused("the model has 8.6 GB of weights; a program can have 4.3");
}
END_TEST

START_TEST(a_shape_that_names_no_input_is_refused) {
  static const char* const shapes[] = {"z=2x3"};
  options.shapes = shapes;
  options.shape_count = 1;
  add_node("Relu", "x", NULL, "y");
  assert_refused("'z=2x3' names no input; the model has x");
}
END_TEST

START_TEST(all_missing_operators_are_named_at_once) {
  add_node("Unknown", "x", NULL, "a");
  add_node("Relu", "a", NULL, "b");
  add_node("Strange", "b", NULL, "c");
  add_node("Unknown", "c", NULL, "y");
  assert_refused(
      "node 0 'a', Unknown: the operator Unknown of opset 20 is not supported (2 nodes)");
  assert_text(&report,
              "node 2 'c', Strange: the operator Strange of opset 20 is not supported (1 node)");
}
END_TEST

START_TEST(names_have_one_maker_before_their_users) {
  add_node("Relu", "later", NULL, "y");
  add_node("Relu", "x", NULL, "later");
  assert_refused(
      "its input 'later' is made by no node before it, but by node 1: a graph has its nodes in "
      "order, without cycles");
}
END_TEST

START_TEST(a_name_like_a_missing_one_is_suggested) {
  add_node("Relu", "x", NULL, "features");
  add_node("Add", "feature", "x", "y");
  assert_refused(
      "node 1 'y', Add: its input 'feature' is made by no node before it; did you mean "
      "'features'?");
}
END_TEST

START_TEST(no_name_is_suggested_where_none_is_near) {
  add_node("Relu", "something", NULL, "y");
  assert_refused("its input 'something' is made by no node before it");
  ck_assert_ptr_null(strstr(tfrt_string_builder_text(&report), "did you mean"));
}
END_TEST

START_TEST(a_cycle_is_refused) {
  add_node("Add", "x", "y", "y");
  assert_refused("its input 'y' is made by no node before it, but by node 0");
}
END_TEST

START_TEST(a_name_that_is_made_twice_is_refused) {
  add_node("Relu", "x", NULL, "y");
  add_node("Neg", "x", NULL, "y");
  assert_refused("the name 'y' is made twice");
}
END_TEST

START_TEST(an_output_without_a_maker_is_refused) {
  add_node("Relu", "x", NULL, "z");
  assert_refused("the output 'y' is made by no node");
}
END_TEST

START_TEST(an_attribute_that_is_not_known_is_refused) {
  Onnx__AttributeProto attribute;
  Onnx__AttributeProto* list[1] = {&attribute};
  onnx__attribute_proto__init(&attribute);
  attribute.name = (char*)(uintptr_t) "colour";
  add_node("Relu", "x", NULL, "y");
  m.nodes[0].n_attribute = 1;
  m.nodes[0].attribute = list;
  assert_refused("node 0 'y', Relu: its attribute 'colour' is not supported");
}
END_TEST

START_TEST(weights_must_be_as_many_as_their_shape_says) {
  float data[3] = {1, 2, 3};
  add_weights("w", INT64_C(1) << 40, data, sizeof(data));
  add_node("Add", "x", "w", "y");
  assert_refused("tensor 'w' has 12 bytes or elements where its shape wants");
}
END_TEST

START_TEST(data_outside_of_the_models_folder_is_refused) {
  Onnx__StringStringEntryProto entry;
  Onnx__StringStringEntryProto* list[1] = {&entry};
  static const char* const places[] = {"/etc/passwd", "../../../../etc/passwd"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(places); ++i) {
    tear_down();
    set_up();
    options.directory = "/tmp";
    onnx__string_string_entry_proto__init(&entry);
    entry.key = (char*)(uintptr_t) "location";
    entry.value = (char*)(uintptr_t)places[i];
    add_weights("w", 3, NULL, 0);
    m.weights.has_data_location = 1;
    m.weights.data_location = 1;
    m.weights.n_external_data = 1;
    m.weights.external_data = list;
    add_node("Add", "x", "w", "y");
    assert_refused("data must lie in the model's folder");
  }
}
END_TEST

START_TEST(inputs_that_are_no_tensors_of_numbers_are_refused) {
  m.tensor_type.elem_type = 8;
  add_node("Identity", "x", NULL, "y");
  assert_refused("the input 'x' is no tensor, or has elements of STRING, which are not supported");
}
END_TEST

START_TEST(an_opset_of_the_future_is_refused) {
  m.opset.version = 1000;
  add_node("Relu", "x", NULL, "y");
  assert_refused("the model uses opset 1000; 1 to");
}
END_TEST

START_TEST(files_that_are_no_models_are_refused) {
  static const uint8_t nothing[1];
  static const uint8_t noise[] = {0xff, 0xff, 0xff, 0xff, 0xff};
  tfrt_status_t status = import_bytes(nothing, 0);
  ck_assert_str_eq(tfrt_status_message(status), "the model has no graph: this is no ONNX file");
  tfrt_status_release(status);
  status = import_bytes(noise, sizeof(noise));
  ck_assert_str_eq(tfrt_status_message(status), "the file is damaged, or no ONNX file");
  tfrt_status_release(status);
}
END_TEST

// Each prefix of a model, and each with a bit turned, ends in a program or an error.
START_TEST(damaged_models_do_no_harm) {
  float data[3] = {1, 2, 3};
  add_weights("w", 3, data, sizeof(data));
  add_node("Add", "x", "w", "sum");
  add_node("Softmax", "sum", NULL, "y");
  size_t size = onnx__model_proto__get_packed_size(&m.model);
  uint8_t* bytes = tfrt_allocator_allocate(tfrt_allocator_system(), size);
  onnx__model_proto__pack(&m.model, bytes);
  for (size_t i = 0; i < size; ++i) tfrt_status_release(import_bytes(bytes, i));
  for (size_t i = 0; i < 8 * size; ++i) {
    bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    tfrt_status_release(import_bytes(bytes, size));
    bytes[i / 8] ^= (uint8_t)(1 << i % 8);
  }
  tfrt_allocator_free(tfrt_allocator_system(), bytes, size);
}
END_TEST

START_TEST(a_pipeline_has_a_function_for_each_host) {
  options.split = TFRT_ONNX_SPLIT_PIPELINE;
  options.host_count = 2;
  add_node("Relu", "x", NULL, "a");
  add_node("Neg", "a", NULL, "b");
  add_node("Add", "a", "b", "c");
  add_node("Abs", "c", NULL, "y");
  assert_good();
  assert_text(&text, "func.func @stage0(%arg0: !tfrt_tensor.tensor) -> (!tfrt_tensor.tensor, ");
  assert_text(&text, "func.func @stage1(%arg0: !tfrt_tensor.tensor, %arg1: !tfrt_tensor.tensor)");
  assert_text(&text, "tfrt.call @stage1(%1#0, %1#1) {host = 1 : i32}");
}
END_TEST

START_TEST(data_is_cut_along_the_first_axis) {
  options.split = TFRT_ONNX_SPLIT_DATA;
  options.host_count = 3;
  add_node("Relu", "x", NULL, "y");
  assert_good();
  assert_text(&text, "tfrt_nn.split(%0) {");
  assert_text(&text, "tfrt.call @replica(%1#2) {host = 2 : i32}");
  assert_text(&text, "tfrt_nn.concat(");
}
END_TEST

// Fills in a graph of one node, which makes |result| of x, as the attribute |name| of node 0.
static void add_branch(Onnx__AttributeProto* attribute, const char* name, const char* op,
                       const char* result) {
  Onnx__GraphProto graph;
  Onnx__NodeProto node;
  Onnx__ValueInfoProto output;
  Onnx__NodeProto* nodes[1] = {&node};
  Onnx__ValueInfoProto* outputs[1] = {&output};
  char* used[1] = {(char*)(uintptr_t) "x"};
  char* made[1] = {(char*)(uintptr_t)result};
  onnx__graph_proto__init(&graph);
  onnx__node_proto__init(&node);
  onnx__value_info_proto__init(&output);
  onnx__attribute_proto__init(attribute);
  node.op_type = (char*)(uintptr_t)op;
  node.n_input = node.n_output = 1;
  node.input = used;
  node.output = made;
  output.name = made[0];
  graph.n_node = graph.n_output = 1;
  graph.node = nodes;
  graph.output = outputs;
  attribute->name = (char*)(uintptr_t)name;
  attribute->has_g = 1;
  attribute->g.len = onnx__graph_proto__get_packed_size(&graph);
  attribute->g.data = tfrt_allocator_allocate(tfrt_allocator_system(), attribute->g.len);
  onnx__graph_proto__pack(&graph, attribute->g.data);
}

static void free_branch(Onnx__AttributeProto* attribute) {
  tfrt_allocator_free(tfrt_allocator_system(), attribute->g.data, attribute->g.len);
}

// Adds an If on x, whose branches are |op_then| and |op_else| of x, with one name for their
// results.
static void add_if(Onnx__AttributeProto* branches, Onnx__AttributeProto** list, const char* op_then,
                   const char* op_else) {
  add_branch(&branches[0], "then_branch", op_then, "r");
  add_branch(&branches[1], "else_branch", op_else, "r");
  list[0] = &branches[0];
  list[1] = &branches[1];
  add_node("If", "x", NULL, "y");
  m.nodes[0].n_attribute = 2;
  m.nodes[0].attribute = list;
}

START_TEST(branches_become_functions) {
  Onnx__AttributeProto branches[2];
  Onnx__AttributeProto* list[2];
  add_if(branches, list, "Relu", "Neg");
  assert_good();
  assert_text(&text, "tfrt_nn.condition");
  assert_text(&text, "tfrt.cond");
  assert_text(&text, "func.func @then_2(%arg0: !tfrt_tensor.tensor)");
  assert_text(&text, "tfrt_nn.neg(%arg0)");
  free_branch(&branches[0]);
  free_branch(&branches[1]);
}
END_TEST

START_TEST(what_is_wrong_in_a_branch_is_reported) {
  Onnx__AttributeProto branches[2];
  Onnx__AttributeProto* list[2];
  add_if(branches, list, "Odd", "Strange");
  assert_refused("Odd: the operator Odd of opset 20 is not supported (1 node)");
  assert_text(&report, "Strange: the operator Strange of opset 20 is not supported (1 node)");
  free_branch(&branches[0]);
  free_branch(&branches[1]);
  add_branch(&branches[1], "else_branch", "Relu", "r");
  branches[0].g.len = 0;
  branches[0].g.data = NULL;
  assert_refused("its graph 'then_branch' has other inputs or outputs");
  free_branch(&branches[1]);
}
END_TEST

// Before version 13 the axes from `axis` on were one; axes and limits were attributes.
START_TEST(old_versions_become_the_newest_form) {
  m.opset.version = 9;
  add_node("Softmax", "x", NULL, "y");
  assert_good();
  assert_text(&text, "tfrt_nn.flatten(%0)");
  assert_text(&text, "tfrt_nn.reshape(");
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* import = tcase_create("import");
  tcase_add_checked_fixture(import, set_up, tear_down);
  tcase_add_test(import, nodes_become_ops_and_weights_constants);
  tcase_add_test(import, a_shape_of_the_user_goes_before_the_models);
  tcase_add_test(import, a_shape_of_the_user_has_the_lengths_that_the_model_fixes);
  tcase_add_test(import, weights_that_no_program_holds_are_refused_before_they_are_read);
  tcase_add_test(import, a_shape_that_names_no_input_is_refused);
  tcase_add_test(import, all_missing_operators_are_named_at_once);
  tcase_add_test(import, names_have_one_maker_before_their_users);
  tcase_add_test(import, a_name_like_a_missing_one_is_suggested);
  tcase_add_test(import, no_name_is_suggested_where_none_is_near);
  tcase_add_test(import, a_cycle_is_refused);
  tcase_add_test(import, a_name_that_is_made_twice_is_refused);
  tcase_add_test(import, an_output_without_a_maker_is_refused);
  tcase_add_test(import, an_attribute_that_is_not_known_is_refused);
  tcase_add_test(import, weights_must_be_as_many_as_their_shape_says);
  tcase_add_test(import, data_outside_of_the_models_folder_is_refused);
  tcase_add_test(import, inputs_that_are_no_tensors_of_numbers_are_refused);
  tcase_add_test(import, an_opset_of_the_future_is_refused);
  tcase_add_test(import, files_that_are_no_models_are_refused);
  tcase_add_test(import, damaged_models_do_no_harm);
  tcase_add_test(import, a_pipeline_has_a_function_for_each_host);
  tcase_add_test(import, data_is_cut_along_the_first_axis);
  tcase_add_test(import, branches_become_functions);
  tcase_add_test(import, what_is_wrong_in_a_branch_is_reported);
  tcase_add_test(import, old_versions_become_the_newest_form);
  Suite* suite = suite_create("onnx_import");
  suite_add_tcase(suite, import);
  return suite;
}
