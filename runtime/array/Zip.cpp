#include "runtime/array/Zip.h"
#include "runtime/FileStatus.h"
#include <algorithm>
#include <cstring>
#include <zlib.h>

namespace tessera::runtime {

namespace {

template <class T> T readInt(std::string_view bytes, size_t at) {
  T value = 0;
  if (at <= bytes.size() && sizeof value <= bytes.size() - at)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T> void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                   kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;

// The 64-bit values of a member's extra field, for those of its three fields that are saturated.
void applyZip64(std::string_view extra, ZipReader::Member &member) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    uint16_t id = readInt<uint16_t>(extra, at), size = readInt<uint16_t>(extra, at + 2);
    if (id == 1) {
      size_t field = at + 4;
      for (uint64_t *value : {&member.size, &member.packed, &member.headerOffset})
        if (*value == 0xffffffff) {
          *value = readInt<uint64_t>(extra, field);
          field += 8;
        }
    }
    at += 4 + size;
  }
}

} // namespace

Result<ZipReader> ZipReader::open(const std::string &path) {
  std::string wrong;
  auto file = files::InputFile::open(path, wrong);
  if (!file)
    return cannotRead(path, wrong);
  ZipReader reader(std::move(*file));
  uint64_t size = reader.file_->size();
  auto bad = [&](const char *what) {
    return Status(Code::DataLoss, path + ": not a readable .npz archive: " + what);
  };
  // Records of a directory; empty where they don't lie in the file.
  std::string record;
  auto load = [&](uint64_t at, size_t bytes) -> bool {
    if (at > size || bytes > size - at)
      return false;
    record.resize(bytes);
    wrong = reader.file_->read(at, record.data(), bytes);
    return wrong.empty();
  };
  // The end record is the last thing in the file, before a comment of at most 64 KiB; a locator of
  // 20 bytes stands before it where the directory is a 64-bit one.
  constexpr size_t endBytes = 22, locatorBytes = 20, mostComment = 65535;
  uint64_t tailBytes = std::min<uint64_t>(size, locatorBytes + endBytes + mostComment);
  if (!load(size - tailBytes, tailBytes))
    return cannotRead(path, wrong);
  std::string tail = std::move(record);
  size_t end = tail.npos;
  for (size_t i = tail.size() < endBytes ? 0 : tail.size() - endBytes + 1; i-- > 0;)
    if (readInt<uint32_t>(tail, i) == kEnd) {
      end = i;
      break;
    }
  if (end == tail.npos)
    return bad("it has no directory (truncated?)");
  uint64_t count = readInt<uint16_t>(tail, end + 10), at = readInt<uint32_t>(tail, end + 16);
  if ((count == 0xffff || at == 0xffffffff) && end >= locatorBytes &&
      readInt<uint32_t>(tail, end - locatorBytes) == kLocator64) {
    if (!load(readInt<uint64_t>(tail, end - 12), 56) || readInt<uint32_t>(record, 0) != kEnd64)
      return bad("its 64-bit directory is damaged");
    count = readInt<uint64_t>(record, 32);
    at = readInt<uint64_t>(record, 48);
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (!load(at, 46) || readInt<uint32_t>(record, 0) != kCentral)
      return bad("its directory is damaged");
    size_t name = readInt<uint16_t>(record, 28), extra = readInt<uint16_t>(record, 30),
           comment = readInt<uint16_t>(record, 32);
    Member member{"",
                  readInt<uint16_t>(record, 10),
                  readInt<uint32_t>(record, 16),
                  readInt<uint32_t>(record, 20),
                  readInt<uint32_t>(record, 24),
                  readInt<uint32_t>(record, 42)};
    if (!load(at + 46, name + extra + comment))
      return bad("its directory is cut off");
    member.name = record.substr(0, name);
    applyZip64(std::string_view(record).substr(name, extra), member);
    reader.members_.push_back(std::move(member));
    at += 46 + name + extra + comment;
  }
  return reader;
}

// Inflates what lies at `at` of the file to `contents`, whose size is what must come out. Empty, or
// what is wrong.
static std::string inflateFrom(const files::InputFile &file, uint64_t at, uint64_t packed,
                               std::string &contents) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return "cannot be inflated";
  std::string part(std::min<uint64_t>(packed, 1 << 20), '\0'), wrong;
  size_t out = 0;
  int code = Z_OK;
  while (code == Z_OK && wrong.empty()) {
    if (stream.avail_in == 0 && packed > 0) {
      size_t bytes = std::min<uint64_t>(packed, part.size());
      if (!file.read(at, part.data(), bytes).empty())
        wrong = "is cut off";
      stream.next_in = reinterpret_cast<Bytef *>(part.data());
      stream.avail_in = static_cast<uInt>(bytes);
      at += bytes;
      packed -= bytes;
    }
    size_t room = std::min<size_t>(1u << 30, contents.size() - out);
    stream.next_out = reinterpret_cast<Bytef *>(contents.data() + out);
    stream.avail_out = static_cast<uInt>(room);
    code = inflate(&stream, Z_NO_FLUSH);
    out += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (wrong.empty() && (code != Z_STREAM_END || out != contents.size()))
    wrong = "is damaged";
  return wrong;
}

Result<std::string> ZipReader::read(const Member &member) const {
  auto bad = [&](const std::string &what) {
    return Status(Code::DataLoss, "member '" + member.name + "' of the archive " + what);
  };
  uint64_t at = member.headerOffset, size = file_->size();
  char header[30];
  if (at > size || size - at < sizeof header || !file_->read(at, header, sizeof header).empty() ||
      readInt<uint32_t>({header, sizeof header}, 0) != kLocal)
    return bad("is damaged");
  at += sizeof header + readInt<uint16_t>({header, sizeof header}, 26) +
        readInt<uint16_t>({header, sizeof header}, 28);
  if (at > size || member.packed > size - at)
    return bad("is cut off");
  std::string contents;
  if (member.method == 0 && member.packed == member.size) {
    contents.resize(member.size);
    if (!file_->read(at, contents.data(), contents.size()).empty())
      return bad("is cut off");
  } else if (member.method == 8) {
    // Deflate cannot shrink by more than about 1,032.
    if (member.size / 1100 > member.packed)
      return bad("has an impossible size");
    contents.resize(member.size);
    if (std::string wrong = inflateFrom(*file_, at, member.packed, contents); !wrong.empty())
      return bad(wrong);
  } else {
    return bad("is packed by a method other than stored and deflate");
  }
  if (crc32_z(0, reinterpret_cast<const Bytef *>(contents.data()), contents.size()) != member.crc)
    return bad("has a wrong checksum");
  return contents;
}

Status ZipWriter::write(std::string_view bytes) {
  offset_ += bytes.size();
  if (std::string wrong = file_.write(bytes); !wrong.empty())
    return {Code::Unavailable, wrong};
  return {};
}

Status ZipWriter::add(const std::string &name, std::string_view head, std::string_view body) {
  uint64_t size = head.size() + body.size(), at = offset_;
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef *>(head.data()), head.size());
  crc = crc32_z(crc, reinterpret_cast<const Bytef *>(body.data()), body.size());
  // What the local header and the directory have in common: version, flags, method, time, date,
  // crc, sizes, name.
  auto shared = [&](std::string &out, uint16_t extra) {
    put<uint16_t>(out, 45);
    put<uint16_t>(out, 0);
    put<uint16_t>(out, 0);
    put<uint32_t>(out, 0x00210000); // 1980-01-01: the same arrays give the same file
    put<uint32_t>(out, static_cast<uint32_t>(crc));
    put<uint32_t>(out, 0xffffffff);
    put<uint32_t>(out, 0xffffffff);
    put<uint16_t>(out, static_cast<uint16_t>(name.size()));
    put<uint16_t>(out, extra);
  };
  auto zip64 = [&](std::string &out, bool withOffset) {
    put<uint16_t>(out, 1);
    put<uint16_t>(out, withOffset ? 24 : 16);
    put<uint64_t>(out, size);
    put<uint64_t>(out, size);
    if (withOffset)
      put<uint64_t>(out, at);
  };
  std::string local;
  put<uint32_t>(local, kLocal);
  shared(local, 20);
  local += name;
  zip64(local, false);
  put<uint32_t>(directory_, kCentral);
  put<uint16_t>(directory_, 45);
  shared(directory_, 28);
  put<uint16_t>(directory_, 0); // comment
  put<uint16_t>(directory_, 0); // disk
  put<uint16_t>(directory_, 0); // attributes
  put<uint32_t>(directory_, 0);
  put<uint32_t>(directory_, 0xffffffff);
  directory_ += name;
  zip64(directory_, true);
  ++entries_;
  for (std::string_view part : {std::string_view(local), head, body})
    if (Status s = write(part); !s.ok())
      return s;
  return {};
}

Status ZipWriter::finish() {
  uint64_t start = offset_, end64 = start + directory_.size();
  std::string tail = directory_;
  // Numpy knows archives by their first bytes, and none that begins with an end record of 64 bits.
  bool wide = entries_ > 0;
  if (wide) {
    put<uint32_t>(tail, kEnd64);
    put<uint64_t>(tail, 44);
    put<uint16_t>(tail, 45);
    put<uint16_t>(tail, 45);
    put<uint32_t>(tail, 0);
    put<uint32_t>(tail, 0);
    put<uint64_t>(tail, entries_);
    put<uint64_t>(tail, entries_);
    put<uint64_t>(tail, directory_.size());
    put<uint64_t>(tail, start);
    put<uint32_t>(tail, kLocator64);
    put<uint32_t>(tail, 0);
    put<uint64_t>(tail, end64);
    put<uint32_t>(tail, 1);
  }
  put<uint32_t>(tail, kEnd);
  put<uint32_t>(tail, 0); // disks
  uint16_t entries = static_cast<uint16_t>(std::min<uint64_t>(entries_, 0xffff));
  put<uint16_t>(tail, entries);
  put<uint16_t>(tail, entries);
  put<uint32_t>(tail, static_cast<uint32_t>(std::min<uint64_t>(directory_.size(), 0xffffffff)));
  put<uint32_t>(tail, wide ? 0xffffffff : 0);
  put<uint16_t>(tail, 0);
  return write(tail);
}

} // namespace tessera::runtime
