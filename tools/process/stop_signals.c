// SPDX-License-Identifier: Apache-2.0
#include "tools/process/stop_signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

static bool tfrt_stop_signals_hears_hangup;

static void stop_signals_fill(sigset_t* set) {
  sigemptyset(set);
  sigaddset(set, SIGINT);
  sigaddset(set, SIGTERM);
  if (tfrt_stop_signals_hears_hangup) sigaddset(set, SIGHUP);
}

// Takes the next one that has come; 0: none.
static int stop_signals_read(tfrt_stop_signals_t* signals) {
  struct signalfd_siginfo info;
  ssize_t size = read(signals->descriptor, &info, sizeof(info));
  return size == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

static void stop_signals_run(uv_poll_t* poll, int status, int events) {
  (void)status, (void)events;
  tfrt_stop_signals_t* signals = poll->data;
  for (int number; (number = stop_signals_read(signals)) != 0;) {
    signals->on_stop(signals->self, number);
  }
}

int tfrt_stop_signals_initialize(tfrt_stop_signals_t* signals, uv_loop_t* loop,
                                 tfrt_stop_signals_fn_t on_stop, void* self) {
  *signals = (tfrt_stop_signals_t){.descriptor = -1, .on_stop = on_stop, .self = self};
  struct sigaction hangup;
  tfrt_stop_signals_hears_hangup =
      sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN;
  sigset_t set;
  stop_signals_fill(&set);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -errno;
  signals->descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals->descriptor < 0) return -errno;
  int result = uv_poll_init(loop, &signals->poll, signals->descriptor);
  if (result != 0) return result;
  signals->poll.data = signals;
  return uv_poll_start(&signals->poll, UV_READABLE, stop_signals_run);
}

void tfrt_stop_signals_lend(void (*handler)(int number)) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (tfrt_stop_signals_hears_hangup) sigaction(SIGHUP, &action, NULL);
  sigset_t set;
  stop_signals_fill(&set);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void tfrt_stop_signals_take_back(void) {
  sigset_t set;
  stop_signals_fill(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
}

void tfrt_stop_signals_release(tfrt_stop_signals_t* signals, void (*handler)(int number)) {
  uv_poll_stop(&signals->poll);
  while (stop_signals_read(signals) != 0) {
  }
  tfrt_stop_signals_lend(handler);
}

static void stop_signals_run_closed(uv_handle_t* handle) {
  tfrt_stop_signals_t* signals = handle->data;
  close(signals->descriptor);
}

void tfrt_stop_signals_close(tfrt_stop_signals_t* signals) {
  uv_close((uv_handle_t*)&signals->poll, stop_signals_run_closed);
}
