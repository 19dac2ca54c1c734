// The .tsr container: what compiler and runtime agree on about the file around a program.
// Header-only, no dependencies.
//
//   header      64 bytes: magic, version, number of sections, bytes of the whole file, hash of the table
//   table       64 bytes a section: name, kind, offset, size, hash of the contents
//   sections    each at a multiple of 64 bytes; zeros between
//
// Integers are little-endian. Hashes (XXH64 by Y. Collet) cover every byte but padding, which must
// be zero, so a damaged file is found before anything in it is used.
#ifndef TESSERA_CONTAINER_H
#define TESSERA_CONTAINER_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::container {

inline constexpr char kMagic[8] = {'\x89', 'T', 'S', 'R', '\r', '\n', '\x1a', '\n'};
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kProgramVersion = 5; // of the manifest: program.File.version
inline constexpr uint64_t kMostManifest = (uint64_t{1} << 31) - 1; // bytes: protobuf's limit
inline constexpr uint32_t kDeepestNesting = 256;          // loops and branches in each other
inline constexpr int64_t kMostDevices = int64_t{1} << 24; // tables have an entry for each
inline constexpr uint64_t kAlignment = 64;

enum class SectionKind : uint32_t {
  Manifest = 1,  // a serialized tessera.program.File
  Code = 2,      // a shared object with the kernels, for one kind of processor
  Constants = 3, // the CONSTANT spaces of the programs' buffers
};

struct Section {
  std::string name;
  SectionKind kind;
  std::string_view bytes; // not owned
};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sectionCount;
  uint64_t fileBytes;
  uint64_t tableHash;
  uint64_t reserved[4];
};
static_assert(sizeof(Header) == 64);

struct TableEntry {
  char name[24]; // ends in zeros
  uint32_t kind;
  uint32_t reserved0;
  uint64_t offset, size, hash;
  uint64_t reserved1;
};
static_assert(sizeof(TableEntry) == 64);

inline uint64_t hash(std::string_view bytes) {
  constexpr uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9,
                     p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;
  auto rotate = [](uint64_t x, int r) { return (x << r) | (x >> (64 - r)); };
  auto round = [&](uint64_t lane, uint64_t word) { return rotate(lane + word * p2, 31) * p1; };
  auto word64 = [](const char *p) {
    uint64_t w;
    std::memcpy(&w, p, 8);
    return w;
  };
  const char *p = bytes.data(), *end = p + bytes.size();
  uint64_t h;
  if (bytes.size() >= 32) {
    uint64_t lanes[4] = {p1 + p2, p2, 0, uint64_t{0} - p1};
    for (; end - p >= 32; p += 32)
      for (int i = 0; i < 4; ++i)
        lanes[i] = round(lanes[i], word64(p + 8 * i));
    h = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      h = (h ^ round(0, lane)) * p1 + p4;
  } else {
    h = p5;
  }
  h += bytes.size();
  for (; end - p >= 8; p += 8)
    h = rotate(h ^ round(0, word64(p)), 27) * p1 + p4;
  for (; end - p >= 4; p += 4) {
    uint32_t w;
    std::memcpy(&w, p, 4);
    h = rotate(h ^ (w * p1), 23) * p2 + p3;
  }
  for (; p < end; ++p)
    h = rotate(h ^ (static_cast<unsigned char>(*p) * p5), 11) * p1;
  h = (h ^ (h >> 33)) * p2;
  h = (h ^ (h >> 29)) * p3;
  return h ^ (h >> 32);
}

// The file's bytes. Names have at most 23 characters.
inline std::string write(const std::vector<Section> &sections) {
  auto align = [](uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; };
  std::vector<TableEntry> table(sections.size());
  uint64_t offset = sizeof(Header) + sections.size() * sizeof(TableEntry);
  for (size_t i = 0; i < sections.size(); ++i) {
    TableEntry &entry = table[i];
    std::memset(&entry, 0, sizeof entry);
    sections[i].name.copy(entry.name, sizeof entry.name - 1);
    entry.kind = static_cast<uint32_t>(sections[i].kind);
    entry.offset = offset;
    entry.size = sections[i].bytes.size();
    entry.hash = hash(sections[i].bytes);
    offset = align(offset + entry.size);
  }
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.sectionCount = static_cast<uint32_t>(sections.size());
  header.fileBytes = offset;
  std::string_view tableBytes(reinterpret_cast<const char *>(table.data()),
                              table.size() * sizeof(TableEntry));
  header.tableHash = hash(tableBytes);
  std::string file;
  file.reserve(offset);
  file.append(reinterpret_cast<const char *>(&header), sizeof header).append(tableBytes);
  for (size_t i = 0; i < sections.size(); ++i) {
    file.resize(table[i].offset);
    file.append(sections[i].bytes);
  }
  file.resize(offset);
  return file;
}

// Checks the whole file and lists its sections, which point into `file`. Returns what is wrong, or
// "".
inline std::string read(std::string_view file, std::vector<Section> &sections) {
  Header header;
  if (file.size() < sizeof kMagic || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    return "not a .tsr file";
  if (file.size() < sizeof header)
    return "truncated: the header is cut off";
  std::memcpy(&header, file.data(), sizeof header);
  if (header.version != kVersion)
    return "container version " + std::to_string(header.version) + ", this runtime reads " +
           std::to_string(kVersion) + ": compile the program again";
  if (file.size() < header.fileBytes)
    return "truncated: " + std::to_string(file.size()) + " bytes of " +
           std::to_string(header.fileBytes);
  auto isZero = [](std::string_view bytes) { return bytes.find_first_not_of('\0') == bytes.npos; };
  if (file.size() > header.fileBytes || header.sectionCount > 4096 ||
      !isZero({reinterpret_cast<const char *>(header.reserved), sizeof header.reserved}) ||
      sizeof header + header.sectionCount * sizeof(TableEntry) > file.size())
    return "altered: the header does not fit the file";
  std::string_view table = file.substr(sizeof header, header.sectionCount * sizeof(TableEntry));
  if (hash(table) != header.tableHash)
    return "altered: the section table's checksum is wrong";
  sections.clear();
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    TableEntry entry;
    std::memcpy(&entry, table.data() + i * sizeof entry, sizeof entry);
    std::string name(entry.name, std::find(entry.name, entry.name + sizeof entry.name - 1, '\0'));
    if (entry.offset % kAlignment || entry.offset > file.size() ||
        entry.size > file.size() - entry.offset)
      return "altered: section '" + name + "' lies outside of the file";
    if (entry.kind == static_cast<uint32_t>(SectionKind::Manifest) && entry.size > kMostManifest)
      return "a manifest of " + std::to_string(entry.size) + " bytes; programs have " +
             std::to_string(kMostManifest) + " at most";
    std::string_view bytes = file.substr(entry.offset, entry.size);
    if (hash(bytes) != entry.hash)
      return "altered: the checksum of section '" + name + "' is wrong";
    uint64_t end = entry.offset + entry.size;
    if (!isZero(file.substr(end, (kAlignment - end % kAlignment) % kAlignment)))
      return "altered: the padding after section '" + name + "' is not zero";
    sections.push_back({name, static_cast<SectionKind>(entry.kind), bytes});
  }
  return "";
}

} // namespace tessera::container

#endif
