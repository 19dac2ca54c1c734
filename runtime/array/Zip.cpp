#include "runtime/array/Zip.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace tessera::runtime {

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string &path) {
  auto fail = [&] { return Status(Code::Io, path + ": " + std::strerror(errno)); };
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail();
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode))
      errno = EISDIR;
    Status status = fail();
    ::close(fd);
    return status;
  }
  void *data = nullptr;
  if (info.st_size > 0)
    data = mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  int error = errno;
  ::close(fd);
  errno = error;
  if (data == MAP_FAILED)
    return fail();
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<const char *>(data), info.st_size));
}

MappedFile::~MappedFile() {
  if (size_)
    munmap(const_cast<char *>(data_), size_);
}

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
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  ZipReader reader;
  reader.file_ = *file;
  std::string_view bytes = reader.file_->bytes();
  auto bad = [&](const char *what) {
    return Status(Code::Io, path + ": not a readable .npz archive: " + what);
  };
  // The end record is the last thing in the file, before a comment of at most 64 KiB.
  size_t end = bytes.npos;
  for (size_t i = bytes.size() < 22 ? 0 : bytes.size() - 21;
       i-- > 0 && bytes.size() - i < 22 + 65536;)
    if (readInt<uint32_t>(bytes, i) == kEnd) {
      end = i;
      break;
    }
  if (end == bytes.npos)
    return bad("it has no directory (truncated?)");
  uint64_t count = readInt<uint16_t>(bytes, end + 10), at = readInt<uint32_t>(bytes, end + 16);
  if ((count == 0xffff || at == 0xffffffff) && end >= 20 &&
      readInt<uint32_t>(bytes, end - 20) == kLocator64) {
    uint64_t end64 = readInt<uint64_t>(bytes, end - 12);
    if (end64 > bytes.size() || bytes.size() - end64 < 56 ||
        readInt<uint32_t>(bytes, end64) != kEnd64)
      return bad("its 64-bit directory is damaged");
    count = readInt<uint64_t>(bytes, end64 + 32);
    at = readInt<uint64_t>(bytes, end64 + 48);
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || readInt<uint32_t>(bytes, at) != kCentral)
      return bad("its directory is damaged");
    size_t name = readInt<uint16_t>(bytes, at + 28), extra = readInt<uint16_t>(bytes, at + 30),
           comment = readInt<uint16_t>(bytes, at + 32);
    if (bytes.size() - at < 46 + name + extra + comment)
      return bad("its directory is cut off");
    Member member{std::string(bytes.substr(at + 46, name)), readInt<uint16_t>(bytes, at + 10),
                  readInt<uint32_t>(bytes, at + 16),        readInt<uint32_t>(bytes, at + 20),
                  readInt<uint32_t>(bytes, at + 24),        readInt<uint32_t>(bytes, at + 42)};
    applyZip64(bytes.substr(at + 46 + name, extra), member);
    reader.members_.push_back(std::move(member));
    at += 46 + name + extra + comment;
  }
  return reader;
}

Result<std::string> ZipReader::read(const Member &member) const {
  std::string_view bytes = file_->bytes();
  auto bad = [&](const char *what) {
    return Status(Code::Io, "member '" + member.name + "' of the archive " + what);
  };
  uint64_t at = member.headerOffset;
  if (at > bytes.size() || bytes.size() - at < 30 || readInt<uint32_t>(bytes, at) != kLocal)
    return bad("is damaged");
  at += 30 + readInt<uint16_t>(bytes, at + 26) + readInt<uint16_t>(bytes, at + 28);
  if (at > bytes.size() || member.packed > bytes.size() - at)
    return bad("is cut off");
  std::string_view packed = bytes.substr(at, member.packed);
  std::string contents;
  if (member.method == 0 && member.packed == member.size) {
    contents = packed;
  } else if (member.method == 8) {
    // Deflate cannot shrink by more than about 1,032.
    if (member.size / 1100 > member.packed)
      return bad("has an impossible size");
    contents.resize(member.size);
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      return bad("cannot be inflated");
    size_t in = 0, out = 0;
    int code = Z_OK;
    while (code == Z_OK) {
      constexpr size_t step = 1u << 30;
      size_t give = std::min(step, packed.size() - in),
             room = std::min(step, contents.size() - out);
      stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + in));
      stream.avail_in = static_cast<uInt>(give);
      stream.next_out = reinterpret_cast<Bytef *>(contents.data() + out);
      stream.avail_out = static_cast<uInt>(room);
      code = inflate(&stream, Z_NO_FLUSH);
      in += give - stream.avail_in;
      out += room - stream.avail_out;
    }
    inflateEnd(&stream);
    if (code != Z_STREAM_END || out != contents.size())
      return bad("is damaged");
  } else {
    return bad("is packed by a method other than stored and deflate");
  }
  if (crc32_z(0, reinterpret_cast<const Bytef *>(contents.data()), contents.size()) != member.crc)
    return bad("has a wrong checksum");
  return contents;
}

Result<ZipWriter> ZipWriter::create(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "wbe");
  if (!file)
    return Status(Code::Io, path + ": " + std::strerror(errno));
  return ZipWriter(path, file);
}

ZipWriter::ZipWriter(ZipWriter &&other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, nullptr)),
      offset_(other.offset_), entries_(other.entries_), directory_(std::move(other.directory_)) {}

ZipWriter::~ZipWriter() {
  if (file_)
    std::fclose(static_cast<FILE *>(file_));
}

Status ZipWriter::write(std::string_view bytes) {
  offset_ += bytes.size();
  if (std::fwrite(bytes.data(), 1, bytes.size(), static_cast<FILE *>(file_)) != bytes.size())
    return {Code::Io, path_ + ": " + std::strerror(errno)};
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

Status ZipWriter::close() {
  uint64_t start = offset_, end64 = start + directory_.size();
  std::string tail = directory_;
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
  put<uint32_t>(tail, kEnd);
  put<uint32_t>(tail, 0); // disks
  uint16_t entries = static_cast<uint16_t>(std::min<uint64_t>(entries_, 0xffff));
  put<uint16_t>(tail, entries);
  put<uint16_t>(tail, entries);
  put<uint32_t>(tail, static_cast<uint32_t>(std::min<uint64_t>(directory_.size(), 0xffffffff)));
  put<uint32_t>(tail, 0xffffffff);
  put<uint16_t>(tail, 0);
  Status status = write(tail);
  if (std::fclose(static_cast<FILE *>(std::exchange(file_, nullptr))) != 0 && status.ok())
    return {Code::Io, path_ + ": " + std::strerror(errno)};
  return status;
}

} // namespace tessera::runtime
