// Takes the place of llvm/Support/TypeName.h (force-included, see TesseraMLIR.cmake). MLIR
// identifies op traits by the name of a type that is local to a function, and compilers spell it
// differently: Debian's libMLIR is built by Clang
// ("IsTerminator<Empty>"), we by GCC ("IsTerminator<mlir::TypeID::get<..>()::Empty>"). With the two
// spellings side by side hasTrait() is false across the library border, without any error. So spell
// as Clang does.
#pragma once
#ifdef __cplusplus
#define LLVM_SUPPORT_TYPENAME_H
#define LLVM_GET_TYPE_NAME_CONSTEXPR constexpr

#include "llvm/ADT/StringRef.h"
#include <array>
#include <string_view>

namespace llvm {
namespace type_name_detail {

template <typename DesiredTypeName> constexpr std::string_view spelledByCompiler() {
  std::string_view name = __PRETTY_FUNCTION__;
  constexpr std::string_view key = "DesiredTypeName = ";
  name = name.substr(name.find(key) + key.size());
  std::string_view::size_type end =
      name.find("; std::string_view = "); // GCC lists its aliases after the type
  return name.substr(0, end == name.npos ? name.size() - 1 : end);
}

template <typename T> struct Spelling {
  static constexpr std::string_view raw = spelledByCompiler<T>();
  static constexpr std::string_view local = "<mlir::TypeID::get<", suffix = "()::Empty>",
                                    plain = "<Empty>";
  static constexpr auto begin = raw.find(local);
  static constexpr bool isTrait = begin != raw.npos && raw.ends_with(suffix);
  static constexpr auto size = isTrait ? begin + plain.size() : raw.size();
  static constexpr std::array<char, size> text = [] {
    std::array<char, size> out{};
    for (size_t i = 0; i < size; ++i)
      out[i] = isTrait && i >= begin ? plain[i - begin] : raw[i];
    return out;
  }();
};

} // namespace type_name_detail

template <typename DesiredTypeName> inline constexpr StringRef getTypeName() {
  using Spelling = type_name_detail::Spelling<DesiredTypeName>;
  return StringRef(Spelling::text.data(), Spelling::size);
}

} // namespace llvm
#endif
