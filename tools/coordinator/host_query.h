// SPDX-License-Identifier: Apache-2.0
//
// The common part of all verbs that ask workers: the flags that name the workers, the connections,
// the questions, and the errors of workers that do not answer.
//
//   parse -> open -> { ask -> answers[i] } -> close
//              | each host by itself: one that is not there is an error among its answers
//
// Life: as above, once.
//
// Thread rule: main thread only.
// Failure rule: a mistake in flags, or a failure of this process, is an error. For a host that
// can't be asked, the answer is an error; the first such error decides how the verb ends. Nothing
// takes longer than --timeout.
#ifndef TFRT_TOOLS_COORDINATOR_HOST_QUERY_H_
#define TFRT_TOOLS_COORDINATOR_HOST_QUERY_H_

#include <stdatomic.h>

#include "distributed/client/client.h"
#include "tools/cluster/cluster_file.h"
#include "tools/cluster/cluster_key.h"
#include "tools/cluster/host_process.h"
#include "tools/cluster/tls_files.h"
#include "tools/command_line/flags.h"
#include "tools/coordinator/exit_code.h"
#include "tools/coordinator/host_list.h"
#include "tools/coordinator/run_loop.h"

typedef struct tfrt_host_query_s tfrt_host_query_t;

// Wakes the main thread when a value is resolved. Until |is_done|, which comes after that, it is
// the thread's that resolves the value.
typedef struct tfrt_host_query_waiter_s {
  tfrt_task_t task;
  tfrt_host_query_t* query;
  atomic_bool is_done;
} tfrt_host_query_waiter_t;

typedef struct tfrt_host_query_host_s {
  tfrt_client_t* client;       // +1
  tfrt_async_value_t* opened;  // +0, the client's
  tfrt_async_value_t* answer;  // +1; to the last question; NULL: not asked
  bool is_asked;
  bool is_told;         // its error is a line already
  int64_t asked_ns;     // when, by this process's clock
  int64_t answered_ns;  // when the main thread saw the answer
  tfrt_host_query_waiter_t on_opened;
  tfrt_host_query_waiter_t on_answer;
} tfrt_host_query_host_t;

struct tfrt_host_query_s {
  const char* name;  // of the verb
  bool is_json;
  int64_t timeout_ms;  // for each question
  tfrt_host_list_t hosts;
  tfrt_hostfile_t hostfile;          // what |hosts| may point into
  tfrt_cluster_file_t cluster_file;  // and other texts
  tfrt_cluster_key_t key;
  tfrt_tls_files_t tls;
  tfrt_flag_list_t rest;  // what is no flag
  tfrt_run_loop_t loop;
  tfrt_host_process_t process;
  bool is_open;
  tfrt_host_query_host_t host[TFRT_HOST_LIST_MAX];
  tfrt_status_t failure;       // +1; the first error among all answers, or NULL
  tfrt_exit_code_t exit_code;  // of a verb that did what it was asked to
};

#define TFRT_HOST_QUERY_MAX_OWN_FLAGS 4

// The flags of one verb, besides those of all verbs.
typedef struct tfrt_host_query_verb_s {
  const char* name;             // "status"
  bool has_hosts_as_arguments;  // what is no flag names workers, too
  const char* usage;
  const char* summary;
  const char* footer;
  const tfrt_flag_t* flags;  // of its own
  size_t flag_count;         // at most TFRT_HOST_QUERY_MAX_OWN_FLAGS
} tfrt_host_query_verb_t;

// Asks |client|, whose one host is number |index| of |query|: the answer (+1), a string or an
// error; NULL leaves that host out.
typedef tfrt_async_value_t* (*tfrt_host_query_fn_t)(void* self, tfrt_client_t* client,
                                                    uint32_t index);

// Makes |query| from the command line of |verb|. |*out_help|: only the help was wanted, and is
// printed. INVALID_ARGUMENT for a wrong command line; |query->is_json| is valid even then. Main
// thread only.
tfrt_status_t tfrt_host_query_parse(tfrt_host_query_t* query, const tfrt_host_query_verb_t* verb,
                                    int argument_count, char* const* arguments, bool* out_help)
    TFRT_MUST_USE;

// Connects to all hosts. Main thread only.
tfrt_status_t tfrt_host_query_open(tfrt_host_query_t* query) TFRT_MUST_USE;

// Asks all hosts with |ask| and waits for the answers. Main thread only.
tfrt_status_t tfrt_host_query_ask(tfrt_host_query_t* query, tfrt_host_query_fn_t ask, void* self)
    TFRT_MUST_USE;

// The same for answers that are made of lines: what is none becomes an error. Main thread only.
tfrt_status_t tfrt_host_query_ask_lines(tfrt_host_query_t* query, tfrt_host_query_fn_t ask,
                                        void* self) TFRT_MUST_USE;

// Sets |*out_text| to the answer of host |index|; false if that is an error, or it was not asked.
// Lives until the next question. Main thread only.
bool tfrt_host_query_answer(const tfrt_host_query_t* query, uint32_t index,
                            tfrt_string_view_t* out_text);

// The answer of host |index| is an error (+0), or NULL. Main thread only.
tfrt_status_t tfrt_host_query_error(const tfrt_host_query_t* query, uint32_t index);

// The same (+1) behind the host's address. Main thread only.
tfrt_status_t tfrt_host_query_named_error(const tfrt_host_query_t* query, uint32_t index);

// Prints an error line for each host that did not answer the last question and that has no such
// line yet. Main thread only.
void tfrt_host_query_report_errors(tfrt_host_query_t* query);

// Where no host has answered the last question with more than an error: prints the errors of all
// but one as above, and returns that (+1); else NULL. Main thread only.
tfrt_status_t tfrt_host_query_check_answered(tfrt_host_query_t* query) TFRT_MUST_USE;

// The error (+1) for a |what| |name| that is not in the answers to the last question.
// INVALID_ARGUMENT if all hosts have answered; else the error of one that has not, and the errors
// of the others are printed. Main thread only.
tfrt_status_t tfrt_host_query_not_found(tfrt_host_query_t* query, const char* what,
                                        const char* name) TFRT_MUST_USE;

// The state of host |index|, which has answered with an error, in a table: whether it is there at
// all. Main thread only.
const char* tfrt_host_query_missing(const tfrt_host_query_t* query, uint32_t index);

// Ends the questions. The output that follows may block if nobody reads it, so from now on SIGINT
// and SIGTERM end the process at once. Main thread only.
void tfrt_host_query_stop_asking(tfrt_host_query_t* query);

// Says that no host but |index| is asked any more. Main thread only.
void tfrt_host_query_leave_others(tfrt_host_query_t* query, uint32_t index);

// Forgets that a host has answered with an error: the verb says itself what that means. Main thread
// only.
void tfrt_host_query_forget_failure(tfrt_host_query_t* query);

// Closes everything. Main thread only.
void tfrt_host_query_close(tfrt_host_query_t* query);

// The life of a verb: parse, |check| what is no flag, open, |run|, close, and the exit code for how
// that went. Main thread only.
typedef tfrt_status_t (*tfrt_host_query_run_fn_t)(tfrt_host_query_t* query);
tfrt_exit_code_t tfrt_host_query_command(const tfrt_host_query_verb_t* verb,
                                         tfrt_host_query_run_fn_t check,
                                         tfrt_host_query_run_fn_t run, int argument_count,
                                         char* const* arguments);

#endif  // TFRT_TOOLS_COORDINATOR_HOST_QUERY_H_
