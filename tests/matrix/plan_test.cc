// From axes to cells: designs, references, and what cannot happen.
#include "matrix/plan.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "matrix/plan_file.h"
#include "tests/matrix/matrix_support.h"

using namespace isobit;
using namespace isobit::testing;

using Names = std::vector<std::string>;

TEST_CASE("without axes there is one cell, the reference") {
  const Plan plan = make_plan({});
  CHECK(names(plan) == Names{"reference"});
  CHECK(plan.cells[0].is_reference());
  CHECK(plan.order == std::vector<int32_t>{0});
}

TEST_CASE("a grid has every combination, and each is compared with the reference") {
  const Plan plan = grid({"load.concurrency=1,8,32", "engine.chunked_prefill=off,16,64"},
                         {"engine.kernel_set=cpu"});
  CHECK(names(plan) == Names{"reference", "engine.chunked_prefill=16", "engine.chunked_prefill=64",
                             "load.concurrency=8", "load.concurrency=8,engine.chunked_prefill=16",
                             "load.concurrency=8,engine.chunked_prefill=64", "load.concurrency=32",
                             "load.concurrency=32,engine.chunked_prefill=16",
                             "load.concurrency=32,engine.chunked_prefill=64"});
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    CHECK(plan.cells[i].index == static_cast<int32_t>(i));
    CHECK(plan.cells[i].reference_index == 0);
    CHECK(plan.cells[i].values.size() == 3);
    CHECK(plan.cells[i].values.at("engine.kernel_set") == "cpu");
  }
}

TEST_CASE("the reference cell is added where the listed values leave it out") {
  const Plan plan = grid({"load.concurrency=8", "engine.chunked_prefill=16"});
  CHECK(names(plan) == Names{"reference", "load.concurrency=8,engine.chunked_prefill=16"});
  CHECK(plan.cells[0].values ==
        AxisValues{{"load.concurrency", "1"}, {"engine.chunked_prefill", "off"}});
}

TEST_CASE("each combination of identity values has a reference cell of its own") {
  const Plan plan = grid(
      {"load.concurrency=1,8", "engine.kernel_set=cpu-adaptive,reference", "output.length=16,64"});
  CHECK(plan.cells.size() == 8);
  int n_references = 0;
  for (const CellRecord& cell : plan.cells) {
    const CellRecord& reference = plan.cells[static_cast<size_t>(cell.reference_index)];
    CHECK(reference.is_reference());
    CHECK(reference.values.at("load.concurrency") == "1");
    CHECK(reference.values.at("engine.kernel_set") == cell.values.at("engine.kernel_set"));
    CHECK(reference.values.at("output.length") == cell.values.at("output.length"));
    n_references += cell.is_reference();
    CHECK(cell.values.at("engine.kernel_set") != "cpu");  // its default was not asked for
  }
  CHECK(n_references == 4);
}

TEST_CASE("one at a time varies each axis alone, inside each identity value") {
  const Plan plan = one_at_a_time({"load.concurrency=1,8,32", "engine.chunked_prefill=off,16",
                                   "engine.kernel_set=cpu,cpu-adaptive"});
  CHECK(names(plan) == Names{"reference", "load.concurrency=8", "load.concurrency=32",
                             "engine.chunked_prefill=16", "engine.kernel_set=cpu-adaptive",
                             "load.concurrency=8,engine.kernel_set=cpu-adaptive",
                             "load.concurrency=32,engine.kernel_set=cpu-adaptive",
                             "engine.chunked_prefill=16,engine.kernel_set=cpu-adaptive"});
  CHECK(plan.cells[7].reference_index == 4);
}

TEST_CASE("one at a time, an axis that needs company varies at the largest concurrency") {
  const Plan plan = one_at_a_time(
      {"load.concurrency=1,8,32", "load.position=first,last", "load.neighbours=same,longer"});
  CHECK(names(plan) == Names{"reference", "load.concurrency=8", "load.concurrency=32",
                             "load.concurrency=32,load.position=last",
                             "load.concurrency=32,load.neighbours=longer"});
  CHECK(plan.left_out.empty());
  const Plan set = one_at_a_time({"load.position=first,last"}, {"load.concurrency=4"});
  CHECK(names(set) == Names{"reference", "load.position=last"});
}

TEST_CASE("cells are named by what they change, not by what all of them were given") {
  const Plan plan = grid({"load.concurrency=8,1", "engine.kernel_set=cpu-adaptive,reference"},
                         {"load.concurrency=8", "engine.threads=1"});
  CHECK(names(plan) == Names{"reference", "load.concurrency=1", "engine.kernel_set=reference",
                             "load.concurrency=1,engine.kernel_set=reference"});
}

TEST_CASE("a stored plan whose cells are named beside the defaults still gives those cells") {
  const PlanSpec spec =
      spec_of({"engine.chunked_prefill=off,16"}, {"engine.kernel_set=cpu-adaptive"});
  const Plan older = make_plan(spec, CellNaming::kBesideDefaults);
  CHECK(names(older) == Names{"engine.kernel_set=cpu-adaptive",
                              "engine.chunked_prefill=16,engine.kernel_set=cpu-adaptive"});
  for (const Plan& plan : {older, make_plan(spec)}) {
    const Plan back = plan_from_json(canonical_json(plan_to_json(plan)), "the run");
    CHECK(names(back) == names(plan));
    CHECK(back.order == plan.order);
  }
  Json stored = plan_to_json(older);
  stored["cells"][1]["name"] = "engine.chunked_prefill=16";  // one name of either rule
  CHECK_THROWS_WITH_AS(plan_from_json(stored.dump(), "the run"),
                       doctest::Contains("other cells than were stored"), Error);
}

TEST_CASE("in a grid, combinations that cannot happen are left out with the reason") {
  const Plan plan = grid({"load.concurrency=1,8", "load.position=first,last"});
  CHECK(names(plan) ==
        Names{"reference", "load.concurrency=8", "load.concurrency=8,load.position=last"});
  REQUIRE(plan.left_out.size() == 1);
  CHECK(plan.left_out[0].name == "load.position=last");
  CHECK(plan.left_out[0].reason.find("runs alone") != std::string::npos);
  CHECK(
      grid({"load.concurrency=8", "load.batch_shape=uniform,needle", "load.neighbours=same,longer"})
          .left_out.size() == 1);
  CHECK(grid({"prompt.length=short", "load.concurrency=8"}).left_out.empty());
}

TEST_CASE("a plan of nothing but impossible cells is refused") {
  CHECK(error_of([] { one_at_a_time({"load.position=last"}); }).hint().find("load.concurrency=8") !=
        std::string::npos);
  CHECK(error_of([] { grid({"load.neighbours=longer"}); }).code() == ErrorCode::usage);
  CHECK(error_of([] { grid({"load.concurrency=1,8"}, {"load.position=last"}); })
            .message()
            .find("reference cell") != std::string::npos);
  CHECK(error_of([] {
          grid({"prompt.length=near-limit", "output.length=long"});
        }).code() == ErrorCode::usage);
}

TEST_CASE("the order is a permutation within each group, set by the seed") {
  PlanSpec spec = spec_of({"load.concurrency=1,2,3,4,5,6,7,8", "engine.kernel_set=cpu,reference"});
  std::set<std::vector<int32_t>> orders;
  for (spec.seed = 0; spec.seed < 4; ++spec.seed) {
    const Plan plan = make_plan(spec);
    CHECK(make_plan(spec).order == plan.order);
    std::vector<int32_t> sorted = plan.order;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < 16; ++i) CHECK(sorted[i] == static_cast<int32_t>(i));
    for (size_t i = 0; i < 8; ++i) CHECK(plan.order[i] < 8);
    orders.insert(plan.order);
  }
  CHECK(orders.size() == 4);
}

TEST_CASE("include adds cells, exclude removes them, scenarios name them") {
  const PlanSpec spec = read_matrix(R"({
    // a comment
    "design": "grid",
    "axes": {"load.concurrency": [1, 8, 32], "engine.chunked_prefill": ["off", 16],
             "engine.kernel_set": ["cpu", "reference"]},
    "include": [{"load.concurrency": 64}],
    "exclude": [{"load.concurrency": 32, "engine.chunked_prefill": 16},
                {"engine.kernel_set": "reference"}],
    "scenarios": [{"name": "rush hour",
                   "values": {"load.concurrency": 128, "load.neighbours": "longer"}}]
  })",
                                    "m.json");
  const Plan plan = make_plan(spec);
  CHECK(names(plan) == Names{"reference", "engine.chunked_prefill=16", "load.concurrency=8",
                             "load.concurrency=8,engine.chunked_prefill=16", "load.concurrency=32",
                             "load.concurrency=64", "rush hour"});
  CHECK(plan.cells[6].values.at("load.neighbours") == "longer");
  // Naming a schedule value, exclude does not take the reference cell with it.
  PlanSpec keeps = spec_of({"load.concurrency=1,8"});
  keeps.exclude = {{{"load.concurrency", "1"}}};
  CHECK(names(make_plan(keeps)) == Names{"reference", "load.concurrency=8"});
}

TEST_CASE("flags replace what the matrix file says about the same axis") {
  PlanSpec spec = read_matrix(
      R"({"axes": {"load.concurrency": [1, 8], "engine.chunked_prefill": ["off", 16]}})", "m");
  const std::vector<std::string> axis{"load.concurrency=1,4"}, set{"engine.chunked_prefill=32"};
  apply_axis_flags(spec, axis, set);
  spec.design = Design::kGrid;
  CHECK(names(make_plan(spec)) == Names{"reference", "load.concurrency=4"});
}

TEST_CASE("bad flags and designs are refused by name") {
  const auto refused = [](const std::vector<std::string>& axis,
                          const std::vector<std::string>& set) {
    return error_of([&] { spec_of(axis, set); });
  };
  for (const char* bad : {"load.concurrency", "=8", "load.concurrency=", "", "load.concurency=8",
                          "load.concurrency=x"}) {
    CAPTURE(bad);
    CHECK(refused({bad}, {}).code() == ErrorCode::usage);
    CHECK(refused({}, {bad}).code() == ErrorCode::usage);
  }
  CHECK(refused({"load.concurrency=1", "load.concurrency=8"}, {}).message().find("twice") !=
        std::string::npos);
  CHECK(refused({}, {"load.concurrency=1", "load.concurrency=8"}).message().find("twice") !=
        std::string::npos);
  CHECK(refused({}, {"load.concurrency=1,8"}).code() == ErrorCode::usage);
  CHECK(refused({"engine.speculation=ngram:4"}, {}).code() == ErrorCode::unsupported);
  CHECK(refused({"load.arrival=jitter"}, {}).code() == ErrorCode::unsupported);
  CHECK(refused({}, {"engine.kv_dtype=q8"}).code() == ErrorCode::unsupported);
  CHECK(error_of([] { design_from_name("pairwise"); }).code() == ErrorCode::unsupported);
  CHECK(error_of([] { design_from_name("grd"); }).message().find("did you mean 'grid'") !=
        std::string::npos);
  CHECK(design_from_name(name(Design::kGrid)) == Design::kGrid);
  CHECK(design_from_name(name(Design::kOneAtATime)) == Design::kOneAtATime);
}

TEST_CASE("a grid of too many cells is refused before it is built") {
  std::string many = "load.concurrency=1";
  for (int i = 2; i <= 200; ++i) many += "," + std::to_string(i);
  std::string threads = "engine.threads=1";
  for (int i = 2; i <= 200; ++i) threads += "," + std::to_string(i);
  CHECK(error_of([&] { grid({many, threads}); }).message().find("10000") != std::string::npos);
}

TEST_CASE("a stored plan expands to the same cells, and a changed one is refused") {
  PlanSpec spec = spec_of(
      {"load.concurrency=1,8", "engine.kernel_set=cpu,reference", "sampling.temperature=0.7"},
      {"engine.chunked_prefill=16"});
  spec.include = {{{"load.concurrency", "3"}}};
  spec.exclude = {{{"load.concurrency", "8"}, {"engine.kernel_set", "reference"}}};
  spec.scenarios = {{"three", {{"load.concurrency", "5"}}}};
  spec.repeats = 3;
  spec.seed = 18446744073709551615u;
  const Plan plan = make_plan(spec);
  const std::string text = canonical_json(plan_to_json(plan));
  const Plan back = plan_from_json(text, "run");
  CHECK(names(back) == names(plan));
  CHECK(back.order == plan.order);
  CHECK(back.spec.repeats == 3);
  CHECK(back.spec.seed == spec.seed);
  CHECK(canonical_json(plan_to_json(back)) == text);
  std::string changed = text;
  changed.replace(changed.find("\"three\""), 7, "\"thief\"");
  CHECK(error_of([&] { plan_from_json(changed, "run"); }).code() == ErrorCode::environment);
  for (size_t n = 0; n < text.size(); ++n) {
    REQUIRE(error_of([&] { plan_from_json(text.substr(0, n), "run"); }).code() ==
            ErrorCode::environment);
  }
}

TEST_CASE("a matrix file of another shape is refused with its place") {
  for (const auto& [text, word] : std::vector<std::pair<const char*, const char*>>{
           {"[]", "expected an object"},
           {R"({"axis": {}})", "did you mean 'axes'"},
           {R"({"axes": []})", "axes: expected an object"},
           {R"({"axes": {"load.concurrency": 8}})", "axes.load.concurrency: expected an array"},
           {R"({"axes": {"load.concurrency": []}})", "lists no values"},
           {R"({"axes": {"load.concurrency": [true]}})", "a string or a number"},
           {R"({"axes": {"load.concurrency": ["1,2"]}})", "not one value"},
           {R"({"axes": {"load.concurrency": [1.5]}})", "has no value '1.5'"},
           {R"({"axes": {"load.concurency": [1]}})", "did you mean 'load.concurrency'"},
           {R"({"reference": {"load.position": "middel"}})", "did you mean 'middle'"},
           {R"({"exclude": [{}]})", "exclude[0]: names no axis"},
           {R"({"include": {}})", "include: expected an array"},
           {R"({"scenarios": [{"name": "x"}]})", "scenarios[0]: needs \"values\""},
           {R"({"scenarios": [{"name": 1, "values": {}}]})", "scenarios[0]: needs a \"name\""},
           {R"({"scenarios": [{"name": "x", "values": {}, "valeus": {}}]})", "did you mean"},
           {R"({"repeats": 0})", "at least 1"},
           {R"({"repeats": -1})", "expected a whole number"},
           {R"({"repeats": 1e3})", "expected a whole number"},
           {R"({"seed": "x"})", "expected a whole number"},
           {R"({"design": 1})", "design: expected a string"},
           {R"({"design": "pairwise"})", "pairwise"},
           {R"({"design": "grid", "design": "grid"})", "duplicate key"},
           {R"({"$schema": 1})", "$schema"}}) {
    CAPTURE(text);
    const Error e = error_of([&, &t = text] { read_matrix(t, "m.json"); });
    CAPTURE(e.message());
    CHECK(e.message().find(word) != std::string::npos);
    CHECK(e.message().find("m.json") == 0);
    CHECK((e.code() == ErrorCode::usage || e.code() == ErrorCode::unsupported));
  }
}

TEST_CASE("every matrix in examples/ makes a plan, and survives truncation and flips") {
  size_t n_files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(ISOBIT_SOURCE_DIR "/examples/matrices")) {
    CAPTURE(entry.path().string());
    const std::string text = read_file(entry.path());
    const Plan plan = make_plan(read_matrix(text, entry.path().filename()));
    CHECK(plan.cells.size() > 1);
    ++n_files;
    const auto try_text = [](const std::string& changed) {
      try {
        static_cast<void>(make_plan(read_matrix(changed, "m")));
      } catch (const Error& e) {
        REQUIRE(e.code() != ErrorCode::internal);
      }
    };
    for (size_t i = 0; i < text.size(); ++i) {
      try_text(text.substr(0, i));
      for (const char mask : {'\x01', '\x20', '\x80'}) {
        std::string flipped = text;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        try_text(flipped);
      }
    }
  }
  CHECK(n_files >= 3);
}
