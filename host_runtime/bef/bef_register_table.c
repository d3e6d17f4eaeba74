// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/bef/bef_register_table.h"

void tfrt_bef_register_table_return(tfrt_bef_register_table_t* table, const uint32_t* results,
                                    uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (table->registers[results[i]].results_left-- == 0) table->uses_fit = false;
    --table->results_left;
  }
}

uint32_t tfrt_bef_register_table_find_unset(const tfrt_bef_register_table_t* table) {
  uint32_t number = 0;
  while (tfrt_bef_register_table_is_set(table, number)) ++number;
  return number;
}

bool tfrt_bef_register_table_fits(const tfrt_bef_register_table_t* table) {
  return table->uses_fit && table->starting_left == 0 && table->users_left == 0 &&
         table->results_left == 0;
}
