// SPDX-License-Identifier: Apache-2.0

#include "tools/kernels/op_tables.h"

#include "compiler/parser/op_entry_check.h"
#include "host_runtime/base/sync.h"
#include "kernels/async/kernel_ops.h"
#include "kernels/async/ops.h"
#include "kernels/basic/ops.h"
#include "kernels/control_flow/ops.h"
#include "kernels/device/ops.h"
#include "kernels/distributed/ops.h"
#include "kernels/nn/ops/ops.h"
#include "kernels/tensor/ops/ops.h"
#include "kernels/test/ops.h"
#include "tools/kernels/shared_libraries.h"

#define TFRT_OP_TABLES_ROOM_COUNT 20

static tfrt_kernel_table_t
    tfrt_op_tables_of_all[TFRT_OP_TABLES_ROOM_COUNT + TFRT_SHARED_LIBRARIES_MAX];
static tfrt_op_tables_t tfrt_op_tables = {.tables = tfrt_op_tables_of_all,
                                          .count = TFRT_OP_TABLES_ROOM_COUNT};

// Copied once: the tables are no constant expressions to the C language.
static void op_tables_fill(void) {
  tfrt_op_tables_of_all[0] = tfrt_basic_ops;
  tfrt_op_tables_of_all[1] = tfrt_control_flow_ops;
  tfrt_op_tables_of_all[2] = tfrt_dense_host_tensor_ops;
  tfrt_op_tables_of_all[3] = tfrt_sync_tensor_ops;
  tfrt_op_tables_of_all[4] = tfrt_test_tensor_ops;
  tfrt_op_tables_of_all[5] = tfrt_tensor_ops;
  tfrt_op_tables_of_all[6] = tfrt_distributed_ops;
  tfrt_op_tables_of_all[7] = tfrt_device_ops;
  tfrt_op_tables_of_all[8] = tfrt_blas_ops;
  tfrt_op_tables_of_all[9] = tfrt_dnn_ops;
  tfrt_op_tables_of_all[10] = tfrt_ccl_ops;
  tfrt_op_tables_of_all[11] = tfrt_core_runtime_ops;
  tfrt_op_tables_of_all[12] = tfrt_nn_ops;
  tfrt_op_tables_of_all[13] = tfrt_test_ops;
  tfrt_op_tables_of_all[14] = tfrt_cf_ops;
  tfrt_op_tables_of_all[15] = tfrt_arith_ops;
  tfrt_op_tables_of_all[16] = tfrt_scf_ops;
  tfrt_op_tables_of_all[17] = tfrt_async_language_ops;
  tfrt_op_tables_of_all[18] = tfrt_async_ops;
  tfrt_op_tables_of_all[19] = tfrt_gpu_language_ops;
}

const tfrt_op_tables_t* tfrt_all_op_tables(void) {
  static tfrt_once_t once = TFRT_ONCE_INITIALIZER;
  tfrt_once_run(&once, op_tables_fill);
  return &tfrt_op_tables;
}

static tfrt_status_t op_tables_add(const tfrt_shared_library_t* entry) {
  const tfrt_kernel_table_t* table = &entry->library->ops;
  const tfrt_op_tables_t* all = tfrt_all_op_tables();
  tfrt_op_tables_of_all[all->count] = *table;
  ++tfrt_op_tables.count;
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* op = &table->descriptors[i];
    tfrt_status_t status = tfrt_op_entry_check(op);
    if (status) return tfrt_status_take_annotate(status, "shared library '%s'", entry->path);
    if (tfrt_kernel_table_find(all->tables, all->count, op->name) == op) continue;
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "shared library '%s': there is an op '%s' already: names of a "
                              "library begin with a dialect of its own",
                              entry->path, op->name);
  }
  return NULL;
}

tfrt_status_t tfrt_op_tables_load_libraries(const char* list) {
  TFRT_RETURN_IF_ERROR(tfrt_shared_libraries_load(list));
  size_t known = tfrt_all_op_tables()->count - TFRT_OP_TABLES_ROOM_COUNT;
  for (size_t i = known; i < tfrt_shared_libraries_count(); ++i) {
    TFRT_RETURN_IF_ERROR(op_tables_add(tfrt_shared_libraries_get(i)));
  }
  return NULL;
}
