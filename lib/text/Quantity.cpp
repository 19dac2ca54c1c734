#include "lib/text/Quantity.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

namespace tessera::text {

namespace {

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

// 1.2, 12.3, 123.
std::string rounded(double value, const char *unit) {
  char text[64];
  std::snprintf(text, sizeof text, value < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

} // namespace

std::string counted(uint64_t count, std::string_view noun, std::string_view plural) {
  std::string text = grouped(count) + " ";
  if (count == 1)
    return text.append(noun);
  return plural.empty() ? text.append(noun) + "s" : text.append(plural);
}

std::string bytes(uint64_t count) {
  if (count < 1024)
    return counted(count, "byte");
  const char *units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(count) / 1024;
  int unit = 0;
  for (; value >= 1023.5 && unit < 3; ++unit)
    value /= 1024;
  return rounded(value, units[unit]);
}

std::optional<uint64_t> bytesIn(std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(end - text.data());
  if (text.starts_with(' '))
    text.remove_prefix(1);
  constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},      {"B", 1},      {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1024}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (auto [unit, bytes] : units)
    if (text == unit && number * bytes >= 1 && number * bytes <= 0x1p62)
      return static_cast<uint64_t>(std::floor(number * bytes));
  return std::nullopt;
}

std::string seconds(double time) {
  if (time < 0.9995e-3)
    return rounded(time * 1e6, "us");
  if (time < 0.9995)
    return rounded(time * 1e3, "ms");
  if (time < 99.95)
    return rounded(time, "s");
  auto whole = static_cast<uint64_t>(std::llround(time));
  return grouped(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

} // namespace tessera::text
