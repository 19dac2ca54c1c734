// Zip archives as numpy.savez writes and reads them: stored or deflated members, zip64 where a size
// needs it.
#pragma once

#include "runtime/Status.h"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

// A file's bytes, mapped read-only.
class MappedFile {
public:
  static Result<std::shared_ptr<MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  std::string_view bytes() const { return {data_, size_}; }

private:
  MappedFile(const char *data, size_t size) : data_(data), size_(size) {}
  const char *data_;
  size_t size_;
};

class ZipReader {
public:
  struct Member {
    std::string name;
    uint16_t method; // 0 stored, 8 deflated
    uint32_t crc;
    uint64_t packed, size, headerOffset;
  };

  static Result<ZipReader> open(const std::string &path);
  const std::vector<Member> &members() const { return members_; }
  // The member's contents, checked against its checksum.
  Result<std::string> read(const Member &member) const;

private:
  std::shared_ptr<MappedFile> file_;
  std::vector<Member> members_;
};

// Writes stored members one after the other; nothing is kept but the directory.
class ZipWriter {
public:
  static Result<ZipWriter> create(const std::string &path);
  ZipWriter(ZipWriter &&other) noexcept;
  ~ZipWriter();
  // `head` and `body` follow each other in the member.
  Status add(const std::string &name, std::string_view head, std::string_view body);
  Status close();

private:
  explicit ZipWriter(std::string path, void *file) : path_(std::move(path)), file_(file) {}
  Status write(std::string_view bytes);

  std::string path_;
  void *file_; // FILE*
  uint64_t offset_ = 0, entries_ = 0;
  std::string directory_;
};

} // namespace tessera::runtime
