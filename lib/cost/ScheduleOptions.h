// What a user asks of the order: --overlap and --memory. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera::cost {

enum class Overlap {
  Auto, // where it is worth the memory that it takes
  On,   // whatever it takes
  Off   // one thing after another
};

constexpr std::string_view nameOf(Overlap overlap) {
  return overlap == Overlap::Auto ? "auto" : overlap == Overlap::On ? "on" : "off";
}
constexpr std::optional<Overlap> overlapNamed(std::string_view name) {
  for (Overlap overlap : {Overlap::Auto, Overlap::On, Overlap::Off})
    if (nameOf(overlap) == name)
      return overlap;
  return std::nullopt;
}

struct ScheduleOptions {
  Overlap overlap = Overlap::Auto;
  std::optional<int64_t> memory; // bytes of each device, arguments and outputs included
  // Of temporaries and scratch, within which kernels' scratch is kept by smaller pieces; none: they
  // have what they are quickest with.
  std::optional<int64_t> scratchWithin = {};
  bool smallAttention = false; // attention of few scores is one kernel, too, and they are no array
  bool operator==(const ScheduleOptions &) const = default;
};

} // namespace tessera::cost
