// Which outputs of a step are the next one's inputs.
#include "runtime/array/CarriedState.h"
#include <deque>
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

class CarriedStateTest : public testing::Test {
protected:
  static const program::Parameter *add(std::deque<program::Parameter> &list,
                                       const std::string &name, int64_t size, bool donated) {
    program::Parameter &parameter = list.emplace_back();
    parameter.set_name(name);
    parameter.set_type(program::F32);
    parameter.add_global_shape(size);
    parameter.add_layout()->set_tile(size);
    parameter.set_donated(donated);
    return &parameter;
  }
  void input(const std::string &name, int64_t size = 4, bool donated = true) {
    signature.inputs.push_back(add(parameters, name, size, donated));
  }
  void output(const std::string &name, int64_t size = 4, int64_t alias = -1) {
    signature.outputs.push_back(add(parameters, name, size, false));
    signature.alias.push_back(alias);
  }

  // "result[0]->state: 0>0 1>1"
  static std::string text(const Result<std::vector<CarriedTree>> &result) {
    if (!result.ok())
      return result.status().message();
    std::string text;
    for (const CarriedTree &tree : *result) {
      text += (text.empty() ? "" : "; ") + tree.from + "->" + tree.to + ":";
      for (const Carried &leaf : tree.leaves)
        text += " " + std::to_string(leaf.output) + ">" + std::to_string(leaf.input);
    }
    return text;
  }
  std::string found() const { return text(findCarried(signature)); }
  std::string read(const std::string &list) const { return text(readCarried(list, signature)); }

  std::deque<program::Parameter> parameters;
  Signature signature;
};

// Leaves go by their way, not by their order: JAX sorts dictionaries, and drops arguments that are
// not used.
TEST_F(CarriedStateTest, TreesByTheirLeaves) {
  input("state.params['b']");
  input("state.params['w']", 8);
  input("batch['x']");
  output("result[1]", 1);
  output("result[0].params['unused']");
  output("result[0].params['w']", 8);
  output("result[0].params['b']");
  EXPECT_EQ(found(), "result[0]->state: 3>0 2>1");
}

TEST_F(CarriedStateTest, TheWholeResult) {
  input("state['w']");
  output("result['w']");
  EXPECT_EQ(found(), "result->state: 0>0");
}

// Moments have the leaves of the parameters, and their types: names tell them apart, and depth.
TEST_F(CarriedStateTest, ThingsThatLookAlike) {
  input("params['w']");
  input("opt[0].mu['w']");
  input("opt[0].nu['w']");
  output("result[0]['w']");
  output("result[1][0].mu['w']");
  output("result[1][0].nu['w']");
  EXPECT_EQ(found(), "result[0]->params: 0>0; result[1]->opt: 1>1 2>2");
}

TEST_F(CarriedStateTest, TheOneOfItsName) {
  input("params['w']");
  input("ema['w']");
  input("key", 2);
  output("result['ema']['w']");
  output("result['params']['w']");
  output("result['key']", 2);
  EXPECT_EQ(found(),
            "result['params']->params: 1>0; result['ema']->ema: 0>1; result['key']->key: 2>2");
}

// An autoencoder's x.
TEST_F(CarriedStateTest, ANameDeepAmongTheOutputsIsNotEnough) {
  input("state['w']");
  input("x", 8, false);
  output("result[0]['w']");
  output("result[1]['x']", 8);
  EXPECT_EQ(found(), "result[0]->state: 0>0");
}

TEST_F(CarriedStateTest, WhatCouldBeOneOrTheOtherIsAnError) {
  input("params['w']");
  input("ema['w']");
  output("result[0]['w']");
  output("result[1]['w']");
  EXPECT_EQ(found(), "argument params could go on from result[0] or result[1]; say from which: "
                     "--carry='result[0]:params,..'");
  EXPECT_EQ(read("result[1]:params,result[0]:ema"), "result[1]->params: 1>0; result[0]->ema: 0>1");
}

// A target network has the structure of the one that is trained.
TEST_F(CarriedStateTest, OfTwoThatCouldTheDonatedOneDoes) {
  input("target['w']", 4, false);
  input("params['w']");
  output("result[0]['w']");
  EXPECT_EQ(found(), "result[0]->params: 0>1");
  signature.inputs[0] = signature.inputs[1];
  input("other['w']");
  EXPECT_EQ(found(), "both params and other could go on from result[0]; say which does: "
                     "--carry='result[0]:..'");
}

// Of single arrays the donated buffer tells, where types and shapes leave no choice: JAX gives it
// to the first output that fits.
TEST_F(CarriedStateTest, SingleArraysByTheirBuffer) {
  input("w", 4);
  input("b", 2);
  input("x", 3, false);
  output("result[0]", 4, 0);
  output("result[1]", 2, 1);
  output("result[2]", 3);
  EXPECT_EQ(found(), "result[0]->w: 0>0; result[1]->b: 1>1");
  output("result[3]", 4);
  EXPECT_EQ(found(), "argument w could go on from result[0] or result[3]; say from which: "
                     "--carry='result[0]:w,..'");
}

TEST_F(CarriedStateTest, NothingGoesOn) {
  input("w", 4, false);
  output("result", 4);
  EXPECT_EQ(found().substr(0, 33), "no output goes on as an input: no");
}

TEST_F(CarriedStateTest, ListsOfNumbersNamesAndTrees) {
  input("a['x,y:z']");
  input("b");
  output("result[0]");
  output("result[1]", 8);
  output("result[10]");
  EXPECT_EQ(read("out0:in1,result[10]:a['x,y:z']"), "out0->in1: 0>1; result[10]->a['x,y:z']: 2>0");
  EXPECT_EQ(read("out0"), "--carry takes pairs OUT:IN, not 'out0'");
  EXPECT_EQ(read("out1:b"), "--carry=out1:b: output 'result[1]' is f32[8], input 'b' is f32[4]");
  EXPECT_EQ(read("out0:b,out2:b"), "--carry gives the input 'b' two outputs");
  EXPECT_EQ(read("result[2]:b"),
            "--carry=result[2]:b: there is no output 'result[2]': the program gives out0 "
            "('result[0]') f32[4], out1 ('result[1]') f32[8], out2 ('result[10]') f32[4]");
  EXPECT_EQ(read("out0:a['x']").substr(0, 54),
            "--carry=out0:a['x']: there is no input 'a['x']': the p");
}

} // namespace
} // namespace tessera::runtime
