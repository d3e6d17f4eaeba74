// SPDX-License-Identifier: Apache-2.0
//
// The coordinator's side of a job: finds the hosts, opens the job on each, ships the program,
// starts the entry function at the root, and gets its results and the printed lines.
//
//   CONNECTING --sessions--> OPENING --JobOpened from all--> OPEN --start--> results
//        |lost                  |lost, refused                 |lost root, close
//        +----------------------+------------------------------+--> CLOSED
//
// Life:
//  1. Created: dials all hosts at once. |opened| tells when the job is open everywhere.
//  2. Started any number of times, from the beginning on; what can't go yet waits. After the
//     deadline a job that is not open is closed, the starts of an open one are cancelled.
//  3. Closed: the client tells the root, and results that have not come become errors. A client may
//     leave a detached job instead, or die: the job goes on, and any client may follow it. (Its one
//     start has begun when TFRT_CLIENT_ASK_FOLLOW says `running`.)
//  4. Released.
//
// Thread rule: thread-safe.
// Failure rule: failures between hosts are the error of |opened| and of the results. Its code says
// what a user, or `tfrt`, does about it; the message names the host (rank, name, address) and, for
// |opened|, what helps.
//
//    code                 of |opened|: the job was never open          of a result
//    UNAVAILABLE          a host is not there, does not answer, has    a host was lost, or has
//                         no address, shuts down, or was lost          shut down, in mid-run
//    RESOURCE_EXHAUSTED   a host takes no more jobs or sessions        the program's, or a limit
//    INVALID_ARGUMENT     an address is none, or a host named twice    the program's
//    ABORTED              two hosts, or a host and this client, can't talk: no common version, or
//                         one of them broke the protocol
//    UNAUTHENTICATED      a host doesn't take the key (of the cluster, or of the job)
//    CANCELLED            the client was closed or cancelled
//    DEADLINE_EXCEEDED    the deadline passed
//    others               a mistake of this runtime                    the program's
//
// Results of a job that was never open are the error of |opened|, and come after it. Others may
// come while |opened| is still to come: those of a start that was cancelled, or could not be made,
// and those of a job that has just been opened. All errors that the loss of one host causes have
// the same root key, its incarnation.
#ifndef TFRT_DISTRIBUTED_CLIENT_CLIENT_H_
#define TFRT_DISTRIBUTED_CLIENT_CLIENT_H_

#include "distributed/domain/node.h"
#include "host_runtime/base/trace.h"

typedef struct tfrt_client_s tfrt_client_t;

// Takes a line that a kernel on |rank| prints. Called with no lock held, from any thread.
typedef void (*tfrt_client_print_fn_t)(void* self, uint32_t rank, tfrt_string_view_t line);

typedef struct tfrt_client_options_s {
  const tfrt_string_view_t* addresses;  // by rank
  uint32_t host_count;                  // from 1
  tfrt_string_view_t name;              // of the job, for people
  int64_t deadline_ns;                  // of the node's clock; 0 or TFRT_TIME_INFINITE: none
  bool asks_only;                       // nothing is started; a host that drains answers, too
  bool is_traced;                       // hosts record what runs when, for TFRT_CLIENT_ASK_TRACE
  bool is_detached;                     // the job outlives this client; |print| is never called
  uint64_t keep_results_ms;             // of a detached one, after its end; 0: the root's default
  tfrt_job_limits_t limits;             // on each host, where that allows as much; 0: as it says
  tfrt_client_print_fn_t print;
  void* print_self;
} tfrt_client_options_t;

// A start: a function of a program, and its arguments.
typedef struct tfrt_client_start_s {
  tfrt_string_view_t program;            // a BEF image
  uint32_t function;                     // index in it
  tfrt_string_view_t name;               // of the function, for errors; empty: its index is shown
  tfrt_async_value_t* const* arguments;  // +0, in any state
  uint32_t argument_count;
  uint32_t result_count;  // of the function
  // Set (+1) to a value that resolves when the start is over, including work that no result depends
  // on: a chain, or the error that the start ended with, even if no result has it. NULL: nobody
  // asks.
  tfrt_async_value_t** out_ended;
} tfrt_client_start_t;

// Sets |*out_client| (+1) to a new client on |node|, which outlives it. INVALID_ARGUMENT,
// RESOURCE_EXHAUSTED, FAILED_PRECONDITION for a closed node. Thread-safe.
tfrt_status_t tfrt_client_create(tfrt_node_t* node, const tfrt_client_options_t* options,
                                 tfrt_client_t** out_client) TFRT_MUST_USE;

// A chain (+0, lives as long as |client|): the job is open everywhere, or the error.
// Thread-safe.
tfrt_async_value_t* tfrt_client_opened(tfrt_client_t* client);

// A chain (+0, lives as long as |client|) that is an error as soon as a host of the open job is
// lost, the first one alone, and is available when the client is closed without that. The run may
// do without that host: its results say. Thread-safe.
tfrt_async_value_t* tfrt_client_first_loss(tfrt_client_t* client);

// Starts |start| and sets its results (+1 each), which come when the root has ended it. Returns
// its number, 0 if memory is out, which the results say. Thread-safe.
uint64_t tfrt_client_start(tfrt_client_t* client, const tfrt_client_start_t* start,
                           tfrt_async_value_t** out_results);

// Cancels the start |number|, 0 for all, because of |reason| (+0): its results are still the
// root's answer. Thread-safe.
void tfrt_client_cancel(tfrt_client_t* client, uint64_t number, tfrt_status_t reason);

// The questions of a client to a host, about any job or client. The answer comes when it is
// demanded, as any value.
typedef enum tfrt_client_ask_e {
  // Its record of this client's job: a value for tfrt_client_read_trace().
  TFRT_CLIENT_ASK_TRACE = 0,
  // Has it record, for whatever job, as |about| says: a text of service/plain_form.h. The same.
  TFRT_CLIENT_ASK_RECORD,
  // How it is: a value for tfrt_client_lines_take().
  TFRT_CLIENT_ASK_STATUS,
  // The things that are alive there because of others, or |part| of them: the same.
  TFRT_CLIENT_ASK_INVENTORY,
  // Has it end |about|, of whatever client: a text of service/plain_form.h.
  TFRT_CLIENT_ASK_CANCEL,
  // Has it take no more jobs and end with those that run: their number, for
  // tfrt_client_lines_take().
  TFRT_CLIENT_ASK_DRAIN,
  // The state of the detached job |about| (its id in hexadecimal digits), whose root is the host,
  // and the lines that the job has printed from |number| on: a value for
  // tfrt_client_read_following().
  TFRT_CLIENT_ASK_FOLLOW,
  // Result |number| of such a job, once it has ended. The number behind the last result gives a
  // chain, or the error that explains why there are no results.
  TFRT_CLIENT_ASK_KEPT_RESULT,
  // Whether it has the device |about|, as "cuda:0": a chain, or the error that says what is
  // missing.
  TFRT_CLIENT_ASK_DEVICE,
} tfrt_client_ask_t;

// The part of an inventory that a client asks for. A host of a version before answers with all.
typedef enum tfrt_client_inventory_e {
  TFRT_CLIENT_INVENTORY_ALL,   // as many things of each kind as the host lists
  TFRT_CLIENT_INVENTORY_JOBS,  // jobs with their members
  TFRT_CLIENT_INVENTORY_FEW,   // the first few things of each kind
} tfrt_client_inventory_t;

// The most things of each kind that a host lists in one answer.
#define TFRT_CLIENT_INVENTORY_PAGE 4096

typedef struct tfrt_client_question_s {
  tfrt_client_ask_t kind;
  tfrt_string_view_t about;
  uint64_t number;  // to an inventory: the calls and values that are passed over first
  tfrt_client_inventory_t part;
} tfrt_client_question_t;

// Asks host |rank| |question|. Returns (+1), unresolved, the answer or an error. Thread-safe.
tfrt_async_value_t* tfrt_client_ask(tfrt_client_t* client, uint32_t rank,
                                    const tfrt_client_question_t* question);

// The string (+1) with the lines, as service/plain_form.h describes them, that |value| (consumed)
// is, which is available; or the error that it is, or that names what is wrong with it.
// Thread-safe.
tfrt_async_value_t* tfrt_client_lines_take(tfrt_async_value_t* value);

#define TFRT_CLIENT_FUNCTION_SIZE 257

// How a detached job is, and which of its lines an answer has.
typedef struct tfrt_client_following_s {
  bool is_starting;  // the job's client is still needed
  bool has_ended;
  char function[TFRT_CLIENT_FUNCTION_SIZE];  // "": not known yet
  uint32_t result_count;                     // of an ended job
  uint64_t from;                             // lines between the asked number and this one are gone
  uint64_t next;                             // what to ask for next
  bool has_more;
  bool is_loss;  // the error that the job has ended with is the loss of a host
} tfrt_client_following_t;

// Sets |*out_following| to the state in |value|, the answer to TFRT_CLIENT_ASK_FOLLOW, which is
// available, and then calls |on_line| for each line. INVALID_ARGUMENT for another value;
// lines before the bad one were taken. Thread-safe.
tfrt_status_t tfrt_client_read_following(tfrt_async_value_t* value, tfrt_client_print_fn_t on_line,
                                         void* self, tfrt_client_following_t* out_following)
    TFRT_MUST_USE;

// Sets |out_id| to the id of the client's job, in hexadecimal digits; "" before all hosts are
// known. Thread-safe.
#define TFRT_CLIENT_JOB_ID_SIZE 33
void tfrt_client_job_id(tfrt_client_t* client, char out_id[TFRT_CLIENT_JOB_ID_SIZE]);

// Adds the spans in |value|, the answer to a question about spans, which is available, to |trace|.
// Sets |*out_clock_ns| to the host's clock when it answered, and |*out_dropped| to the number of
// spans that did not fit there. INVALID_ARGUMENT for a value that is no trace. Thread-safe.
tfrt_status_t tfrt_client_read_trace(tfrt_async_value_t* value, tfrt_trace_t* trace,
                                     int64_t* out_clock_ns, uint64_t* out_dropped) TFRT_MUST_USE;

// Returns true if |status| (+0; OK is none) says that a host of the job was lost, as its root
// cause, or that hosts have lost this client, which was silent for too long. Thread-safe.
bool tfrt_client_has_lost(tfrt_client_t* client, tfrt_status_t status);

// Closes the job because of |reason| (+0), OK when it is finished. Idempotent. Thread-safe.
void tfrt_client_close(tfrt_client_t* client, tfrt_status_t reason);

// How else a client ends its part in the job.
typedef enum tfrt_client_ending_e {
  // Tells the hosts that the job is over because of the reason, an error, and goes on listening
  // until it is closed here: the root answers with what is known of the results. A job that is not
  // open is closed at once.
  TFRT_CLIENT_ENDS_JOB,
  // Closes, but a detached job goes on. There is no reason.
  TFRT_CLIENT_LEAVES_JOB,
} tfrt_client_ending_t;

// Ends as |ending| says, because of |reason| (+0). Thread-safe.
void tfrt_client_end(tfrt_client_t* client, tfrt_client_ending_t ending, tfrt_status_t reason);

// Drops one reference, after the job is closed or left; NULL is allowed. Thread-safe.
void tfrt_client_release(tfrt_client_t* client);

#endif  // TFRT_DISTRIBUTED_CLIENT_CLIENT_H_
