// SPDX-License-Identifier: Apache-2.0
//
// The address space of a process, where it is limited (`ulimit -v`, batch systems).
//
// The C library's malloc gives a thread a heap of its own, an arena: 64 MiB of address space each,
// whatever the thread takes of them, and for a moment twice that, to have them aligned. It asks
// again at each allocation of a thread that did not get one. So what the system has at one moment
// for the stack of a thread that is about to start may be gone at the next, and how many threads a
// process gets is a matter of luck. Source: malloc/arena.c of the GNU C library; mallopt(3).
//
// Thread rule: main thread only. Failure rule: none fails.
#ifndef TFRT_TOOLS_PROCESS_ADDRESS_SPACE_H_
#define TFRT_TOOLS_PROCESS_ADDRESS_SPACE_H_

// Lets threads share heaps where the address space is limited, so that all heaps together take at
// most an eighth of it, or the main thread's is the only one. Called before a thread is started.
// Main thread only.
void tfrt_address_space_spare(void);

#endif  // TFRT_TOOLS_PROCESS_ADDRESS_SPACE_H_
