#include "app/bench_template.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include <fmt/format.h>

#include "app/bench.h"
#include "report/text_table.h"
#include "text/prompt_sets.h"

namespace isobit::app {
namespace {

constexpr double kRoundSeconds = 0.05;  // long enough for a clock that ticks in microseconds

double seconds_of(const std::function<void()>& action, int n_times) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n_times; ++i) action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Microseconds per call, one figure a round; how often a round calls is found first, which warms up
// too.
std::vector<double> times_of(const std::function<void()>& action, int n_rounds) {
  int n_times = 1;
  while (seconds_of(action, n_times) < kRoundSeconds) n_times *= 2;
  std::vector<double> out;
  for (int round = 0; round < n_rounds; ++round)
    out.push_back(seconds_of(action, n_times) / n_times * 1e6);
  return out;
}

Json conversation(int n_messages) {
  Json messages = Json::array();
  for (int i = 0; i < n_messages; ++i)
    messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"},
                        {"content", filler_prompt(static_cast<uint64_t>(i), 20)}});
  return messages;
}

std::string milliseconds_or_micro(double us) {
  return us < 1000 ? fmt::format("{:.1f} us", us) : fmt::format("{:.2f} ms", us / 1e3);
}

}  // namespace

std::vector<TemplateTimes> bench_template(const std::string& model, const ChatRenderer& chat,
                                          int n_rounds) {
  const ChatTemplate& chosen = chat.for_conversation(false);
  TemplateTimes row{.model = model,
                    .source_bytes = chosen.source().size(),
                    .n_messages = 0,
                    .output_bytes = 0,
                    .microseconds = {}};
  std::vector<TemplateTimes> out;
  row.microseconds = times_of([&] { ChatTemplate::parse(chosen.source(), "template"); }, n_rounds);
  out.push_back(row);
  for (const int n_messages : {4, 16, 64}) {
    const ChatInput input{.messages = conversation(n_messages)};
    row.n_messages = n_messages;
    row.output_bytes = chat.render(input).text.size();
    row.microseconds = times_of([&] { chat.render(input); }, n_rounds);
    out.push_back(row);
  }
  return out;
}

std::string template_times_text(const std::vector<TemplateTimes>& all) {
  std::vector<std::vector<std::string>> rows;
  for (const TemplateTimes& t : all) {
    const auto [low, high] = std::minmax_element(t.microseconds.begin(), t.microseconds.end());
    rows.push_back(
        {t.model,
         t.n_messages == 0 ? fmt::format("parse {} bytes", t.source_bytes)
                           : fmt::format("render {} messages", t.n_messages),
         t.n_messages == 0 ? "-" : std::to_string(t.output_bytes),
         milliseconds_or_micro(median(t.microseconds)),
         fmt::format("{} to {}", milliseconds_or_micro(*low), milliseconds_or_micro(*high))});
  }
  return text_table({{"model", Align::kLeft},
                     {"chat template", Align::kLeft},
                     {"output bytes", Align::kRight},
                     {"median", Align::kRight},
                     {"rounds", Align::kRight}},
                    rows);
}

Json template_times_json(const std::vector<TemplateTimes>& all) {
  Json out = Json::array();
  for (const TemplateTimes& t : all)
    out.push_back({{"model", t.model},
                   {"what", t.n_messages == 0 ? "parse" : "render"},
                   {"source_bytes", t.source_bytes},
                   {"messages", t.n_messages},
                   {"output_bytes", t.output_bytes},
                   {"microseconds", t.microseconds},
                   {"median_microseconds", median(t.microseconds)}});
  return {{"templates", out}};
}

}  // namespace isobit::app
