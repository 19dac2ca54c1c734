// The compiler's library, which is opened when something is compiled: MLIR and LLVM come with it.
#include "Program.h"
#include "tessera/compiler_api.h"
#include <dlfcn.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>

namespace tessera::python {

namespace {

struct Library {
  void *handle = nullptr;

  template <class F> F *find(F *, const char *name) const {
    return reinterpret_cast<F *>(dlsym(handle, name));
  }
};
#define TESSERA_FIND(library, function)                                                            \
  (library).find(static_cast<decltype(&function)>(nullptr), #function)

Library &library() {
  static Library opened;
  return opened;
}

// "" or why it can't be opened.
std::string openCompiler(const std::string &path) {
  if (library().handle)
    return "";
  nb::gil_scoped_release unlocked;
  void *handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return dlerror();
  library().handle = handle;
  return "";
}

struct Options {
  std::string name, entry, target, targetCpu;
  std::optional<std::string> topology, topologyName, inputShapes;
  std::string overlap;
  std::optional<std::string> memory;
  bool plan;
  int64_t devices;
  std::optional<std::string> mesh;
  int effort;

  tessera_compile_options raw(std::vector<std::string> &warnings) const {
    tessera_compile_options options{};
    options.struct_size = sizeof options;
    options.name = name.c_str();
    options.entry = entry.c_str();
    options.target = target.c_str();
    options.target_cpu = targetCpu.c_str();
    options.topology = topology ? topology->c_str() : nullptr;
    options.topology_name = topologyName ? topologyName->c_str() : nullptr;
    options.input_shapes = inputShapes ? inputShapes->c_str() : nullptr;
    options.overlap = overlap.c_str();
    options.memory = memory ? memory->c_str() : nullptr;
    options.plan = plan;
    options.devices = devices;
    options.mesh = mesh ? mesh->c_str() : nullptr;
    options.effort = effort;
    options.diagnostic = [](void *user, const char *line) {
      static_cast<std::vector<std::string> *>(user)->push_back(line);
    };
    options.user = &warnings;
    return options;
  }
};

nb::bytes bytesOf(const void *data, size_t size) { return nb::bytes(data, size); }

// (error or None, program, report, warnings)
nb::tuple compile(nb::bytes module, const Options &options) {
  auto run = TESSERA_FIND(library(), tessera_compile);
  auto free = TESSERA_FIND(library(), tessera_compiled_free);
  auto errorOf = TESSERA_FIND(library(), tessera_compiled_error);
  auto programOf = TESSERA_FIND(library(), tessera_compiled_program);
  auto reportOf = TESSERA_FIND(library(), tessera_compiled_report);
  std::vector<std::string> warnings;
  tessera_compile_options raw = options.raw(warnings);
  std::unique_ptr<tessera_compiled, void (*)(tessera_compiled *)> compiled(nullptr, free);
  {
    nb::gil_scoped_release unlocked;
    compiled.reset(run(module.c_str(), module.size(), &raw));
  }
  const char *error = errorOf(compiled.get());
  if (error)
    return nb::make_tuple(error, nb::bytes("", 0), "", warnings);
  size_t size = 0;
  const void *data = programOf(compiled.get(), &size);
  return nb::make_tuple(nb::none(), bytesOf(data, size), reportOf(compiled.get()), warnings);
}

// (error or None, module, report, text, warnings)
nb::tuple plan(nb::bytes module, const Options &options) {
  auto run = TESSERA_FIND(library(), tessera_plan);
  auto free = TESSERA_FIND(library(), tessera_planned_free);
  std::vector<std::string> warnings;
  tessera_compile_options raw = options.raw(warnings);
  std::unique_ptr<tessera_planned, void (*)(tessera_planned *)> planned(nullptr, free);
  {
    nb::gil_scoped_release unlocked;
    planned.reset(run(module.c_str(), module.size(), &raw));
  }
  if (const char *error = TESSERA_FIND(library(), tessera_planned_error)(planned.get()))
    return nb::make_tuple(error, "", "", "", warnings);
  return nb::make_tuple(nb::none(), TESSERA_FIND(library(), tessera_planned_program)(planned.get()),
                        TESSERA_FIND(library(), tessera_planned_report)(planned.get()),
                        TESSERA_FIND(library(), tessera_planned_text)(planned.get()), warnings);
}

class Explanation {
public:
  Explanation(nb::bytes module, const Options &options, bool mends, bool frontier)
      : raw_(nullptr, TESSERA_FIND(library(), tessera_explanation_free)) {
    auto run = TESSERA_FIND(library(), tessera_explain);
    tessera_compile_options raw = options.raw(warnings);
    raw.no_mends = !mends;
    raw.frontier = frontier;
    nb::gil_scoped_release unlocked;
    raw_.reset(run(module.c_str(), module.size(), &raw));
  }
  const char *error() const {
    return TESSERA_FIND(library(), tessera_explanation_error)(raw_.get());
  }
  const char *text() { return TESSERA_FIND(library(), tessera_explanation_text)(raw_.get()); }
  const char *html() { return TESSERA_FIND(library(), tessera_explanation_html)(raw_.get()); }
  const char *memory() { return TESSERA_FIND(library(), tessera_explanation_memory)(raw_.get()); }
  const char *value(const std::string &name) {
    return TESSERA_FIND(library(), tessera_explanation_value)(raw_.get(), name.c_str());
  }
  const char *line(const std::string &file, int64_t line) {
    return TESSERA_FIND(library(), tessera_explanation_line)(raw_.get(), file.c_str(), line);
  }
  std::vector<std::string> warnings;

private:
  std::unique_ptr<tessera_explanation, void (*)(tessera_explanation *)> raw_;
};

} // namespace

void bindCompiler(nb::module_ &m) {
  m.attr("COMPILER_LIBRARY") = COMPILER_LIBRARY;
  m.def("open_compiler", &openCompiler, nb::arg("path"));
  nb::class_<Options>(m, "CompileOptions")
      .def(
          "__init__",
          [](Options *self, std::string name, std::string entry, std::string target,
             std::string targetCpu, std::optional<std::string> topology,
             std::optional<std::string> topologyName, std::optional<std::string> inputShapes,
             std::string overlap, std::optional<std::string> memory, bool plan, int64_t devices,
             std::optional<std::string> mesh, int effort) {
            new (self)
                Options{name,    entry,  target, targetCpu, topology, topologyName, inputShapes,
                        overlap, memory, plan,   devices,   mesh,     effort};
          },
          nb::arg("name"), nb::arg("entry"), nb::arg("target"), nb::arg("target_cpu"),
          nb::arg("topology").none(), nb::arg("topology_name").none(),
          nb::arg("input_shapes").none(), nb::arg("overlap"), nb::arg("memory").none(),
          nb::arg("plan"), nb::arg("devices"), nb::arg("mesh").none(), nb::arg("effort"));
  m.def("plan", &plan, nb::arg("module"), nb::arg("options"));
  m.def("compile", &compile, nb::arg("module"), nb::arg("options"));
  nb::class_<Explanation>(m, "Explanation")
      .def(nb::init<nb::bytes, const Options &, bool, bool>(), nb::arg("module"),
           nb::arg("options"), nb::arg("mends"), nb::arg("frontier"))
      .def_prop_ro("error", &Explanation::error)
      .def_ro("warnings", &Explanation::warnings)
      .def("text", &Explanation::text)
      .def("html", &Explanation::html)
      .def("memory", &Explanation::memory)
      .def("value", &Explanation::value, nb::arg("name"))
      .def("line", &Explanation::line, nb::arg("file"), nb::arg("line"));
}

} // namespace tessera::python
