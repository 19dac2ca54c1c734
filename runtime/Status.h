// Errors as values: a code and a message for the person at the other end. Nothing in the runtime
// throws.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tessera::runtime {

// The values are those of tessera_code in c_api.h.
enum class Code {
  Ok = 0,
  InvalidArgument = 1, // what the caller gave does not fit: shapes, types, names, options
  InvalidProgram = 2,  // the .tsr is damaged, of another version, or for another machine
  Io = 3,              // a file cannot be read or written
  Failed = 4,          // a device failed while running
  Cancelled = 5,       // the run was given up by its caller
  Unsupported = 6,     // this build or machine cannot do it
  DeadlineExceeded = 7, // a step took longer than its limit
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  bool ok() const { return code_ == Code::Ok; }
  Code code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  Code code_ = Code::Ok;
  std::string message_;
};

inline Status invalidArgument(std::string message) {
  return {Code::InvalidArgument, std::move(message)};
}
inline Status invalidProgram(std::string message) {
  return {Code::InvalidProgram, std::move(message)};
}

// A value or the reason why there is none.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace tessera::runtime
