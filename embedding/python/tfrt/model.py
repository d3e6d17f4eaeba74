# SPDX-License-Identifier: Apache-2.0
"""One function of a program, called with numpy arrays. No element is copied: the program reads an
array where it lies, and an output is an array over the program's memory.
"""

import ctypes
import itertools
import os
import shutil
import subprocess
import tempfile
import weakref

import numpy

from tfrt import library as native

# The numbers of tfrt_dtype_t. numpy has no bf16: it is read as its 16 bits.
_DTYPES = {1: "uint8", 2: "uint16", 3: "uint32", 4: "uint64", 5: "bool", 6: "int8", 7: "int16",
           8: "int32", 9: "int64", 10: "float32", 11: "float64", 12: "complex64",
           13: "complex128", 14: "float16", 15: "uint16"}
_NUMBERS = {numpy.dtype(name): number for number, name in reversed(_DTYPES.items())}

# The arrays that programs read, by a number that goes along as the context.
_lent = {}
_next = itertools.count(1)


@native.RELEASE
def _give_back(context):
    _lent.pop(context, None)


def _lend(array):
    """The tensor that `array` is. It is kept until the runtime gives it back."""
    array = numpy.require(array, requirements=["C", "A"])
    if array.dtype not in _NUMBERS or not array.dtype.isnative:
        raise TypeError(f"an array of {array.dtype} is no tensor: use one of "
                        f"{', '.join(sorted(set(_DTYPES.values())))}")
    dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    key = next(_next)
    _lent[key] = (array, dims)
    return native.Tensor(_NUMBERS[array.dtype], array.ndim, dims, array.ctypes.data, _give_back,
                         key)


def _take(tensor):
    """An array over the memory of `tensor`, which is given back with the last view of it."""
    dtype = numpy.dtype(_DTYPES[tensor.dtype])
    shape = tuple(tensor.dims[i] for i in range(tensor.rank))
    size = dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
    if size == 0:
        native.library().tfrt_model_tensor_release(tensor)
        return numpy.empty(shape, dtype)
    memory = (ctypes.c_char * size).from_address(tensor.data)
    # numpy keeps `memory`; all views of the array do.
    weakref.finalize(memory, native.library().tfrt_model_tensor_release, tensor).atexit = False
    array = numpy.frombuffer(memory, dtype).reshape(shape)
    array.flags.writeable = False
    return array


def _import_onnx(path, folder):
    """The program that the ONNX model at `path` is, as a file in `folder`."""
    tool = os.environ.get("TFRT_TOOL") or shutil.which("tfrt")
    if not tool:
        beside = os.path.join(os.path.dirname(native.find_library()), "../bin/tfrt")
        tool = beside if os.path.exists(beside) else None
    if not tool:
        raise OSError("the program `tfrt`, which imports ONNX models, is not in PATH: add it, or "
                      "let TFRT_TOOL name the file")
    program = os.path.join(folder, "model.bef")
    done = subprocess.run([tool, "import", path, "-o", program], capture_output=True, check=False)
    if done.returncode != 0:
        raise native.TfrtError("INVALID_ARGUMENT", done.stderr.decode(errors="replace").strip())
    return program


class Model:
    """A program's function with a runtime of its own: a BEF file, a text, or an ONNX model, which
    `tfrt import` makes a program of.

    Any thread may call it; a call waits without holding up other Python threads.
    """

    def __init__(self, path, function="main", threads=0):
        """`threads`: compute threads; 0: one for each processor."""
        lib = native.library()
        options = native.Options(function.encode(), threads)
        handle = ctypes.c_void_p()
        path = os.fsdecode(path)
        with tempfile.TemporaryDirectory() as folder:
            file = _import_onnx(path, folder) if path.endswith(".onnx") else path
            native.check(lib.tfrt_model_load(os.fsencode(file), ctypes.byref(options),
                                             ctypes.byref(handle)))
        self._handle = handle
        self._close = weakref.finalize(self, lib.tfrt_model_free, handle)
        count = lib.tfrt_model_input_count(handle)
        self.inputs = tuple(lib.tfrt_model_input_name(handle, i).decode() or f"arg{i}"
                            for i in range(count))
        self.output_count = lib.tfrt_model_output_count(handle)

    def _arrange(self, arrays, named):
        """The arrays of the call in the order of the inputs."""
        values = dict(zip(self.inputs, arrays))
        if len(arrays) > len(self.inputs):
            raise TypeError(f"the model has {len(self.inputs)} inputs, not {len(arrays)}")
        for name, array in named.items():
            if name not in self.inputs:
                raise TypeError(f"the model has no input '{name}'; it has "
                                f"{', '.join(self.inputs) or 'none'}")
            if name in values:
                raise TypeError(f"the input '{name}' is given twice")
            values[name] = array
        missing = [name for name in self.inputs if name not in values]
        if missing:
            raise TypeError(f"missing inputs: {', '.join(missing)}")
        return [values[name] for name in self.inputs]

    def __call__(self, *arrays, **named):
        """Runs the function on `arrays`, by position or by name, and returns the list of its
        outputs: arrays that can't be written to. Raises TfrtError for what the program refuses.
        """
        if not self._close.alive:
            raise ValueError("the model is closed")
        lib = native.library()
        arrays = [numpy.asarray(array) for array in self._arrange(arrays, named)]
        inputs = (native.Tensor * max(len(arrays), 1))()
        lent = []
        try:
            for i, array in enumerate(arrays):
                lent.append(_lend(array))
                inputs[i] = lent[-1]
        except TypeError:
            for tensor in lent:
                _give_back(tensor.context)
            raise
        outputs = (native.Tensor * max(self.output_count, 1))()
        native.check(lib.tfrt_model_run(self._handle, inputs, len(arrays), outputs,
                                        self.output_count))
        # Each output has a struct of its own: its array may outlive the others.
        return [_take(native.Tensor.from_buffer_copy(outputs[i]))
                for i in range(self.output_count)]

    def close(self):
        """Gives the runtime back, and its threads. Outputs stay. No call may be running."""
        self._close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
