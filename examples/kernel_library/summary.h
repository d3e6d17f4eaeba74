// SPDX-License-Identifier: Apache-2.0
//
// The type `!stats.summary`: how many numbers there were, their sum, and the smallest and the
// largest of them.
#ifndef STATS_SUMMARY_H_
#define STATS_SUMMARY_H_

#include <tfrt/kernel_library.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stats_summary_s {
  int64_t count;
  double sum;
  double minimum;  // 0 while |count| is 0, as is |maximum|
  double maximum;
} stats_summary_t;

// Adds |number| to |summary|.
void stats_summary_add(stats_summary_t* summary, double number);

// Adds all that |other| has seen to |summary|.
void stats_summary_merge(stats_summary_t* summary, const stats_summary_t* other);

// Registers the type. May be called more than once.
tfrt_status_t stats_summary_register(void);

// The id of the type; after it was registered.
tfrt_type_id_t stats_summary_type_id(void);

#ifdef __cplusplus
}
#endif

#endif  // STATS_SUMMARY_H_
