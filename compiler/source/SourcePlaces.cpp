#include "compiler/source/SourcePlaces.h"

#include "dialects/tessera/Marks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera {

using namespace mlir;

namespace {

std::string joined(std::string outer, llvm::StringRef inner) {
  if (inner.empty() || outer.empty())
    return outer + inner.str();
  return outer + "/" + inner.str();
}

// Names on the way down are scopes until a stack begins: then they are functions.
//   "jit(f)/sin"(callsite("g"("file":3) at "f"("file":9)))
void read(Location location, bool inScope, SourcePlace &place) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (auto name = dyn_cast_or_null<ValueNameAttr>(fused.getMetadata()))
      place.name = joined(place.name, name.getName()); // of a call, then inside of it
    if (auto number = dyn_cast_or_null<OpNumberAttr>(fused.getMetadata())) {
      bool early = number.getAfter() == NumberedAfter::Reading;
      int32_t &slot = early ? place.read : place.number;
      if (slot < 0)
        slot = number.getNumber();
    }
    size_t frames = place.frames.size(), scope = place.scope.size();
    for (Location part : fused.getLocations()) // where several were merged, the first speaks
      if (place.frames.size() == frames && place.scope.size() == scope)
        read(part, inScope, place);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    StringRef text = name.getName().getValue();
    bool own = !inScope && !text.ends_with(":"); // "jit:" is a kind of location, not a name
    if (own)
      place.scope = joined(place.scope, text);
    if (auto file = dyn_cast<FileLineColLoc>(name.getChildLoc()); file && inScope)
      place.frames.push_back({text.str(), file.getFilename().str(), file.getLine()});
    else
      read(name.getChildLoc(), inScope || own, place);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    read(call.getCaller(), inScope, place);
    int32_t caller = std::exchange(place.read, -1); // what is called has a number of its own
    read(call.getCallee(), inScope, place);
    place.read = place.read < 0 ? caller : place.read;
  } else if (auto file = dyn_cast<FileLineColLoc>(location)) {
    place.frames.push_back({"", file.getFilename().str(), file.getLine()});
  }
}

} // namespace

SourcePlace placeOf(Location location) {
  SourcePlace place;
  read(location, /*inScope=*/false, place);
  return place;
}

std::string stackText(llvm::ArrayRef<explain::Frame> frames) {
  std::string text;
  for (const explain::Frame &frame : llvm::reverse(frames))
    text += (text.empty() ? "" : " from ") + frame.file + ":" + std::to_string(frame.line);
  return text;
}

std::string argumentName(const SourcePlace &place, unsigned index) {
  if (!place.scope.empty())
    return place.scope;
  return place.name.empty() ? "%arg" + std::to_string(index) : place.name;
}

void setNumber(Operation *op, NumberedAfter after, int32_t number) {
  MLIRContext *context = op->getContext();
  op->setLoc(FusedLoc::get(context, {op->getLoc()}, OpNumberAttr::get(context, number, after)));
}

std::string printedAsRead(ModuleOp module) {
  AttrTypeReplacer notes;
  notes.addReplacement([](FusedLoc location) {
    LocationAttr inner = location; // of what is numbered twice, below both
    for (FusedLoc note = location;
         note && isa_and_nonnull<ValueNameAttr, OpNumberAttr>(note.getMetadata());
         note = dyn_cast<FusedLoc>(inner))
      inner = note.getLocations().front();
    return inner;
  });
  notes.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
  setTopology(module, {});
  setSchedule(module, {});
  // Of a module that import has rewritten; import says it again.
  setTarget(module, {});
  module.walk([](Operation *op) {
    if (getTripCount(op))
      setTripCount(op, std::nullopt);
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    sdy::SignatureAttributes signature(function);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (getGivenShape(signature.ofArgument(i)))
        dropGivenShape(signature, i);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream,
               OpPrintingFlags().assumeVerified().enableDebugInfo(true, /*prettyForm=*/false));
  stream << "\n";
  return text;
}

Location named(Location location, StringRef name) {
  MLIRContext *context = location.getContext();
  return FusedLoc::get(context, {location}, ValueNameAttr::get(context, name));
}

} // namespace tessera
