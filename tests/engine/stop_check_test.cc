#include "engine/stop_check.h"

#include <doctest/doctest.h>

using namespace isobit;

namespace {

Request request_with(Stop stop, int32_t max_tokens = 10) {
  Request r;
  r.id = "r";
  r.max_tokens = max_tokens;
  r.stop = std::move(stop);
  return r;
}

}  // namespace

TEST_CASE("a stop string is found across token boundaries and cut from the text") {
  StopCheck check(request_with({.strings = {"END"}, .token_ids = {}, .ignore_eos = false}), {});
  CHECK(!check.add(1, "abcE", false));
  CHECK(!check.add(2, "N", false));
  CHECK(check.add(3, "Dxyz", false) == FinishReason::kStopString);
  CHECK(check.text() == "abc");
}

TEST_CASE("the earliest of several stop strings wins") {
  StopCheck check(request_with({.strings = {"cd", "bc"}, .token_ids = {}, .ignore_eos = false}),
                  {});
  CHECK(check.add(1, "abcd", false) == FinishReason::kStopString);
  CHECK(check.text() == "a");
}

TEST_CASE("end-of-sequence ends an answer unless it is ignored; own stop ids always do") {
  StopCheck plain(request_with({}), {7});
  CHECK(plain.add(7, "", false) == FinishReason::kStopToken);
  StopCheck ignoring(request_with({.strings = {}, .token_ids = {9}, .ignore_eos = true}), {7});
  CHECK(!ignoring.add(7, "x", false));
  CHECK(ignoring.add(9, "", false) == FinishReason::kStopToken);
}

TEST_CASE("only the length ends a forced answer") {
  StopCheck check(request_with({.strings = {"a"}, .token_ids = {7}, .ignore_eos = false}, 2), {7});
  CHECK(!check.add(7, "a", true));
  CHECK(check.add(7, "a", true) == FinishReason::kLength);
}
