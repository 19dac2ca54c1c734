// The sites of a program: where something is started that goes on beside the instructions.
#pragma once

#include "include/tessera/program.pb.h"
#include <cstdint>
#include <string>
#include <unordered_map>

namespace tessera::runtime {

// Waits may come before their start in the order of the text (loops), so sites are numbered before
// anything is decoded. A site belongs to one body: the program's, or one of its functions'.
class Sites {
public:
  enum Kind : uint8_t { Collective, Transfer, Copy }; // Transfer: a send or a receive
  struct Site {
    uint32_t number; // dense, among those of its kind
    Kind kind;
    uint32_t body; // 0: the program's; 1 + number of the function
  };
  // What is wrong, or "". Sends, receives and copies are waited for in the same block or around it:
  // what they work on is not the next step's. So is all that a function starts, which may be called
  // again at once with other buffers.
  std::string read(const program::Program &program);

  const Site *find(uint32_t site) const {
    auto it = sites_.find(site);
    return it == sites_.end() ? nullptr : &it->second;
  }
  uint32_t count(Kind kind) const { return counts_[kind]; }

private:
  using Body = google::protobuf::RepeatedPtrField<program::Instruction>;
  struct Open; // what a block has started and not waited for

  std::string readBody(const Body &body, uint32_t number, Open &open);
  std::string add(uint32_t site, Kind kind, uint32_t body);

  std::unordered_map<uint32_t, Site> sites_;
  uint32_t counts_[3] = {};
};

} // namespace tessera::runtime
