#include "compiler/mends/Sites.h"

#include "compiler/mends/Change.h"
#include "compiler/source/SourcePlaces.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::mends {

using namespace mlir;

bool isSource(ArrayRef<explain::Frame> frames) {
  const explain::Frame *frame = explain::userFrame(frames);
  return frame && !StringRef(frame->file).ends_with(".mlir");
}

static std::string structureOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName() << op->getOperandTypes() << op->getResultTypes();
  for (Value operand : op->getOperands())
    if (Operation *made = operand.getDefiningOp())
      stream << made->getName();
  return text;
}

Sites::Sites(ModuleOp program) {
  for (Operation *op : numberedOps(program)) {
    std::vector<explain::Frame> frames = placeOf(op->getLoc()).frames;
    bool known = isSource(frames);
    std::string structure = known ? "" : structureOf(op);
    stacks.push_back(known ? stackText(frames) : structure);
    lines.push_back(known ? explain::placeText(frames) : structure);
  }
}

std::string Sites::of(StringRef kind, StringRef axes, Location location) const {
  SourcePlace place = placeOf(location);
  std::string text = (kind + "|" + axes + "|").str();
  if (place.read >= 0 && size_t(place.read) < lines.size())
    return text + lines[place.read];
  std::string line = explain::placeText(place.frames);
  return text + (line.empty() ? place.name : line);
}

} // namespace tessera::mends
