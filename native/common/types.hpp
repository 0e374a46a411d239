// The types that every file of the core uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace labelsieve {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::ptrdiff_t, std::size_t;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t, std::uintptr_t;

using row_t = uint32_t;    // a row number; tables of 2^32 - 1 rows or more are rejected by the bindings
using count_t = uint32_t;  // how often values occur together: at most the number of rows
using code_t = uint16_t;   // a value of a column; 65,535 levels at the most
using fixed_t = int64_t;   // n log n, and sums of it, in fixed point

inline constexpr size_t cache_line = 64;

// a * b, or std::bad_alloc when the product does not fit: every size that is asked for goes through here.
inline size_t checked_product(size_t a, size_t b) {
    if (b != 0 && a > std::numeric_limits<ptrdiff_t>::max() / b) throw std::bad_alloc();
    return a * b;
}

// Zeroed memory on a cache-line boundary, because the kernels read whole lines.
template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(size_t size) : Buffer(unset(size)) {
        if (size != 0) std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
    }
    // Not zeroed, for threads that write all of it: the first to write a page also pays for its page fault.
    static Buffer unset(size_t size) {
        Buffer made;
        if (size == 0) return made;
        const size_t bytes = checked_product(size, sizeof(T));
        made.data_ = static_cast<T*>(::operator new(bytes, std::align_val_t{cache_line}));
        made.size_ = size;
        return made;
    }
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Buffer() { ::operator delete(data_, std::align_val_t{cache_line}); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

    // Space for at least `size` values; a buffer that grows loses what it held.
    void reserve(size_t size) {
        if (size > size_) *this = Buffer(size);
    }

  private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace labelsieve
