// Places in the user's source, from call stacks.
#include "compiler/explanation/Explanation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace tessera::explain {

static bool isInstalled(llvm::StringRef file) {
  for (llvm::StringRef part : {"site-packages/", "dist-packages/", "/lib/python", "<frozen"})
    if (file.contains(part))
      return true;
  return false;
}

const Frame *userFrame(llvm::ArrayRef<Frame> frames) {
  for (const Frame &frame : llvm::reverse(frames))
    if (!frame.file.empty() && !isInstalled(frame.file))
      return &frame;
  return frames.empty() || frames.back().file.empty() ? nullptr : &frames.back();
}

std::string whereText(llvm::ArrayRef<Frame> frames) {
  const Frame *frame = userFrame(frames);
  if (!frame)
    return "";
  std::string text = frame->file + ":" + std::to_string(frame->line);
  llvm::StringRef function = frame->function; // "outer.<locals>.inner"
  if (size_t locals = function.rfind("<locals>."); locals != llvm::StringRef::npos)
    function = function.drop_front(locals + 9);
  if (!function.empty())
    text += (llvm::Twine(" in ") + function).str();
  // A function that only wraps another is told apart by who calls it.
  const Frame *around = frame == frames.begin() ? nullptr : frame - 1;
  if (around && !around->file.empty() && !isInstalled(around->file) &&
      (around->file != frame->file || around->line != frame->line))
    text += ", called at " + around->file + ":" + std::to_string(around->line);
  return text;
}

std::string placeText(llvm::ArrayRef<Frame> frames) {
  const Frame *frame = userFrame(frames);
  return frame ? frame->file + ":" + std::to_string(frame->line) : "";
}

std::string placeOf(const Value &value) { return placeText(value.frames); }

} // namespace tessera::explain
