// What the binding files share: arrays that Python passes in, checks of their shapes, and arrays that go
// back. Only module*.cpp include this.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/csr_view.hpp"
#include "counting/columns.hpp"
#include "discretize/encode.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace labelsieve {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using RowMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using NewArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

inline void require_row_count(size_t n_rows) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
}

template <class T>
std::span<const T> view_of(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

// The arrays of a compressed sparse matrix, kept alive for the view of them.
template <class Index, class Value>
struct CsrArrays {
    Vector<int64_t> starts;
    Vector<Index> indices;
    Vector<Value> values;

    CsrView<Index, Value> view() const {
        return {.starts = view_of(starts), .indices = view_of(indices), .values = view_of(values)};
    }
};
template <class Index>
CsrView<Index> view_of(const Vector<int64_t>& starts, const Vector<Index>& indices) {
    return {.starts = view_of(starts), .indices = view_of(indices)};
}

// Between tasks of the pool: lets Ctrl-C through. Only Python's main thread handles signals; other threads do
// not wait for the interpreter's lock, which would end them where the interpreter is ending.
inline unsigned long main_thread = 0;  // set by the module
inline void poll_signals() {
    if (PyThread_get_thread_ident() != main_thread) return;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// A numpy array that owns what was in the vector.
template <class T>
NewArray<T> hand_over(std::vector<T>&& values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    const size_t size = owned->size();
    const nb::capsule owner(owned.release(),
                            [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NewArray<T>(data, {size}, owner);
}

inline Number number_of(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<bool>()) return Number::boolean;
    if (type == nb::dtype<int8_t>()) return Number::i8;
    if (type == nb::dtype<int16_t>()) return Number::i16;
    if (type == nb::dtype<int32_t>()) return Number::i32;
    if (type == nb::dtype<int64_t>()) return Number::i64;
    if (type == nb::dtype<uint8_t>()) return Number::u8;
    if (type == nb::dtype<uint16_t>()) return Number::u16;
    if (type == nb::dtype<uint32_t>()) return Number::u32;
    if (type == nb::dtype<uint64_t>()) return Number::u64;
    if (type == nb::dtype<float>()) return Number::f32;
    if (type == nb::dtype<double>()) return Number::f64;
    throw std::invalid_argument("numbers must be booleans, integers of up to 64 bits, float32 or float64");
}

inline StridedNumbers numbers_of(const Matrix& array) {
    const auto item = ptrdiff_t(array.itemsize());
    return {.data = array.data(),
            .type = number_of(array.dtype()),
            .row_stride = array.stride(0) * item,
            .column_stride = array.stride(1) * item,
            .n_rows = array.shape(0),
            .n_columns = array.shape(1)};
}

// A table of codes and the arrays that it views.
struct Table {
    Matrix dense;
    CsrArrays<row_t, code_t> sparse;
    Vector<code_t> implicit;
    std::unique_ptr<Columns> columns;
};

void bind_candidates(nb::module_& m);
void bind_medoids(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_numbers(nb::module_& m);
void bind_common_rows(nb::module_& m);
void bind_raw_counts(nb::module_& m);
void bind_pursuit(nb::module_& m);
void bind_relief(nb::module_& m);
void bind_simplex(nb::module_& m);
void bind_stack(nb::module_& m);
void bind_sums(nb::module_& m);
void bind_terms(nb::module_& m);

}  // namespace labelsieve
