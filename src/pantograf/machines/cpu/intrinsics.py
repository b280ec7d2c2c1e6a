"""What compiled code needs and Numba does not offer: unchecked loads and stores, atomics, prefetch, raw memory, the clock.

Indices are not checked and do not wrap. Bools live in arrays of uint8.
"""

from __future__ import annotations

import platform

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def _index(builder, value, kind):
    if value.type.width == 64:
        return value
    return builder.sext(value, _I64) if kind.signed else builder.zext(value, _I64)


def _pointer(context, builder, signature, args):
    array = context.make_array(signature.args[0])(context, builder, args[0])
    index = _index(builder, args[1], signature.args[1])
    if signature.args[0].layout == "C":
        return builder.gep(array.data, [index], inbounds=True)
    stride = builder.extract_value(array.strides, 0)  # a field of records
    place = builder.gep(builder.bitcast(array.data, _I8.as_pointer()), [builder.mul(index, stride)], inbounds=True)
    return builder.bitcast(place, array.data.type)


def _cast(context, builder, value, signature, position):
    return context.cast(builder, value, signature.args[position], signature.args[0].dtype)


@intrinsic
def load(typing, array, index):
    """`array[index]`."""

    def generate(context, builder, signature, args):
        return builder.load(_pointer(context, builder, signature, args))

    return array.dtype(array, index), generate


@intrinsic
def add_any_order(typing, a, b):
    """`a + b` of a sum whose order nobody has fixed: the compiler may keep several partial sums."""

    def generate(context, builder, signature, args):
        return builder.fadd(args[0], args[1], flags=("reassoc", "nsz"))

    return a(a, a), generate


@intrinsic
def store(typing, array, index, value):
    """`array[index] = value`."""

    def generate(context, builder, signature, args):
        builder.store(_cast(context, builder, args[2], signature, 2), _pointer(context, builder, signature, args))
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@intrinsic
def load_acquire(typing, array, index):
    """An ordered load: what other threads wrote before their release is seen after it."""

    def generate(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature, args), "acquire", array.dtype.bitwidth // 8)

    return array.dtype(array, index), generate


@intrinsic
def store_release(typing, array, index, value):
    """An ordered store."""

    def generate(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        value = _cast(context, builder, args[2], signature, 2)
        builder.store_atomic(value, pointer, "release", signature.args[0].dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


def _read_modify_write(operation: str, order: str, doc: str):
    def typed(typing, array, index, value):
        def generate(context, builder, signature, args):
            pointer = _pointer(context, builder, signature, args)
            return builder.atomic_rmw(operation, pointer, _cast(context, builder, args[2], signature, 2), order)

        return array.dtype(array, index, value), generate

    typed.__doc__ = doc
    typed.__name__ = f"atomic_{operation}"
    return intrinsic(typed)


atomic_add = _read_modify_write("add", "acq_rel", "Add to an integer; what it was before.")
atomic_add_float = _read_modify_write("fadd", "monotonic", "Add to a float; what it was before.")
atomic_or = _read_modify_write("or", "acq_rel", "Or into an integer; what it was before.")
atomic_and = _read_modify_write("and", "acq_rel", "And into an integer; what it was before.")


@intrinsic
def compare_exchange(typing, array, index, old, new):
    """If the place holds `old`, put `new`, in one step; whether it did. Floats compare by their bits."""

    def generate(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        old, new = (_cast(context, builder, args[i], signature, i) for i in (2, 3))
        kind = signature.args[0].dtype
        if isinstance(kind, types.Float):
            bits = ir.IntType(kind.bitwidth)
            pointer = builder.bitcast(pointer, bits.as_pointer())
            old, new = builder.bitcast(old, bits), builder.bitcast(new, bits)
        return builder.extract_value(builder.cmpxchg(pointer, old, new, "acq_rel", "monotonic"), 1)

    return types.boolean(array, index, old, new), generate


@intrinsic
def prefetch(typing, array, index):
    """Ask for the cache line of a place that will be read."""

    def generate(context, builder, signature, args):
        pointer = builder.bitcast(_pointer(context, builder, signature, args), _I8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def pause(typing):
    """Tell the processor that this is a spin loop."""

    def generate(context, builder, signature, args):
        if platform.machine() in ("x86_64", "AMD64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def trailing_zeros(typing, value):
    """The number of zero bits below the lowest one bit; 64 for 0."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


@intrinsic
def one_bits(typing, value):
    """How many bits are one."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def address(typing, array):
    """Where an array's data lies: two handles of one property have the same address."""

    def generate(context, builder, signature, args):
        return builder.ptrtoint(context.make_array(signature.args[0])(context, builder, args[0]).data, _I64)

    return types.int64(array), generate


def _float_to_int(target, name: str):
    def typed(typing, value):
        def generate(context, builder, signature, args):
            source, result = context.get_value_type(signature.args[0]), context.get_value_type(target)
            operation = "fptosi" if target.signed else "fptoui"
            symbol = f"llvm.{operation}.sat.i{target.bitwidth}.f{signature.args[0].bitwidth}"
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [source]), symbol)
            return builder.call(function, [args[0]])

        return target(value), generate

    typed.__doc__ = f"A float as {target}: towards zero, the nearest value where it does not fit, 0 for NaN."
    typed.__name__ = name
    return intrinsic(typed)


float_to_i32 = _float_to_int(types.int32, "float_to_i32")
float_to_i64 = _float_to_int(types.int64, "float_to_i64")
float_to_u32 = _float_to_int(types.uint32, "float_to_u32")
float_to_u64 = _float_to_int(types.uint64, "float_to_u64")


# --- raw memory: growing arrays that threads own -----------------------------------------------------------------------


@intrinsic
def raw_load(typing, base, index):
    """The int64 at a raw address, counted in words."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        return builder.load(builder.gep(pointer, [args[1]]))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def raw_store(typing, base, index, value):
    """Put an int64 at a raw address, counted in words."""

    def generate(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store(args[2], builder.gep(pointer, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def float_bits(typing, value):
    """The bits of an f64 as an int64."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], _I64)

    return types.int64(types.float64), generate


@intrinsic
def bits_float(typing, value):
    """The f64 that has these bits."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


reallocate = types.ExternalFunction("realloc", types.intp(types.intp, types.intp))
give_up_core = types.ExternalFunction("sched_yield", types.int32())
read_clock = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.intp))
