// A program file that has been checked and is ready to run: what a .tsr becomes.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/program/DeviceProgram.h"
#include "runtime/program/Launches.h"
#include "runtime/program/SharedObject.h"
#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime {

// What a device's driver compiles, or takes as it is.
struct DeviceText {
  std::string architecture; // "sm_80"
  std::string text;         // PTX, or machine code
  std::vector<KernelLaunch> launches;
  bool isCubin = false;
  bool asksForLibrary = false; // for products of matrices
};

// Immutable; shared by the sessions that run it.
class LoadedProgram {
public:
  // Checks everything before any code is opened. `owner` keeps `file` alive. Kernels are looked up
  // by `symbols` when given (tests link theirs in), in the best image of code otherwise.
  static Result<std::shared_ptr<const LoadedProgram>> load(std::string_view file,
                                                           std::shared_ptr<const void> owner,
                                                           const SymbolResolver &symbols = nullptr);
  // With a `digest`, no other file than the one with this SHA-256 is opened.
  static Result<std::shared_ptr<const LoadedProgram>> loadFile(const std::string &path,
                                                               std::string_view digest = {});
  // To be looked at only: everything is checked but the code, which is not opened. Machines that
  // cannot run the program can do so.
  static Result<std::shared_ptr<const LoadedProgram>> inspect(std::string_view file,
                                                              std::shared_ptr<const void> owner);
  // `digest`: set to the file's SHA-256.
  static Result<std::shared_ptr<const LoadedProgram>> inspectFile(const std::string &path,
                                                                  std::string &digest);

  // Not OK where it is there to be looked at only.
  Status executable() const;

  const program::File &manifest() const { return manifest_; }
  // At least one. Their meshes divide devices 0 to deviceCount() - 1 among them.
  const std::vector<DeviceProgram> &programs() const { return programs_; }
  int64_t deviceCount() const { return deviceCount_; }
  const DeviceProgram &programOf(int64_t device) const;
  const std::vector<Route> &channels() const { return channels_; }
  const std::vector<KernelEntry> &kernels() const { return kernels_; }
  // What it was compiled for: "cpu", "shadow", "cuda".
  const std::string &target() const { return target_; }
  // The processor that the image of code which is taken was made for; "" without code. Of a GPU that of the image
  // whose launches are read: its back end chooses the text.
  const std::string &cpu() const { return cpu_; }

  // For devices that compile for themselves: one text for each architecture, newest first, and machine
  // code.
  const std::vector<DeviceText> &deviceCode() const { return deviceCode_; }

  // What the caller gives and gets: the parameters of all programs, in their order.
  struct Place {
    const DeviceProgram *program;
    uint32_t index; // among the program's inputs or outputs
    const program::Parameter *parameter;
    int64_t alias = -1; // output: the file's input whose buffer it takes; none below 0
  };
  const std::vector<Place> &inputs() const { return inputs_; }
  const std::vector<Place> &outputs() const { return outputs_; }

  // Of every byte of the file, by the checksums in it: whether two ranks have the same program.
  uint64_t fingerprint() const { return fingerprint_; }
  // The source location that an instruction carries, or "an unknown place".
  std::string location(uint32_t index) const;

private:
  LoadedProgram() = default;

  struct Sections;
  Status readManifest(std::string_view bytes);
  Status decodePrograms(const program::CodeImage *image);
  Status openCode(const Sections &sections, const program::CodeImage *image,
                  const SymbolResolver &symbols);
  Status readDeviceCode(const Sections &sections);
  static Result<std::shared_ptr<LoadedProgram>> read(std::string_view file, Sections &sections);
  Status readPrograms();
  Status readConstants(std::string_view section, std::shared_ptr<const void> owner);
  Status listParameters();

  program::File manifest_;
  std::vector<DeviceProgram> programs_;
  std::vector<std::pair<int64_t, uint32_t>> owners_; // (first device of a range, program), in order
  int64_t deviceCount_ = 0;
  std::vector<Route> channels_;
  std::vector<KernelEntry> kernels_;
  std::vector<Place> inputs_, outputs_;
  std::string target_ = "cpu", cpu_;
  bool isInspected_ = false;
  std::shared_ptr<SharedObject> code_;
  std::vector<DeviceText> deviceCode_;
  std::shared_ptr<const void> owner_; // of the constants
  uint64_t fingerprint_ = 0;
};

std::vector<const program::Parameter *>
parametersOf(const std::vector<LoadedProgram::Place> &places);

} // namespace tessera::runtime
