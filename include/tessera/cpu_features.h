// The instruction sets, beyond those of every x86-64, that kernels may use. A program names, in LLVM's words, those that its
// target has (program.CodeImage.features); the compiler uses no other, and the runtime refuses
// a program that names one which its processor lacks, or which it does not know. A processor's
// other features (tuning, system instructions, whatever is newer than this list) play no part.
#ifndef TESSERA_CPU_FEATURES_H
#define TESSERA_CPU_FEATURES_H

#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera::cpu {

enum class Register { Eax, Ebx, Ecx, Edx };

// What the operating system must save of a thread: bits of XCR0.
enum State : uint32_t { kNone = 0, kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000 };

// Where `cpuid` tells of an instruction set (Intel, "Architectures Software Developer's Manual",
// vol. 2, CPUID).
struct Feature {
  std::string_view name; // LLVM's
  uint32_t leaf, subleaf;
  Register where;
  unsigned bit;
  State state = kNone;
};

inline constexpr Feature kFeatures[] = {
    {"sse3", 1, 0, Register::Ecx, 0},
    {"pclmul", 1, 0, Register::Ecx, 1},
    {"ssse3", 1, 0, Register::Ecx, 9},
    {"fma", 1, 0, Register::Ecx, 12, kYmm},
    {"cx16", 1, 0, Register::Ecx, 13},
    {"sse4.1", 1, 0, Register::Ecx, 19},
    {"sse4.2", 1, 0, Register::Ecx, 20},
    {"movbe", 1, 0, Register::Ecx, 22},
    {"popcnt", 1, 0, Register::Ecx, 23},
    {"aes", 1, 0, Register::Ecx, 25},
    {"avx", 1, 0, Register::Ecx, 28, kYmm},
    {"f16c", 1, 0, Register::Ecx, 29, kYmm},
    {"bmi", 7, 0, Register::Ebx, 3},
    {"avx2", 7, 0, Register::Ebx, 5, kYmm},
    {"bmi2", 7, 0, Register::Ebx, 8},
    {"avx512f", 7, 0, Register::Ebx, 16, kZmm},
    {"avx512dq", 7, 0, Register::Ebx, 17, kZmm},
    {"adx", 7, 0, Register::Ebx, 19},
    {"avx512ifma", 7, 0, Register::Ebx, 21, kZmm},
    {"avx512cd", 7, 0, Register::Ebx, 28, kZmm},
    {"sha", 7, 0, Register::Ebx, 29},
    {"avx512bw", 7, 0, Register::Ebx, 30, kZmm},
    {"avx512vl", 7, 0, Register::Ebx, 31, kZmm},
    {"avx512vbmi", 7, 0, Register::Ecx, 1, kZmm},
    {"avx512vbmi2", 7, 0, Register::Ecx, 6, kZmm},
    {"gfni", 7, 0, Register::Ecx, 8},
    {"vaes", 7, 0, Register::Ecx, 9, kYmm},
    {"vpclmulqdq", 7, 0, Register::Ecx, 10, kYmm},
    {"avx512vnni", 7, 0, Register::Ecx, 11, kZmm},
    {"avx512bitalg", 7, 0, Register::Ecx, 12, kZmm},
    {"avx512vpopcntdq", 7, 0, Register::Ecx, 14, kZmm},
    {"avx512vp2intersect", 7, 0, Register::Edx, 8, kZmm},
    {"amx-bf16", 7, 0, Register::Edx, 22, kTiles},
    {"avx512fp16", 7, 0, Register::Edx, 23, kZmm},
    {"amx-tile", 7, 0, Register::Edx, 24, kTiles},
    {"amx-int8", 7, 0, Register::Edx, 25, kTiles},
    {"avxvnni", 7, 1, Register::Eax, 4, kYmm},
    {"avx512bf16", 7, 1, Register::Eax, 5, kZmm},
    {"amx-fp16", 7, 1, Register::Eax, 21, kTiles},
    {"avxifma", 7, 1, Register::Eax, 23, kYmm},
    {"avxvnniint8", 7, 1, Register::Edx, 4, kYmm},
    {"avxneconvert", 7, 1, Register::Edx, 5, kYmm},
    {"avxvnniint16", 7, 1, Register::Edx, 10, kYmm},
    {"sahf", 0x80000001, 0, Register::Ecx, 0},
    {"lzcnt", 0x80000001, 0, Register::Ecx, 5},
    {"sse4a", 0x80000001, 0, Register::Ecx, 6},
};

// Null when the list has no such name.
inline const Feature *find(std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (feature.name == name)
      return &feature;
  return nullptr;
}

// Whether this processor, under this operating system, has it.
inline bool isHere([[maybe_unused]] const Feature &feature) {
#if defined(__x86_64__)
  uint32_t r[4];
  if (feature.state) {
    if (!__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) || !(r[2] >> 27 & 1)) // OSXSAVE
      return false;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & feature.state) != feature.state)
      return false;
  }
  return __get_cpuid_count(feature.leaf, feature.subleaf, &r[0], &r[1], &r[2], &r[3]) &&
         (r[static_cast<int>(feature.where)] >> feature.bit & 1);
#else
  return false;
#endif
}

// Asks the operating system to let this process use what it has: 0, or the `errno` of its refusal.
// The data of tiles takes 8 KiB of every thread, and a process has none before it asks for it; what
// it got its threads keep (Linux, Documentation/arch/x86/xstate.rst).
inline int request([[maybe_unused]] const Feature &feature) {
  int refusal = 0;
#if defined(__x86_64__) && defined(__linux__)
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE
  if (feature.state == kTiles) {
    int before = errno;
    if (syscall(SYS_arch_prctl, requestPermission, tileData) != 0)
      refusal = errno;
    errno = before;
  }
#endif
  return refusal;
}

} // namespace tessera::cpu

#endif
