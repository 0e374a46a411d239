// Selects the kernels for the processor, once.
#include <cstdlib>
#include <string_view>

#include "simd/kernels.hpp"

namespace labelsieve {

namespace baseline {
extern const Kernels kernels;
}
#if defined(LABELSIEVE_HAVE_X86_64_V3)
namespace x86_64_v3 {
extern const Kernels kernels;
}
#endif
#if defined(LABELSIEVE_HAVE_X86_64_V4)
namespace x86_64_v4 {
extern const Kernels kernels;
}
#endif

namespace {

// LABELSIEVE_ISA=baseline (or x86_64_v3) asks for older kernels than the processor could run: to test and to
// compare.
const Kernels& select_kernels() {
    const char* asked = std::getenv("LABELSIEVE_ISA");
    const std::string_view wanted = asked ? asked : "";
    if (wanted == "baseline") return baseline::kernels;
#if defined(LABELSIEVE_HAVE_X86_64_V4)
    if (wanted != "x86_64_v3" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq") &&
        __builtin_cpu_supports("avx512vnni"))
        return x86_64_v4::kernels;
#endif
#if defined(LABELSIEVE_HAVE_X86_64_V3)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt"))
        return x86_64_v3::kernels;
#endif
    return baseline::kernels;
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& selected = select_kernels();
    return selected;
}

}  // namespace labelsieve
