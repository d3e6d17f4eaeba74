// SPDX-License-Identifier: Apache-2.0

func.func private @source() -> !async.token
func.func private @sink(!async.token)
func.func private @condition() -> i1

func.func @right(%t: !async.token) -> !async.token {
  async.runtime.add_ref %t {count = 2 : i64} : !async.token
  func.call @sink(%t) : (!async.token) -> ()
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return %t : !async.token
}

func.func @leak() {
  %t = func.call @source() : () -> !async.token
  return
}

func.func @argument_leaks(%t: !async.token) {
  async.runtime.add_ref %t {count = 2 : i64} : !async.token
  return
}

func.func @double_drop(%t: !async.token) {
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

func.func @drops_too_many(%t: !async.token) {
  async.runtime.drop_ref %t {count = 2 : i64} : !async.token
  return
}

func.func @handed_on_twice(%t: !async.token) {
  func.call @sink(%t) : (!async.token) -> ()
  func.call @sink(%t) : (!async.token) -> ()
  return
}

func.func @late_use(%t: !async.token) {
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  async.await %t : !async.token
  return
}

// On one of two ways.
func.func @one_way(%t: !async.token, %c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  async.await %t : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  cf.br ^end
^b:
  cf.br ^end
^end:
  return
}

// A turn of a loop that leaks its token.
func.func @turn_leaks() {
  cf.br ^loop
^loop:
  %t = func.call @source() : () -> !async.token
  %c = func.call @condition() : () -> i1
  cf.cond_br %c, ^loop, ^end
^end:
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// A loop that adds and never drops.
func.func @grows(%t: !async.token) {
  cf.br ^loop
^loop:
  async.runtime.add_ref %t {count = 1 : i64} : !async.token
  cf.br ^loop
}

// A loop that drops in each turn.
func.func @drops_in_turns(%t: !async.token) {
  cf.br ^loop
^loop:
  %c = func.call @condition() : () -> i1
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  cf.cond_br %c, ^loop, ^end
^end:
  return
}

// The block's argument has the reference, not the value that was handed on.
func.func @handed_to_argument(%t: !async.token) {
  cf.br ^next(%t : !async.token)
^next(%u: !async.token):
  async.runtime.drop_ref %u {count = 1 : i64} : !async.token
  async.await %t : !async.token
  return
}

// A region that captures must have been given a reference, and give it back.
func.func @captured(%t: !async.token) {
  %a = async.execute {
    async.await %t : !async.token
    async.yield
  }
  async.runtime.drop_ref %a {count = 1 : i64} : !async.token
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// A region that runs here leaves what it borrows.
func.func @borrowed(%t: !async.token, %c: i1) {
  scf.if %c {
    async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  }
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

func.func @borrowed_leaks(%t: !async.token, %c: i1) {
  scf.if %c {
    async.runtime.add_ref %t {count = 1 : i64} : !async.token
    scf.yield
  }
  async.runtime.drop_ref %t {count = 1 : i64} : !async.token
  return
}

// A loop without exit ends nowhere, so it leaks nothing.
func.func @for_ever(%t: !async.token) {
  cf.br ^loop
^loop:
  cf.br ^loop
}
