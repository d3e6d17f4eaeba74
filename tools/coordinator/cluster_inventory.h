// SPDX-License-Identifier: Apache-2.0
//
// The live objects of a whole cluster: the inventories of its hosts, and the processes that these
// name.
//
//   job   a32e80b5                     the first digits of its id
//   call  1f2e3d4c.17@8899aabb         caller, number, callee: the first digits of incarnations
//
// Names are unique enough to be typed; where they are read, more digits, up to all, do as well.
//
// Life: gathered from a query (host_query.h), whose answers it borrows. A caller that looks for
// many calls builds its index, and frees that.
//
// Thread rule: main thread only. Failure rule: hosts that did not answer have no lines.
#ifndef TFRT_TOOLS_COORDINATOR_CLUSTER_INVENTORY_H_
#define TFRT_TOOLS_COORDINATOR_CLUSTER_INVENTORY_H_

#include "tools/coordinator/host_query.h"
#include "tools/coordinator/inventory_index.h"
#include "tools/coordinator/inventory_lines.h"
#include "tools/coordinator/table.h"

// Digits of an id that are shown.
#define TFRT_CLUSTER_INVENTORY_DIGITS 8

typedef struct tfrt_cluster_inventory_s {
  uint32_t host_count;
  tfrt_string_view_t addresses[TFRT_HOST_LIST_MAX];
  tfrt_string_view_t lines[TFRT_HOST_LIST_MAX];         // "" for a host that did not answer
  tfrt_string_view_t incarnations[TFRT_HOST_LIST_MAX];  // the same
  tfrt_inventory_index_t index;                         // of zeros: lines are searched
} tfrt_cluster_inventory_t;

// Asks all hosts of |query| for |which| part and fills |out_inventory|. Main thread only.
tfrt_status_t tfrt_cluster_inventory_gather(tfrt_host_query_t* query, tfrt_client_inventory_t which,
                                            tfrt_cluster_inventory_t* out_inventory) TFRT_MUST_USE;

// The same, from behind the first |skip| calls each way and values each way of each worker on.
tfrt_status_t tfrt_cluster_inventory_gather_page(tfrt_host_query_t* query,
                                                 tfrt_client_inventory_t which, uint64_t skip,
                                                 tfrt_cluster_inventory_t* out_inventory)
    TFRT_MUST_USE;

// Says on the standard error stream which hosts have more than |inventory| shows, and how much, and
// the --skip, if it is not 0, that shows more of it. Main thread only.
void tfrt_cluster_inventory_report_more(const tfrt_cluster_inventory_t* inventory,
                                        uint64_t next_skip);

// Makes what finds lines in |inventory| take a time that does not grow with their number, and gives
// back what that needs; without an index there is nothing to give back. Main thread only.
tfrt_status_t tfrt_cluster_inventory_index(tfrt_cluster_inventory_t* inventory) TFRT_MUST_USE;
void tfrt_cluster_inventory_drop_index(tfrt_cluster_inventory_t* inventory);

// The host that is the process |incarnation|, or UINT32_MAX. Main thread only.
uint32_t tfrt_cluster_inventory_find(const tfrt_cluster_inventory_t* inventory,
                                     tfrt_string_view_t incarnation);

// Where the process |incarnation| is: the address that it was asked by, or that a job has, or the
// incarnation itself; "" for none. Main thread only.
tfrt_string_view_t tfrt_cluster_inventory_name(const tfrt_cluster_inventory_t* inventory,
                                               tfrt_string_view_t incarnation);

// Writes the name of the call that |line| of host |host| is, to |out|. Main thread only.
void tfrt_cluster_inventory_call_name(const tfrt_cluster_inventory_t* inventory, uint32_t host,
                                      const tfrt_inventory_line_t* line, char* out, size_t size);

// The line of the caller of the call that |line| of host |callee| is; false if the caller was not
// asked, or knows nothing of it. Main thread only.
bool tfrt_cluster_inventory_find_caller(const tfrt_cluster_inventory_t* inventory, uint32_t callee,
                                        const tfrt_inventory_line_t* line,
                                        tfrt_inventory_line_t* out_line);

// The line of the callee of the call that |line| of host |caller| is; |*out_host| is where.
// False as above. Main thread only.
bool tfrt_cluster_inventory_find_callee(const tfrt_cluster_inventory_t* inventory, uint32_t caller,
                                        const tfrt_inventory_line_t* line, uint32_t* out_host,
                                        tfrt_inventory_line_t* out_line);

// Makes |out_table| one of hosts, jobs, calls or values: a row for each. The caller gives it back.
// Main thread only.
void tfrt_cluster_inventory_list_hosts(const tfrt_cluster_inventory_t* inventory,
                                       const tfrt_host_query_t* query, tfrt_table_t* out_table);
void tfrt_cluster_inventory_list_jobs(const tfrt_cluster_inventory_t* inventory,
                                      tfrt_table_t* out_table);
void tfrt_cluster_inventory_list_calls(const tfrt_cluster_inventory_t* inventory,
                                       tfrt_table_t* out_table);
void tfrt_cluster_inventory_list_objects(const tfrt_cluster_inventory_t* inventory,
                                         tfrt_table_t* out_table);

#endif  // TFRT_TOOLS_COORDINATOR_CLUSTER_INVENTORY_H_
