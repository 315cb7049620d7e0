#include "compare/request_differences.h"

#include <doctest/doctest.h>

using namespace isobit;

namespace {

std::vector<Request> requests(std::initializer_list<const char*> ids) {
  std::vector<Request> out;
  for (const char* id : ids) {
    Request& request = out.emplace_back();
    request.id = id;
    request.prompt_token_ids = {1, 2};
  }
  return out;
}

}  // namespace

TEST_CASE("the same requests have no differences, and nothing is said of them") {
  CHECK(request_differences(requests({"a", "b"}), requests({"a", "b"})).empty());
  CHECK(in_parentheses({}).empty());
}

TEST_CASE("a parameter that differs everywhere is one sentence with both values") {
  std::vector<Request> candidate = requests({"a", "b"});
  for (Request& request : candidate) request.max_tokens = 40;
  candidate[1].sampling.temperature = 0.1;
  CHECK(request_differences(requests({"a", "b"}), candidate) ==
        std::vector<std::string>{"max_tokens: 16 against 40 in 2 requests",
                                 "temperature: 0 against 0.1 in 1 request"});
}

TEST_CASE("each field of a request is told when it alone differs") {
  const std::vector<std::pair<std::string, void (*)(Request&)>> changes = {
      {"the prompt's tokens", [](Request& r) { r.prompt_token_ids[1] = 3; }},
      {"max_tokens", [](Request& r) { r.max_tokens = 1; }},
      {"temperature", [](Request& r) { r.sampling.temperature = 1; }},
      {"top_k", [](Request& r) { r.sampling.top_k = 1; }},
      {"top_p", [](Request& r) { r.sampling.top_p = 0.5; }},
      {"min_p", [](Request& r) { r.sampling.min_p = 0.5; }},
      {"repetition_penalty", [](Request& r) { r.sampling.repetition_penalty = 2; }},
      {"frequency_penalty", [](Request& r) { r.sampling.frequency_penalty = 2; }},
      {"presence_penalty", [](Request& r) { r.sampling.presence_penalty = 2; }},
      {"n: ", [](Request& r) { r.sampling.n = 2; }},
      {"logit_bias",
       [](Request& r) {
         r.sampling.logit_bias = {{1, 1.0}};
       }},
      {"seed", [](Request& r) { r.sampling.seed = 7; }},
      {"ignore_eos", [](Request& r) { r.stop.ignore_eos = true; }},
      {"stop strings", [](Request& r) { r.stop.strings = {"x"}; }},
      {"stop token ids", [](Request& r) { r.stop.token_ids = {1}; }},
      {"forced token ids", [](Request& r) { r.forced_token_ids = {1}; }},
      {"top alternatives recorded", [](Request& r) { r.n_top = 1; }},
      {"tags", [](Request& r) { r.tags = {"x"}; }},
  };
  for (const auto& [name, change] : changes) {
    std::vector<Request> candidate = requests({"a"});
    change(candidate[0]);
    const std::vector<std::string> found = request_differences(requests({"a"}), candidate);
    CAPTURE(name);
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with(name));
  }
}

TEST_CASE("ids that only one side has are counted, repeated ones in their order") {
  CHECK(request_differences(requests({"a", "a", "b"}), requests({"a", "c", "d", "e"})) ==
        std::vector<std::string>{"2 ids are only in the base", "3 ids are only in the candidate"});
}

TEST_CASE("a sentence holds the first four differences and counts the rest") {
  CHECK(in_parentheses({"a"}) == " (a)");
  CHECK(in_parentheses({"a", "b", "c", "d", "e", "f"}) == " (a; b; c; d; and 2 more)");
}
