// Well-known machines are topologies that compiler and IR take.
#include "lib/machines/Machines.h"
#include "compiler/Registration.h"
#include "compiler/source/TopologyFile.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "lib/cost/TopologyText.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace tessera {
namespace {

class MachinesTest : public testing::Test {
protected:
  MachinesTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<TesseraDialect>();
  }

  cost::Topology read(llvm::StringRef nameOrText) {
    llvm::Expected<TopologyAttr> topology = parseTopologyFile(&context, nameOrText);
    EXPECT_TRUE(bool(topology)) << nameOrText.str();
    return topology ? topology->toTopology() : cost::Topology();
  }

  mlir::MLIRContext context;
};

TEST_F(MachinesTest, AllAreRead) {
  for (const machines::Machine &machine : machines::all()) {
    EXPECT_EQ(read(machine.name).name, machine.name);
    EXPECT_TRUE(machines::isName(machine.name));
  }
  EXPECT_FALSE(machines::isName("./h100"));
  EXPECT_FALSE(machines::isName(""));
}

// An error names the machines where a word may have been meant as one.
TEST_F(MachinesTest, AWordIsHelped) {
  EXPECT_EQ(machines::orMachine("a101").find("; machines are host, a100, h100"), 0u);
  EXPECT_EQ(machines::orMachine("./a101"), "");
  EXPECT_EQ(machines::orMachine("pod.json"), "");
}

TEST_F(MachinesTest, TheDefaultIsHost) {
  cost::Topology host = read("host");
  host.about = "";
  EXPECT_EQ(cost::topologyText(host), cost::topologyText(cost::defaultTopology()));
}

// Within a host a gigabyte takes as long as NVLink needs for it; among hosts, InfiniBand the eighth.
TEST_F(MachinesTest, HostsOfH100) {
  cost::Topology h100 = read("h100");
  sharding::Mesh mesh{"mesh", {{"data", 4}, {"model", 8}}, {}};
  sharding::AxisRef data{0, 1, 4}, model{1, 1, 8};
  double bytes = 1e9;
  auto seconds = [&](llvm::ArrayRef<sharding::AxisRef> axes) {
    return cost::collectiveSeconds(h100, mesh, cost::CollectiveKind::AllGather, bytes, axes);
  };
  EXPECT_NEAR(seconds(model), 7.0 / 8 * bytes / 4.5e11, 1e-5);
  EXPECT_NEAR(seconds(data), 3.0 / 4 * bytes / 5e10, 1e-4);
  EXPECT_NEAR(seconds({data, model}), 7.0 / 8 * bytes / 4.5e11 + 3.0 / 4 * bytes / 8 / 5e10, 1e-4);
  EXPECT_EQ(h100.deviceBytes(), 80'000'000'000);
}

// Others see of a GPU how fast it computes, and how fast its memory is.
TEST_F(MachinesTest, OnlyProgramsForGpusKnowItsProcessors) {
  mlir::Location here = mlir::UnknownLoc::get(&context);
  for (auto [target, processors] : {std::pair("cpu", 0), std::pair("cuda", 132)}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(here);
    setTopology(*module, llvm::cantFail(parseTopologyFile(&context, "h100")));
    EXPECT_EQ(topologyOf(*module).device.processors, 0);
    ASSERT_TRUE(succeeded(ensureTarget(*module, target)));
    EXPECT_EQ(topologyOf(*module).device.processors, processors) << target;
  }
}

// What is written is read again as the same.
TEST_F(MachinesTest, TextIsRead) {
  for (const machines::Machine &machine : machines::all()) {
    std::string text = cost::topologyText(read(machine.name));
    EXPECT_EQ(cost::topologyText(read(text)), text);
  }
}

} // namespace
} // namespace tessera
