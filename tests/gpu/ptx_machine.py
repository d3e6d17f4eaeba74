# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel of a PTX text, block by block, for tests without a GPU.

All threads of a block take an instruction together, as arrays of numpy. Where they part, those that are
furthest behind go first, up to a barrier. The machine knows the instructions that this tree's kernels
have, as the PTX ISA describes them; another one is an error.

It finds what a GPU would pass over: an access to memory that is none, or at an address that isn't a
multiple of its size; shared memory that is read before it was written, or while a copy to it is under
way; two threads that use the same shared memory, one of them writing, with no barrier between. It counts
the times that threads of one access meet in a bank of shared memory.
"""
import re

import numpy as np

SHARED = 1 << 40  # where addresses of these spaces begin
LOCAL = 1 << 41
WARP = 32

TYPES = {"b8": np.uint8, "u8": np.uint8, "b16": np.uint16, "u16": np.uint16, "s16": np.int16,
         "f16": np.float16, "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "f32": np.float32,
         "b64": np.uint64, "u64": np.uint64, "s64": np.int64, "f64": np.float64}
COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
               "gt": np.greater, "ge": np.greater_equal, "lo": np.less, "hs": np.greater_equal}


class Fault(Exception):
    """What is wrong with a kernel."""


class Kernel:
    """A kernel's parameters, instructions, and the sizes of its arrays."""

    def __init__(self, text, name):
        found = re.search(r"\.entry\s+%s\s*\(([^)]*)\)[^{]*\{(.*?)\n\}" % re.escape(name), text, re.S)
        if not found:
            raise Fault("there is no kernel " + name)
        self.name = name
        self.parameters = [(p, t) for t, p in re.findall(r"\.param\s+\.(\w+)\s+(\w+)", found.group(1))]
        self.code = []
        self.labels = {}
        self.arrays = {}
        self.registers = {}
        self.shared_size = self.local_size = 0
        for line in found.group(2).split("\n"):
            line = re.sub(r"//.*", "", line).strip()
            if line.startswith("{ ") or line.startswith("{\t"):
                line = line[1:].strip().rstrip("}").strip()
            self.add(line)

    def add(self, line):
        if not line or line in "{}" or line.startswith(".pragma"):
            return
        array = re.match(r"\.(shared|local)\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]", line)
        register = re.match(r"\.reg\s+\.(\w+)\s+%(\w+)(?:<(\d+)>)?", line)
        if array:
            space, align, name, size = array.groups()
            used = getattr(self, space + "_size")
            used = -(-used // int(align)) * int(align)
            self.arrays[name] = (SHARED if space == "shared" else LOCAL) + used
            setattr(self, space + "_size", used + int(size))
        elif register:
            self.registers[register.group(2)] = register.group(1)
        elif line.endswith(":"):
            self.labels[line[:-1]] = len(self.code)
        else:
            match = re.match(r"(?:@(!?)%(\w+)\s+)?([\w.:]+)\s*(.*);$", line)
            if not match:
                raise Fault("%s: what is '%s'?" % (self.name, line))
            no, guard, op, rest = match.groups()
            operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+", rest)
            operands = [o.strip() for o in operands if o.strip()]
            self.code.append((guard, bool(no), op.split("."), operands, line))


class Block:
    """One block of threads that runs a kernel."""

    def __init__(self, kernel, memory, arguments, grid, threads, place):
        self.kernel, self.memory = kernel, memory
        self.count = threads[0] * threads[1] * threads[2]
        lanes = np.arange(self.count)
        self.registers = {}
        numbers = {"tid": (lanes % threads[0], lanes // threads[0] % threads[1], lanes // threads[0] // threads[1]),
                   "ntid": threads, "ctaid": place, "nctaid": grid}
        for name, axes in numbers.items():
            for axis, number in zip("xyz", axes):
                self.registers["%s.%s" % (name, axis)] = np.broadcast_to(np.uint32(number), self.count).copy()
        self.arguments = {p: (t, a) for (p, t), a in zip(kernel.parameters, arguments)}
        self.at = np.zeros(self.count, np.int64)
        self.waits = np.zeros(self.count, np.int8)  # 1 for the block, 2 for the warp
        self.warp = lanes // WARP
        self.local = np.zeros((self.count, max(kernel.local_size, 1)), np.uint8)
        size = max(kernel.shared_size, 1)
        self.shared = np.zeros(size, np.uint8)
        self.is_written = np.zeros(size, bool)
        # The last user of a byte, and the time: the number of barriers of the block and the warp before.
        self.writer = np.full(size, -1, np.int64)
        self.reader = np.full(size, -1, np.int64)  # -2: several
        self.write_time = np.full(size, -1, np.int64)
        self.read_time = np.full(size, -1, np.int64)
        self.barriers = 0
        self.warp_barriers = np.zeros(-(-self.count // WARP), np.int64)
        self.groups = np.zeros(self.count, np.int64)
        self.copies = []  # under way: lanes, their groups, addresses, bytes
        self.conflicts = 0
        self.steps = 0

    # --- Operands ---------------------------------------------------------------------------

    def read(self, operand, dtype):
        """The operand of each thread, as |dtype|."""
        if operand.startswith("%") and operand != "%SPL" and operand != "%SP":
            value = self.registers[operand[1:]]
        elif operand in ("%SP", "%SPL"):
            value = self.registers[operand[1:]]
        elif operand in self.kernel.arrays:
            value = np.full(self.count, self.kernel.arrays[operand], np.uint64)
        elif operand.startswith("0f"):
            value = np.full(self.count, int(operand[2:], 16), np.uint32)
        elif operand.startswith("0x"):
            value = np.full(self.count, int(operand[2:], 16), np.uint64)
        else:
            value = np.full(self.count, int(operand), np.int64)
        if value.dtype == dtype:
            return value
        if value.dtype.itemsize == np.dtype(dtype).itemsize:
            return value.view(dtype)
        whole = value.astype("u%d" % np.dtype(dtype).itemsize) if value.dtype.kind != "f" else value
        return whole.view(dtype)

    def write(self, operand, value, lanes):
        """Sets the threads' register to |value|; what isn't in |lanes| stays."""
        if operand == "_":
            return
        name = operand[1:]
        if value.dtype != bool:
            value = value.view("u%d" % value.dtype.itemsize)
        old = self.registers.get(name)
        if lanes.all():
            self.registers[name] = np.array(value)
        else:
            if old is None or old.dtype != value.dtype:
                old = np.zeros(self.count, value.dtype)
            self.registers[name] = np.where(lanes, value, old)

    def address(self, operand):
        base, _, offset = operand[1:-1].strip().partition("+")
        if base in self.arguments:
            return base
        address = self.read(base.strip(), np.uint64) if base.startswith("%rd") or base in self.kernel.arrays \
            else self.read(base.strip(), np.uint32).astype(np.uint64)
        return address + np.uint64(int(offset) & (1 << 64) - 1) if offset else address

    # --- Memory -----------------------------------------------------------------------------

    def places(self, space, address, size, lanes):
        """The indices of the bytes, of those in |lanes|, in the space's memory."""
        at = address[lanes].astype(np.int64)
        if (at % size).any():
            raise Fault("%d bytes at an address that isn't a multiple" % size)
        if space == "shared":
            # Such an address may be a number of 32 bits.
            at = np.where(at >= SHARED, at - SHARED, at)
            end = self.kernel.shared_size
        elif space == "local":
            at = np.where(at >= LOCAL, at - LOCAL, at)
            end = self.kernel.local_size
        else:
            self.memory.check(at, size)
            end = self.memory.size
        if at.size and (at.min() < 0 or at.max() + size > end):
            raise Fault("%s memory beyond its end: %d of %d" % (space, at.max() + size, end))
        return at[:, None] + np.arange(size)

    def meet(self, places):
        """Counts meetings in banks, where each row of |places| is one thread's, of up to 16 bytes."""
        size = places.shape[1]
        together = WARP * 4 // max(size, 4)
        for first in range(0, len(places), together):
            words = np.unique(places[first:first + together].ravel() // 4)
            self.conflicts += int(np.bincount(words % 32).max()) - 1

    def note(self, places, lanes, writes):
        """Writes down who uses the bytes of shared memory; finds those who do so at once."""
        who = np.broadcast_to(np.flatnonzero(lanes)[:, None], places.shape)
        time = np.broadcast_to((self.barriers << 20) + self.warp_barriers[self.warp[who]], places.shape)
        self.collide(self.writer[places], self.write_time[places], who, time)
        if writes:
            self.collide(self.reader[places], self.read_time[places], who, time)
            flat = places.ravel()
            if len(np.unique(flat)) != len(flat):
                raise Fault("two threads write to the same shared memory at once")
            self.writer[places], self.write_time[places] = who, time
        else:
            is_same = (self.read_time[places] == time) & (self.reader[places] != who)
            np.maximum.at(self.read_time, places, time)
            # Several readers of now, or one.
            first = np.full(len(self.reader), -1, np.int64)
            first[places] = who
            several = np.zeros(len(self.reader), bool)
            several[places[first[places] != who]] = True
            several[places[is_same]] = True
            self.reader[places] = np.where(several[places], -2, who)

    def collide(self, other, when, who, time):
        is_now = when >> 20 == self.barriers
        other_warp = np.where(other >= 0, other // WARP, -1)
        is_ordered = (other_warp == who // WARP) & (when < time)
        if (is_now & (other != who) & ~is_ordered & (other != -1)).any():
            raise Fault("two threads use the same shared memory, and one writes")

    def load(self, space, address, size, lanes):
        places = self.places(space, address, size, lanes)
        if space == "global":
            return self.memory.bytes[places]
        if space == "local":
            return self.local[np.flatnonzero(lanes)[:, None], places]
        if not self.is_written[places].all():
            raise Fault("shared memory is read that was not written, or is on its way")
        self.note(places, lanes, False)
        return self.shared[places]

    def store(self, space, address, data, lanes):
        places = self.places(space, address, data.shape[1], lanes)
        if space == "global":
            self.memory.bytes[places] = data
        elif space == "local":
            self.local[np.flatnonzero(lanes)[:, None], places] = data
        else:
            self.note(places, lanes, True)
            self.shared[places] = data
            self.is_written[places] = True
        return places

    # --- Instructions -----------------------------------------------------------------------

    def run(self):
        end = len(self.kernel.code)
        while True:
            ready = (self.waits == 0) & (self.at < end)
            if not ready.any():
                if (self.at >= end).all():
                    return
                self.release(end)
                continue
            at = int(self.at[ready].min())
            lanes = ready & (self.at == at)
            self.steps += 1
            guard, is_not, op, operands, line = self.kernel.code[at]
            self.at[lanes] = at + 1
            if guard:
                lanes = lanes & (self.registers[guard] ^ is_not)
                if not lanes.any():
                    continue
            work = getattr(self, "do_" + op[0], None)
            if not work:
                raise Fault("no such instruction: " + line)
            try:
                work(op[1:], operands, lanes)
            except Fault as fault:
                raise Fault("%s: %s: %s" % (self.kernel.name, line, fault)) from None

    def release(self, end):
        """All that can run wait: lets them go on behind their barrier."""
        waiting = self.waits > 0
        if (self.waits == 2).any():
            self.warp_barriers[np.unique(self.warp[self.waits == 2])] += 1
            self.waits[self.waits == 2] = 0
            return
        if (waiting | (self.at >= end)).all():
            self.barriers += 1
            self.waits[:] = 0

    def do_bar(self, kind, operands, lanes):
        self.waits[lanes] = 2 if kind[0] == "warp" else 1

    def do_bra(self, kind, operands, lanes):
        self.at[lanes] = self.kernel.labels[operands[0]]

    def do_ret(self, kind, operands, lanes):
        self.at[lanes] = len(self.kernel.code)

    def do_ld(self, kind, operands, lanes):
        address = self.address(operands[1])
        targets = operands[0].strip("{}").split(",")
        dtype = TYPES[kind[-1]]
        if kind[0] == "param":
            _, value = self.arguments[address]
            self.write(operands[0], np.full(self.count, value, dtype), lanes)
            return
        size = np.dtype(dtype).itemsize
        data = self.load(kind[0], address, size * len(targets), lanes)
        if kind[0] == "shared":
            self.meet(self.places("shared", address, size * len(targets), lanes))
        for i, target in enumerate(targets):
            value = np.zeros(self.count, dtype)
            value[lanes] = np.ascontiguousarray(data[:, i * size:(i + 1) * size]).view(dtype)[:, 0]
            self.write(target.strip(), value, lanes)

    def do_st(self, kind, operands, lanes):
        sources = operands[1].strip("{}").split(",")
        dtype = TYPES[kind[-1]]
        parts = [np.ascontiguousarray(self.read(s.strip(), dtype)[lanes]).view(np.uint8) for s in sources]
        size = np.dtype(dtype).itemsize
        data = np.concatenate([p.reshape(-1, size) for p in parts], axis=1)
        space = kind[1] if kind[0] == "volatile" and len(kind) > 2 else kind[0]
        places = self.store("global" if space == "volatile" else space, self.address(operands[0]), data, lanes)
        if space == "shared":
            self.meet(places)

    def do_mov(self, kind, operands, lanes):
        target, source = operands
        if kind[0] == "pred":
            value = np.full(self.count, source not in ("0", "-1") or source == "-1")
            self.write(target, value, lanes)
        elif target.startswith("{"):
            parts = [t.strip() for t in target.strip("{}").split(",")]
            whole = np.ascontiguousarray(self.read(source, TYPES[kind[0]]))
            dtype = "u%d" % (whole.dtype.itemsize // len(parts))
            for i, part in enumerate(parts):
                self.write(part, whole.view(dtype)[i::len(parts)].copy(), lanes)
        elif source.startswith("{"):
            parts = [s.strip() for s in source.strip("{}").split(",")]
            dtype = "u%d" % (np.dtype(TYPES[kind[0]]).itemsize // len(parts))
            values = np.stack([self.read(p, np.dtype(dtype)) for p in parts], axis=1)
            self.write(target, np.ascontiguousarray(values).view(TYPES[kind[0]])[:, 0], lanes)
        else:
            self.write(target, self.read(source, TYPES[kind[0]]), lanes)

    def do_cvta(self, kind, operands, lanes):
        self.write(operands[0], self.read(operands[1], np.uint64), lanes)

    def do_cvt(self, kind, operands, lanes):
        to, source = kind[-2], kind[-1]
        if to == "bf16":
            bits = self.read(operands[1], np.uint32).astype(np.uint64)
            is_nan = np.isnan(self.read(operands[1], np.float32))
            half = ((bits + 0x7fff + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)
            value = np.where(is_nan, np.uint16(0x7fff), half)
        else:
            value = self.read(operands[1], TYPES[source])
            if "sat" in kind:
                value = np.where(np.isnan(value), np.float32(0), np.clip(value, 0, 1))
            value = value.astype(TYPES[to])
        self.write(operands[0], value, lanes)

    def two(self, kind, operands, lanes, work):
        dtype = TYPES[kind[-1]]
        value = work(self.read(operands[1], dtype), self.read(operands[2], dtype))
        self.write(operands[0], value.astype(dtype), lanes)

    def do_add(self, kind, operands, lanes): self.two(kind, operands, lanes, np.add)
    def do_sub(self, kind, operands, lanes): self.two(kind, operands, lanes, np.subtract)
    def do_min(self, kind, operands, lanes): self.two(kind, operands, lanes, np.fmin)
    def do_max(self, kind, operands, lanes): self.two(kind, operands, lanes, np.fmax)

    def logic(self, kind, operands, lanes, work):
        if kind[-1] == "pred":
            self.write(operands[0], work(self.read(operands[1], bool), self.read(operands[2], bool)), lanes)
        else:
            self.two(kind, operands, lanes, work)

    def do_and(self, kind, operands, lanes): self.logic(kind, operands, lanes, np.bitwise_and)
    def do_or(self, kind, operands, lanes): self.logic(kind, operands, lanes, np.bitwise_or)
    def do_xor(self, kind, operands, lanes): self.logic(kind, operands, lanes, np.bitwise_xor)

    def do_not(self, kind, operands, lanes):
        self.write(operands[0], ~self.read(operands[1], TYPES[kind[-1]]), lanes)

    def do_neg(self, kind, operands, lanes):
        self.write(operands[0], -self.read(operands[1], TYPES[kind[-1]]), lanes)

    def do_mul(self, kind, operands, lanes):
        if kind[0] == "wide":
            dtype = TYPES[kind[1]]
            wide = np.int64 if kind[1][0] == "s" else np.uint64
            value = self.read(operands[1], dtype).astype(wide) * self.read(operands[2], dtype).astype(wide)
            self.write(operands[0], value, lanes)
        else:
            self.two(kind, operands, lanes, np.multiply)

    def do_mad(self, kind, operands, lanes):
        dtype = TYPES[kind[-1]]
        a, b, c = (self.read(o, dtype) for o in operands[1:])
        self.write(operands[0], (a * b + c).astype(dtype), lanes)

    def do_div(self, kind, operands, lanes):
        if kind[-1] == "f32":
            self.two(kind, operands, lanes, np.divide)
        else:
            self.two(kind, operands, lanes, lambda a, b: a // np.where(lanes, b, 1).astype(b.dtype))

    def do_rem(self, kind, operands, lanes):
        self.two(kind, operands, lanes, lambda a, b: a % np.where(lanes, b, 1).astype(b.dtype))

    def do_fma(self, kind, operands, lanes):
        a, b, c = (self.read(o, np.float32) for o in operands[1:])
        exact = a.astype(np.float64) * b + c
        value = exact.astype(np.float32)
        if kind[0] == "rm":
            value = np.where(value > exact, np.nextafter(value, np.float32(-np.inf)), value)
        self.write(operands[0], value, lanes)

    def do_ex2(self, kind, operands, lanes):
        self.write(operands[0], np.exp2(self.read(operands[1], np.float32)), lanes)

    def do_rcp(self, kind, operands, lanes):
        self.write(operands[0], np.float32(1) / self.read(operands[1], np.float32), lanes)

    def do_shl(self, kind, operands, lanes): self.shift(kind, operands, lanes, np.left_shift)
    def do_shr(self, kind, operands, lanes): self.shift(kind, operands, lanes, np.right_shift)

    def shift(self, kind, operands, lanes, work):
        dtype = TYPES[kind[-1]]
        by = self.read(operands[2], np.uint32)
        value = work(self.read(operands[1], dtype), by.astype(dtype))
        self.write(operands[0], np.where(by < value.dtype.itemsize * 8, value, 0).astype(dtype), lanes)

    def do_bfi(self, kind, operands, lanes):
        dtype = TYPES[kind[-1]]
        part, whole = (self.read(o, dtype) for o in operands[1:3])
        first, width = int(operands[3]), int(operands[4])
        mask = dtype((1 << width) - 1 << first)
        self.write(operands[0], whole & ~mask | part << dtype(first) & mask, lanes)

    def do_setp(self, kind, operands, lanes):
        dtype = TYPES[kind[-1]]
        value = COMPARISONS[kind[0]](self.read(operands[1], dtype), self.read(operands[2], dtype))
        self.write(operands[0], value, lanes)

    def do_selp(self, kind, operands, lanes):
        dtype = TYPES[kind[-1]]
        value = np.where(self.read(operands[3], bool), self.read(operands[1], dtype), self.read(operands[2], dtype))
        self.write(operands[0], value, lanes)

    # --- Warps ------------------------------------------------------------------------------

    def do_shfl(self, kind, operands, lanes):
        if kind[:2] != ["sync", "down"]:
            raise Fault("no such exchange")
        target = operands[0].split("|")[0]
        value, by, limit, mask = (self.read(o, np.uint32) for o in operands[1:])
        lane = np.arange(self.count) % WARP
        # Those that are named are all here, or the whole warp waits for ever.
        if (mask[lanes] >> lane[lanes].astype(np.uint32) & 1 == 0).any():
            raise Fault("a lane that the mask doesn't name")
        here = np.array([np.sum(1 << lane[lanes & (self.warp == w)]) for w in self.warp], np.uint64)
        if (mask[lanes].astype(np.uint64) & ~here[lanes]).any():
            raise Fault("a lane that is named isn't here")
        last = (limit & 31).astype(np.int64)
        from_lane = lane + by
        index = np.where(from_lane > last, np.arange(self.count), np.arange(self.count) + by)
        self.write(target, value[np.minimum(index, self.count - 1)], lanes)
        self.warp_barriers[np.unique(self.warp[lanes])] += 1

    def warps(self, lanes):
        """The warps in |lanes|, all threads of each; the thread numbers by warp."""
        numbers = np.flatnonzero(lanes)
        if len(numbers) % WARP or (numbers.reshape(-1, WARP) % WARP != np.arange(WARP)).any():
            raise Fault("not all threads of a warp are here")
        return numbers.reshape(-1, WARP)

    def fragment(self, operand, numbers, dtype):
        """A vector's registers as |dtype|: by warp, lane, register, part of the register."""
        parts = [p.strip() for p in operand.strip("{}").split(",")]
        values = [np.ascontiguousarray(self.read(p, np.uint32)).view(dtype).reshape(self.count, -1) for p in parts]
        return np.stack(values, axis=1)[numbers]

    def set_fragment(self, operand, numbers, values, lanes):
        for i, part in enumerate(p.strip() for p in operand.strip("{}").split(",")):
            value = np.zeros(self.count, np.uint32)
            value[numbers] = np.ascontiguousarray(values[:, :, i]).view(np.uint32).reshape(numbers.shape)
            self.write(part, value, lanes)

    def do_ldmatrix(self, kind, operands, lanes):
        if kind[:4] != ["sync", "aligned", "m8n8", "x4"]:
            raise Fault("no such load")
        numbers = self.warps(lanes)
        address = self.address(operands[1])
        data = self.load("shared", address, 16, lanes).reshape(-1, 4, 8, 16)
        self.meet(self.places("shared", address, 16, lanes))
        matrices = np.ascontiguousarray(data).view(np.uint16)  # warp, matrix, row, column
        if "trans" in kind:
            matrices = matrices.swapaxes(2, 3)
        # Lane l has elements 2 * (l % 4) and the next of row l / 4, of each matrix.
        values = np.ascontiguousarray(matrices).reshape(len(numbers), 4, WARP, 2).swapaxes(1, 2)
        self.set_fragment(operands[0], numbers, np.ascontiguousarray(values), lanes)

    def halves(self, operand, numbers, kind):
        bits = self.fragment(operand, numbers, np.uint16)
        if kind == "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32)
        return bits.view(np.float16).astype(np.float32)

    def do_mma(self, kind, operands, lanes):
        if kind[:5] != ["sync", "aligned", "m16n8k16", "row", "col"]:
            raise Fault("no such product")
        numbers = self.warps(lanes)
        count = len(numbers)
        lane = np.arange(WARP)
        row, pair = lane // 4, lane % 4 * 2
        a = np.zeros((count, 16, 16), np.float32)
        b = np.zeros((count, 16, 8), np.float32)
        c = np.zeros((count, 16, 8), np.float32)
        left = self.halves(operands[1], numbers, kind[6])
        right = self.halves(operands[2], numbers, kind[7])
        sums = self.fragment(operands[3], numbers, np.float32)[..., 0]
        for i in range(4):
            for e in range(2):
                a[:, row + i % 2 * 8, pair + i // 2 * 8 + e] = left[:, :, i, e]
        for i in range(2):
            for e in range(2):
                b[:, pair + i * 8 + e, row] = right[:, :, i, e]
                c[:, row + i * 8, pair + e] = sums[:, :, 2 * i + e]
        d = (a.astype(np.float64) @ b + c).astype(np.float32)
        result = np.zeros_like(sums)
        for i in range(2):
            for e in range(2):
                result[:, :, 2 * i + e] = d[:, row + i * 8, pair + e]
        self.set_fragment(operands[0], numbers, result, lanes)

    def do_wmma(self, kind, operands, lanes):
        """Fragments are opaque: lane l has row l / 2 from column l % 2 * 8 on, here."""
        numbers = self.warps(lanes)
        lane = np.arange(WARP)
        if kind[0] == "mma":
            a = self.halves(operands[1], numbers, "f16")[:, :, :4].reshape(-1, 16, 16)
            b = self.halves(operands[2], numbers, "f16")[:, :, :4].reshape(-1, 16, 16)
            c = self.fragment(operands[3], numbers, np.float32).reshape(-1, 16, 16)
            d = (a.astype(np.float64) @ b + c).astype(np.float32)
            self.set_fragment(operands[0], numbers, d.reshape(-1, WARP, 8), lanes)
            return
        size = 2 if kind[-1] == "f16" else 4
        address_at, values_at = (1, 0) if kind[0] == "load" else (0, 1)
        base = self.address(operands[address_at])
        if (base[lanes] % 32 != 0).any():
            raise Fault("a fragment that begins at no multiple of 32 bytes")
        step = self.read(operands[2], np.uint32).astype(np.uint64)
        address = base + (step * np.tile(lane // 2, len(base) // WARP).astype(np.uint64) +
                          np.tile(lane % 2 * 8, len(base) // WARP).astype(np.uint64)) * np.uint64(size)
        if kind[0] == "load":
            parts = [self.load("shared", address + np.uint64(16 * i), 16, lanes) for i in range(size // 2)]
            data = np.ascontiguousarray(np.concatenate(parts, axis=1)).view(np.uint32)
            values = np.zeros((len(numbers), WARP, 8), np.uint32)
            values[:, :, :data.shape[1]] = data.reshape(len(numbers), WARP, -1)
            self.set_fragment(operands[0], numbers, values, lanes)
        else:
            values = self.fragment(operands[values_at], numbers, np.float32)
            data = np.ascontiguousarray(values).reshape(-1, 8).view(np.uint8)
            for i in range(2):
                self.store("shared", address + np.uint64(16 * i), data[:, 16 * i:16 * i + 16], lanes)

    # --- Copies in the background -------------------------------------------------------------

    def do_cp(self, kind, operands, lanes):
        if kind[1] == "commit_group":
            self.groups[lanes] += 1
        elif kind[1] == "wait_group":
            self.finish_copies(int(operands[0]), lanes)
        else:
            to, source = self.address(operands[0]), self.address(operands[1])
            count = self.read(operands[3], np.uint32)
            if operands[2] != "16" or (source[lanes] % 16 != 0).any():
                raise Fault("a copy from an address that is no multiple of 16")
            places = self.places("shared", to, 16, lanes)
            self.meet(places)
            data = np.zeros((int(lanes.sum()), 16), np.uint8)
            whole = lanes & (count == 16)
            if (lanes & ~whole & (count != 0)).any():
                raise Fault("a part of 16 bytes is copied")
            data[whole[lanes]] = self.load("global", source, 16, whole)
            self.note(places, lanes, True)
            self.is_written[places] = False
            self.copies.append((np.flatnonzero(lanes), self.groups[lanes], places, data))

    def finish_copies(self, left, lanes):
        rest = []
        for who, group, places, data in self.copies:
            done = lanes[who] & (group < self.groups[who] - left)
            self.note(places[done], self.mask(who[done]), True)
            self.shared[places[done]] = data[done]
            self.is_written[places[done]] = True
            if not done.all():
                rest.append((who[~done], group[~done], places[~done], data[~done]))
        self.copies = rest

    def mask(self, who):
        lanes = np.zeros(self.count, bool)
        lanes[who] = True
        return lanes


class Memory:
    """Memory of the device: arrays with room between them that nobody may use."""

    GAP = 4096

    def __init__(self):
        self.size = 0
        self.arrays = []
        self.bytes = np.zeros(0, np.uint8)

    def add(self, array, offset=0):
        """The address of a copy of |array|, |offset| bytes behind a multiple of 256."""
        raw = np.ascontiguousarray(array).view(np.uint8).ravel()
        first = self.size + self.GAP + offset
        end = -(-(first + len(raw)) // 256) * 256
        self.bytes = np.concatenate([self.bytes, np.full(end - self.size, 0xcd, np.uint8)])
        self.bytes[first:first + len(raw)] = raw
        self.arrays.append((first, first + len(raw)))
        self.size = end
        return first

    def get(self, address, dtype):
        """What is in the array at |address|."""
        end = next(e for f, e in self.arrays if f == address)
        return self.bytes[address:end].view(dtype)

    def check(self, at, size):
        firsts = np.array([f for f, _ in self.arrays])
        ends = np.array([e for _, e in self.arrays])
        which = np.searchsorted(firsts, at, side="right") - 1
        if at.size and ((which < 0).any() or (at + size > ends[which]).any()):
            raise Fault("memory that is none")


def launch(text, name, memory, grid, threads, arguments):
    """Runs the kernel |name|; returns how often its threads met in banks, and its blocks' steps."""
    kernel = Kernel(text, name)
    conflicts = steps = 0
    with np.errstate(all="ignore"):
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    block = Block(kernel, memory, arguments, grid, threads, (x, y, z))
                    block.run()
                    conflicts += block.conflicts
                    steps += block.steps
    return conflicts, steps
