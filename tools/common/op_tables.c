// SPDX-License-Identifier: Apache-2.0

#include "tools/common/op_tables.h"

#include "kernels/basic/ops.h"
#include "kernels/control_flow/ops.h"
#include "kernels/tensor/ops.h"
#include "kernels/test/ops.h"

const tfrt_op_tables_t* tfrt_all_op_tables(void) {
  // Copied at the first call: the tables are no constant expressions to the C language.
  static tfrt_kernel_table_t tables[4];
  static const tfrt_op_tables_t all = {tables, TFRT_ARRAY_SIZE(tables)};
  tables[0] = tfrt_basic_ops;
  tables[1] = tfrt_control_flow_ops;
  tables[2] = tfrt_tensor_ops;
  tables[3] = tfrt_test_ops;
  return &all;
}
