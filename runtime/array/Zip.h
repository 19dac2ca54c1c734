// Zip archives as numpy.savez writes and reads them: stored or deflated members, zip64 where a size
// needs it.
#pragma once

#include "lib/files/InputFile.h"
#include "lib/files/OutputFile.h"
#include "runtime/Status.h"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

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
  explicit ZipReader(files::InputFile file)
      : file_(std::make_unique<files::InputFile>(std::move(file))) {}

  std::unique_ptr<files::InputFile> file_;
  std::vector<Member> members_;
};

// Writes stored members one after the other; nothing is kept but the directory.
class ZipWriter {
public:
  // Into a file that stays the caller's, who commits it.
  explicit ZipWriter(files::OutputFile &file) : file_(file) {}
  // `head` and `body` follow each other in the member.
  Status add(const std::string &name, std::string_view head, std::string_view body);
  // The directory, after the last member.
  Status finish();

private:
  Status write(std::string_view bytes);

  files::OutputFile &file_;
  uint64_t offset_ = 0, entries_ = 0;
  std::string directory_;
};

} // namespace tessera::runtime
