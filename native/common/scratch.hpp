// Working memory of the size of a column: not set to zero, and in large pages where the system has them.
//
// A buffer of millions of rows is a fresh mapping whenever it is allocated. In pages of 4 KB its page faults
// cost more than the work on it: two thirds of the time of binning 20 million rows.
#pragma once

#include <vector>

#include "common/types.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace labelsieve {

inline constexpr size_t large_page = size_t(1) << 21;

template <class T>
struct ScratchAllocator {
    using value_type = T;

    ScratchAllocator() = default;
    template <class U>
    ScratchAllocator(const ScratchAllocator<U>&) {}

    T* allocate(size_t size) {
        const size_t bytes = checked_product(size, sizeof(T));
        void* memory = ::operator new(bytes, alignment(size));
#ifdef __linux__
        if (bytes >= 2 * large_page) ::madvise(memory, bytes, MADV_HUGEPAGE);  // a hint, which may be refused
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, size_t size) noexcept { ::operator delete(memory, alignment(size)); }

    template <class U>
    void construct(U* at) {
        ::new (static_cast<void*>(at)) U;  // without a value
    }
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }

    friend bool operator==(const ScratchAllocator&, const ScratchAllocator&) { return true; }

  private:
    static std::align_val_t alignment(size_t size) {
        return std::align_val_t{size * sizeof(T) >= 2 * large_page ? large_page : cache_line};
    }
};

// A vector whose values are undefined until they are set.
template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

}  // namespace labelsieve
