// One output of a command: every file that Tessera writes is written by this. A file that is there
// is replaced as a whole or stays as it is, whatever happens meanwhile: a full disk, a signal, the
// loss of power, another process that writes the same one.
//
//   OutputFile file;
//   std::string wrong = file.open(path);        // before work starts: can it be written?
//   if (wrong.empty()) wrong = file.write(bytes);
//   if (wrong.empty()) wrong = file.finish();   // all of it is on the disk
//   if (wrong.empty()) wrong = file.commit();   // readers see it
//
// All return "" or what went wrong, as "PATH: cannot be written: REASON"; what is not committed is
// removed. Not thread-safe.
#pragma once

#include "lib/files/OutputTarget.h"
#include "lib/files/UnfinishedFile.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::files {

class OutputFile {
public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  // "-" and /dev/stdout are standard output; pipes and devices are written as they are, and have
  // nothing to be committed. A pipe without a reader is given up after 5 seconds. A new file has
  // the mode of the one that it replaces, and its owner where that is allowed.
  [[nodiscard]] std::string open(const std::string &path);
  [[nodiscard]] std::string write(std::string_view bytes);
  // Nothing can be written afterwards.
  [[nodiscard]] std::string finish();
  [[nodiscard]] std::string commit();

  // Whether standard output is the same: what else is printed there would come between.
  bool isStandardOutput() const { return isStandardOutput_; }
  // Whether both are the same file, or will be.
  bool isSameFile(const OutputFile &other) const;
  bool isOpen() const { return descriptor_ >= 0; }

private:
  std::string fail(const std::string &reason);
  std::string fail(int error);
  std::string openStream();
  int flush();
  void closeStream();

  std::string path_, wrong_, buffer_;
  OutputTarget target_;
  UnfinishedFile file_;
  int descriptor_ = -1; // the file's, or a stream's own
  bool finished_ = false, isStandardOutput_ = false;
};

// Opens what a command writes, each at its path; empty paths are passed over. One file for two
// outputs is refused.
[[nodiscard]] std::string
openTogether(std::initializer_list<std::pair<std::string, OutputFile *>> outputs);

// All are on the disk before any is seen. Those that were not opened are passed over.
[[nodiscard]] std::string commitTogether(std::initializer_list<OutputFile *> files);

} // namespace tessera::files
