// Figures as people read them: rounded, with a unit, one or several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::text {

// "1 device", "8 devices", "2,048 devices"; of a noun that takes more than an s, `plural`.
std::string counted(uint64_t count, std::string_view noun, std::string_view plural = {});

// "12 bytes", "3.4 KiB", "57.1 MiB", "230 MiB".
std::string bytes(uint64_t count);

// The other way round: "80GB" (10^9), "1.5GiB" (2^30), "4096"; none where the text is no size from 1 to
// 2^62.
std::optional<uint64_t> bytesIn(std::string_view text);

// "350 us", "12.3 ms", "1.2 s", "3 min 20 s" from 100 s on.
std::string seconds(double time);

} // namespace tessera::text
