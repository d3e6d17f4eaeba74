// SPDX-License-Identifier: Apache-2.0

#include "tools/common/op_tables.h"

#include "host_runtime/base/sync.h"
#include "kernels/basic/ops.h"
#include "kernels/control_flow/ops.h"
#include "kernels/distributed/ops.h"
#include "kernels/tensor/ops.h"
#include "kernels/test/ops.h"

static tfrt_kernel_table_t tfrt_op_tables_rooms[8];

// Copied once: the tables are no constant expressions to the C language.
static void tfrt_op_tables_fill(void) {
  tfrt_op_tables_rooms[0] = tfrt_basic_ops;
  tfrt_op_tables_rooms[1] = tfrt_control_flow_ops;
  tfrt_op_tables_rooms[2] = tfrt_dense_host_tensor_ops;
  tfrt_op_tables_rooms[3] = tfrt_sync_tensor_ops;
  tfrt_op_tables_rooms[4] = tfrt_test_tensor_ops;
  tfrt_op_tables_rooms[5] = tfrt_tensor_ops;
  tfrt_op_tables_rooms[6] = tfrt_distributed_ops;
  tfrt_op_tables_rooms[7] = tfrt_test_ops;
}

const tfrt_op_tables_t* tfrt_all_op_tables(void) {
  static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
  static const tfrt_op_tables_t all = {tfrt_op_tables_rooms, TFRT_ARRAY_SIZE(tfrt_op_tables_rooms)};
  tfrt_once_run(&once, tfrt_op_tables_fill);
  return &all;
}
