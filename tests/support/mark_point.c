// SPDX-License-Identifier: Apache-2.0
//
// libcheck's asserts call this when they hold, in place of libcheck's own function (--wrap in
// BUILD). libcheck's own writes each time to a file, from which the parent learns how far a crashed
// test has come. A loop over a million elements spends its time there. The same place again tells
// nothing more.

// The linker's names for what was meant, and for this.
void __real__mark_point(const char* file, int line);
void __wrap__mark_point(const char* file, int line);

void __wrap__mark_point(const char* file, int line) {
  static _Thread_local const char* last_file;
  static _Thread_local int last_line;
  if (line == last_line && file == last_file) return;
  last_file = file;
  last_line = line;
  __real__mark_point(file, line);
}
