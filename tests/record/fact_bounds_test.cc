// Facts that no target can have given, and words in a run that says it has none: each is named.
#include "record/fact_bounds.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "record/answer_counts.h"
#include "record/redaction.h"
#include "tests/record/recorded_run.h"

using namespace isobit;
using isobit::testing::recorded_run;

namespace {

using Edit = std::function<void(RunRecord&)>;

std::string first_fact(RunRecord run, const Edit& edit) {
  edit(run);
  const auto facts = facts_out_of_bounds(run);
  return facts.empty() ? "" : facts.front();
}

}  // namespace

TEST_CASE("a run as it was recorded is within its bounds, redacted or not") {
  CHECK(facts_out_of_bounds(recorded_run()).empty());
  CHECK(facts_out_of_bounds(redact(recorded_run())).empty());
}

TEST_CASE("what no target can give is named by its field") {
  const std::pair<const char*, Edit> cases[] = {
      {"samples[0]: tokens[1] is -5, expected 0 or more",
       [](RunRecord& r) { r.samples[0].trace.positions[1].token_id = -5; }},
      {"samples[2]: top[0] is -1",
       [](RunRecord& r) { r.samples[2].trace.positions[0].top[0].token_id = -1; }},
      {"samples[0]: repeat is 1000000000, expected 0 to 99999",
       [](RunRecord& r) { r.samples[0].repeat = 1000000000; }},
      {"samples[0]: sample_index is 5000",
       [](RunRecord& r) { r.samples[0].trace.sample_index = 5000; }},
      {"samples[0]: margins[2] is -1e+30, expected 0 or more",
       [](RunRecord& r) { r.samples[0].trace.positions[2].margin = -1e30f; }},
      {"samples[0]: margins[0] is ",
       [](RunRecord& r) {
         r.samples[0].trace.positions[0].margin = std::numeric_limits<float>::quiet_NaN();
       }},
      {"samples[0]: logprobs[0] is 25, expected a logprob, 0 or less",
       [](RunRecord& r) { r.samples[0].trace.positions[0].logprob = 25; }},
      {"samples[0]: top[1] is 3e+20",
       [](RunRecord& r) { r.samples[0].trace.positions[1].top[0].logprob = 3e20f; }},
      {"samples[0]: prefill_chunks_tokens[1] is -3",
       [](RunRecord& r) { r.samples[0].trace.scheduling.prefill_chunks_tokens[1] = -3; }},
      {"requests[1]: prompt_token_ids[0] is -7",
       [](RunRecord& r) { r.requests[1].prompt_token_ids[0] = -7; }},
      {"requests[0]: forced_token_ids[0] is -7",
       [](RunRecord& r) { r.requests[0].forced_token_ids[0] = -7; }},
      {"requests[0]: stop_token_ids[0] is -7",
       [](RunRecord& r) { r.requests[0].stop.token_ids[0] = -7; }},
      {"requests[0]: logit_bias[1] is -2",
       [](RunRecord& r) { r.requests[0].sampling.logit_bias[1].first = -2; }},
      {"requests[0]: n is 2000000000, expected 1 to 1024",
       [](RunRecord& r) { r.requests[0].sampling.n = 2000000000; }},
      {"forced[0]: repeat is 100000", [](RunRecord& r) { r.forced[0].repeat = 100000; }},
      {"forced[0]: margins[1] is -1", [](RunRecord& r) { r.forced[0].positions[1].margin = -1; }}};
  for (const auto& [words, edit] : cases) {
    CAPTURE(words);
    CHECK(first_fact(recorded_run(), edit).find(words) == 0);
  }
}

TEST_CASE("rows that were not finite may have scores that are none") {
  CHECK(first_fact(recorded_run(), [](RunRecord& r) {
          r.samples[1].trace.non_finite = false;
        }).find("samples[1]: logprobs[0] is ") == 0);
}

TEST_CASE("a run that says it is redacted and holds words is named by where they are") {
  const RunRecord plain = recorded_run();
  const std::pair<const char*, Edit> cases[] = {
      {"requests[0]: text is there", [](RunRecord& r) { r.prompt_texts[0] = "In the beginning"; }},
      {"requests[1]: stop[0] is no digest",
       [](RunRecord& r) { r.requests[1].stop.strings[0] = "THE END"; }},
      {"samples[2]: text is there", [](RunRecord& r) { r.samples[2].trace.text = "and"; }},
      {"samples[1]: error is no digest", [](RunRecord& r) { r.samples[1].trace.error = "no"; }},
      {"samples[0]: embedding is there", [](RunRecord& r) { r.samples[0].trace.embedding = {1}; }},
      {"samples[0]: top holds token ids below 1048576",
       [&](RunRecord& r) {
         for (size_t i = 0; i < 3; ++i)
           r.samples[0].trace.positions[i].top = plain.samples[0].trace.positions[i].top;
       }},
      {"run: holds token ids below 1048576", [&](RunRecord& r) {
         for (size_t i = 0; i < r.requests.size(); ++i) {
           Request& to = r.requests[i];
           const std::vector<std::string> stop = to.stop.strings;
           to = plain.requests[i];
           to.stop.strings = stop;
         }
         for (size_t i = 0; i < r.samples.size(); ++i)
           r.samples[i].trace.positions = plain.samples[i].trace.positions;
         for (SampleRecord& s : r.samples) {
           for (TracePosition& p : s.trace.positions) p.top.clear();
         }
         r.forced.clear();
       }}};
  for (const auto& [words, edit] : cases) {
    CAPTURE(words);
    const std::string found = first_fact(redact(plain), edit);
    CAPTURE(found);
    CHECK(found.find(words) == 0);
  }
  RunRecord only_said = plain;
  only_said.redacted = true;
  CHECK(facts_out_of_bounds(only_said).size() > 4);
}

TEST_CASE("no more facts are told than asked for") {
  RunRecord run = recorded_run();
  for (SampleRecord& s : run.samples) s.repeat = -1;
  CHECK(facts_out_of_bounds(run, 3).size() == 3);
}

TEST_CASE(
    "a run that lacks answers, or has some that nobody asked for, says so by cell and repeat") {
  CHECK(wrong_answer_counts(recorded_run()).empty());
  RunRecord run = recorded_run();
  run.samples.pop_back();
  CHECK(wrong_answer_counts(run) ==
        std::vector<std::string>{"cell 'load.concurrency=8', repeat 0: has 1 samples, expected 2"});
  run.cells[1].complete = false;
  CHECK(wrong_answer_counts(run) ==
        std::vector<std::string>{"it is complete, its cell 'load.concurrency=8' is not"});
  run.status = "running";
  CHECK(wrong_answer_counts(run).empty());
  run = recorded_run();
  run.samples.clear();
  CHECK(wrong_answer_counts(run).size() == 2);
  run = recorded_run();
  run.samples[0].trace.sample_index = 1;
  CHECK(wrong_answer_counts(run) ==
        std::vector<std::string>{"a sample of prompt 0 is choice 1 of 1"});
}
