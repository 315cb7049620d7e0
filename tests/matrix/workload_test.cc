// The traffic of a cell: who is sent, in which order, beside whom.
#include "matrix/workload.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/matrix/matrix_support.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

BuiltWorkload build(const AxisValues& values, const std::vector<Request>& requests,
                    ModelLimits limits = {}, uint64_t seed = 1) {
  return build_workload(cell_with(values), requests, limits, neighbour_text, seed);
}

// "p0 p1 n n": probes by prompt index, neighbours as n.
std::string picture(const BuiltWorkload& built) {
  std::string out;
  for (const auto& prompt : built.prompt_index)
    out += (out.empty() ? "" : " ") + (prompt ? "p" + std::to_string(*prompt) : "n");
  return out;
}

size_t length(const WorkItem& item) {
  return item.request.prompt_token_ids.size();
}

}  // namespace

TEST_CASE("alone, a workload is the prompts as given") {
  const auto requests = prompts({5, 6, 7});
  const BuiltWorkload built = build({}, requests);
  CHECK(picture(built) == "p0 p1 p2");
  CHECK(built.workload.concurrency == 1);
  CHECK(built.workload.settings.empty());
  for (size_t i = 0; i < 3; ++i) {
    CHECK(built.workload.items[i].recorded);
    CHECK(built.workload.items[i].request.id == requests[i].id);
    CHECK(built.workload.items[i].request.prompt_token_ids == requests[i].prompt_token_ids);
    CHECK(built.workload.items[i].request.max_tokens == requests[i].max_tokens);
    CHECK(built.workload.items[i].request.sampling.seed == requests[i].sampling.seed);
  }
}

TEST_CASE("every probe is sent exactly once, recorded, and unchanged, in every load cell") {
  const auto requests = prompts({40, 3, 9, 17, 5});
  for (const char* concurrency : {"2", "3", "4", "8", "13"}) {
    for (const char* shape : {"uniform", "ragged", "needle", "mixed"}) {
      for (const char* position : {"first", "middle", "last", "permuted"}) {
        for (const char* neighbours : {"same", "other", "longer", "shorter", "sampled"}) {
          const AxisValues values{{"load.concurrency", concurrency},
                                  {"load.batch_shape", shape},
                                  {"load.position", position},
                                  {"load.neighbours", neighbours}};
          if (impossible_reason(values)) continue;
          CAPTURE(cell_name(values));
          const BuiltWorkload built =
              build(values, requests, {.context_tokens = 200, .max_concurrency = 0});
          REQUIRE(built.prompt_index.size() == built.workload.items.size());
          std::multiset<int32_t> seen;
          std::set<std::string> ids;
          for (size_t i = 0; i < built.workload.items.size(); ++i) {
            const WorkItem& item = built.workload.items[i];
            REQUIRE(ids.insert(item.request.id).second);
            REQUIRE(item.recorded == built.prompt_index[i].has_value());
            REQUIRE(length(item) >= 1);
            REQUIRE(length(item) + static_cast<size_t>(item.request.max_tokens) <= 200);
            if (!item.recorded) continue;
            seen.insert(*built.prompt_index[i]);
            const Request& given = requests[static_cast<size_t>(*built.prompt_index[i])];
            REQUIRE(item.request.prompt_token_ids == given.prompt_token_ids);
            REQUIRE(item.request.id == given.id);
          }
          REQUIRE(seen == std::multiset<int32_t>{0, 1, 2, 3, 4});
          if (std::string(shape) != "mixed")
            REQUIRE(built.workload.items.size() % std::stoul(concurrency) == 0);
        }
      }
    }
  }
}

TEST_CASE("same: copies of the set fill the last wave, unrecorded, asking the same question") {
  const auto requests = prompts({5, 6, 7});
  const BuiltWorkload built = build({{"load.concurrency", "8"}}, requests);
  CHECK(picture(built) == "p0 p1 p2 n n n n n");
  for (size_t i = 3; i < 8; ++i) {
    const Request &copy = built.workload.items[i].request, &given = requests[i % 3];
    CHECK(copy.prompt_token_ids == given.prompt_token_ids);
    CHECK(copy.sampling.seed == given.sampling.seed);
    CHECK(copy.id != given.id);
  }
  CHECK(picture(build({{"load.concurrency", "2"}}, requests)) == "p0 p1 p2 n");
  CHECK(picture(build({{"load.concurrency", "3"}}, requests)) == "p0 p1 p2");
}

TEST_CASE("neighbours stand beside every probe, with the length and sampling that they promise") {
  const auto requests = prompts({5, 6, 7, 50}, 8);
  for (const auto& [kind, tokens] :
       std::vector<std::pair<std::string, std::vector<size_t>>>{{"other", {5, 6, 7, 50}},
                                                                {"sampled", {5, 6, 7, 50}},
                                                                {"shorter", {4, 4, 4, 4}},
                                                                {"longer", {20, 24, 28, 92}}}) {
    CAPTURE(kind);
    const BuiltWorkload built = build({{"load.concurrency", "4"}, {"load.neighbours", kind}},
                                      requests, {.context_tokens = 100, .max_concurrency = 0});
    CHECK(picture(built) == "p0 n p1 n p2 n p3 n");
    std::set<uint64_t> seeds;
    for (size_t i = 0; i < 4; ++i) {
      const Request& neighbour = built.workload.items[2 * i + 1].request;
      CHECK(neighbour.prompt_token_ids.size() == tokens[i]);
      CHECK(neighbour.prompt_token_ids != requests[i].prompt_token_ids);
      CHECK(neighbour.stop.ignore_eos);
      CHECK(neighbour.max_tokens == 8);
      CHECK(neighbour.sampling.temperature == (kind == "sampled" ? 1 : 0));
      CHECK(neighbour.sampling.seed_source == SeedSource::kRequest);
      seeds.insert(neighbour.sampling.seed);
    }
    CHECK(seeds.size() == 4);
  }
  const Error e = error_of([&] {
    build({{"load.concurrency", "4"}, {"load.neighbours", "longer"}}, prompts({92}),
          {.context_tokens = 100, .max_concurrency = 0});
  });
  CHECK(e.message().find("no neighbour longer") != std::string::npos);
}

TEST_CASE("position moves every prompt to another row") {
  const auto requests = prompts({5, 5, 5, 5, 5, 5, 5, 5});
  const AxisValues eight{{"load.concurrency", "4"}};
  const auto with = [&](const char* position) {
    AxisValues values = eight;
    values["load.position"] = position;
    return build(values, requests);
  };
  CHECK(picture(with("first")) == "p0 p1 p2 p3 p4 p5 p6 p7");
  CHECK(picture(with("middle")) == "p2 p3 p4 p5 p6 p7 p0 p1");
  CHECK(picture(with("last")) == "p7 p6 p5 p4 p3 p2 p1 p0");
  CHECK(picture(with("permuted")) != picture(with("first")));
  CHECK(picture(with("permuted")) == picture(with("permuted")));
  for (const char* position : {"middle", "last"}) {
    const BuiltWorkload built = with(position);
    for (size_t i = 0; i < 8; ++i) CHECK(i % 4 != static_cast<size_t>(*built.prompt_index[i]) % 4);
  }
}

TEST_CASE(
    "batch shapes: ragged alternates, needle stands alone among short ones, mixed is staggered") {
  const auto requests = prompts({10, 20, 30, 40});
  CHECK(picture(build({{"load.concurrency", "2"}, {"load.batch_shape", "ragged"}}, requests)) ==
        "p3 p0 p2 p1");

  const BuiltWorkload alike =
      build({{"load.concurrency", "2"}, {"load.batch_shape", "ragged"}}, prompts({10, 19}));
  CHECK(picture(alike) == "p1 n p0 n");
  CHECK(length(alike.workload.items[1]) == 4);

  const BuiltWorkload needle =
      build({{"load.concurrency", "3"}, {"load.batch_shape", "needle"}}, requests);
  CHECK(picture(needle) == "p0 n n p1 n n p2 n n p3 n n");
  CHECK(length(needle.workload.items[1]) == 4);
  CHECK(picture(build(
            {{"load.concurrency", "3"}, {"load.batch_shape", "needle"}, {"load.position", "last"}},
            requests)) == "n n p3 n n p2 n n p1 n n p0");
  const BuiltWorkload shuffled = build(
      {{"load.concurrency", "3"}, {"load.batch_shape", "needle"}, {"load.position", "permuted"}},
      requests);
  for (size_t wave = 0; wave < 4; ++wave) {
    int n_probes = 0;
    for (size_t i = 0; i < 3; ++i) n_probes += shuffled.workload.items[3 * wave + i].recorded;
    CHECK(n_probes == 1);
  }

  const BuiltWorkload mixed =
      build({{"load.concurrency", "3"}, {"load.batch_shape", "mixed"}}, requests);
  CHECK(picture(mixed) == "n n n p0 p1 p2 p3 n n n n n");
  for (size_t i = 0; i < 3; ++i)
    CHECK(mixed.workload.items[i].request.max_tokens == static_cast<int32_t>(2 * (i + 1)));
}

TEST_CASE("prompt.length keeps the first token and the end") {
  const auto requests = prompts({10, 3});
  const auto with = [&](const char* value, ModelLimits limits = {}) {
    return build({{"prompt.length", value}}, requests, limits);
  };
  const auto ids = [](const BuiltWorkload& b, size_t i) {
    return b.workload.items[i].request.prompt_token_ids;
  };
  CHECK(ids(with("as-given"), 0) == requests[0].prompt_token_ids);
  CHECK(ids(with("4"), 0) == std::vector<int32_t>{1, 1007, 1008, 1009});
  CHECK(ids(with("1"), 0) == std::vector<int32_t>{1009});
  const std::vector<int32_t> longer = ids(with("12"), 1);
  CHECK(longer.size() == 12);
  CHECK(longer.front() == 1);
  CHECK(std::vector<int32_t>(longer.end() - 2, longer.end()) == std::vector<int32_t>{2001, 2002});
  CHECK(ids(with("short"), 0).size() == 32);
  CHECK(ids(with("medium"), 1).size() == 256);
  CHECK(ids(with("near-limit", {.context_tokens = 100, .max_concurrency = 0}), 1).size() == 92);
  CHECK(error_of([&] { with("near-limit"); }).message().find("does not tell") != std::string::npos);
  CHECK(error_of([&] { with("near-limit", {.context_tokens = 8, .max_concurrency = 0}); })
            .message()
            .find("fills the context") != std::string::npos);
}

TEST_CASE("output.length and sampling.* change what is asked") {
  const auto requests = prompts({10});
  const ModelLimits limits{.context_tokens = 100, .max_concurrency = 0};
  const auto with = [&](const AxisValues& values) {
    return build(values, requests, limits).workload.items[0].request;
  };
  CHECK(with({{"output.length", "as-given"}}).max_tokens == 8);
  CHECK(with({{"output.length", "64"}}).max_tokens == 64);
  CHECK(with({{"output.length", "long"}}).max_tokens == 90);
  const Request r = with({{"sampling.temperature", "0.7"},
                          {"sampling.seed", "18446744073709551615"},
                          {"sampling.top_k", "40"},
                          {"sampling.top_p", "0.9"},
                          {"sampling.min_p", "0.05"},
                          {"sampling.repetition_penalty", "1.1"},
                          {"sampling.frequency_penalty", "-0.5"},
                          {"sampling.presence_penalty", "0.25"}});
  CHECK(r.sampling.temperature == 0.7);
  CHECK(r.sampling.seed == 18446744073709551615u);
  CHECK(r.sampling.seed_source == SeedSource::kRequest);
  CHECK(r.sampling.top_k == 40);
  CHECK(r.sampling.top_p == 0.9);
  CHECK(r.sampling.min_p == 0.05);
  CHECK(r.sampling.repetition_penalty == 1.1);
  CHECK(r.sampling.frequency_penalty == -0.5);
  CHECK(r.sampling.presence_penalty == 0.25);
  CHECK(with({{"sampling.temperature", "as-given"}}).sampling.seed == 100);
}

TEST_CASE("a cell that the prompts or the target make impossible is refused, naming both") {
  const ModelLimits limits{.context_tokens = 20, .max_concurrency = 8};
  const Error past = error_of([&] { build({}, prompts({10, 13}), limits); });
  CHECK(past.code() == ErrorCode::usage);
  CHECK(past.message().find("'p1'") != std::string::npos);
  CHECK(past.message().find("13 tokens") != std::string::npos);
  CHECK(past.message().find("20") != std::string::npos);
  CHECK_NOTHROW(build({}, prompts({10, 12}), limits));
  CHECK(error_of([&] {
          build({{"load.concurrency", "9"}}, prompts({5}), limits);
        })
            .message()
            .find("at most 8") != std::string::npos);
  CHECK(build({{"load.concurrency", "peak"}}, prompts({5}), limits).workload.concurrency == 8);
  CHECK(error_of([&] {
          build({{"load.concurrency", "peak"}}, prompts({5}));
        }).code() == ErrorCode::unsupported);
  CHECK(error_of([&] { build({}, {}); }).code() == ErrorCode::usage);
  CHECK(error_of([&] { build({}, prompts({0})); }).message().find("no tokens") !=
        std::string::npos);
  CHECK(error_of([&] { build({}, prompts({3}, 0)); }).message().find("at least 1") !=
        std::string::npos);
}

TEST_CASE("the target's settings are those that the plan mentions") {
  const BuiltWorkload built = build({{"engine.chunked_prefill", "off"},
                                     {"engine.threads", "2"},
                                     {"engine.speculation", "off"},
                                     {"load.concurrency", "2"},
                                     {"output.length", "4"}},
                                    prompts({5}));
  CHECK(built.workload.settings ==
        AxisValues{{"engine.chunked_prefill", "off"}, {"engine.threads", "2"}});
}

TEST_CASE("an estimate counts requests and tokens, neighbours and repeats included") {
  PlanSpec spec = spec_of({"load.concurrency=1,4"});
  spec.repeats = 3;
  const auto estimates = estimate_plan(make_plan(spec), prompts({10, 20}, 8), {}, neighbour_text);
  REQUIRE(estimates.size() == 2);
  CHECK(estimates[0].n_probes == 6);
  CHECK(estimates[0].n_neighbours == 0);
  CHECK(estimates[0].prompt_tokens == 90);
  CHECK(estimates[0].max_generated_tokens == 48);
  CHECK(estimates[1].n_probes == 6);
  CHECK(estimates[1].n_neighbours == 6);
  CHECK(estimates[1].prompt_tokens == 180);
}
