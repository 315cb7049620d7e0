// What `bisect`, `reduce` and `replay` print.
#include "why/why_text.h"

#include <fmt/format.h>

#include "report/untrusted_text.h"

namespace isobit {
namespace {

std::string change_words(const Change& c) {
  return fmt::format("{}: {} -> {}", visible_text(c.name), visible_text(c.from, 60),
                     visible_text(c.to, 60));
}

std::string suspects_text(const Bisection& b) {
  if (b.suspects.empty()) return {};
  std::string out = "cannot be set here, so they remain suspects:\n";
  for (const Change& c : b.suspects) {
    out += "  " + change_words(c) + "\n";
    if (!c.effect.empty()) out += "    " + c.effect + "\n";
  }
  return out;
}

std::string explained_by(const Bisection& b) {
  std::string out;
  for (const ChangeSet& set : b.explanations)
    out += fmt::format("{} it: {}\n",
                       set.size() == 1   ? "this alone makes"
                       : set.size() == 2 ? "these two together make"
                                         : "these together make",
                       change_set_text(b, set));
  return out;
}

// Which answer is explained, and why that one.
std::string answer_words(const Bisection& b) {
  if (!b.answer) return {};
  const DivergingAnswer& a = *b.answer;
  const bool flips = a.in == DifferenceIn::kTokens;
  std::string out = "answer " + visible_text(a.request_id, 80) + ": ";
  if (flips) out += fmt::format("its tokens part at position {}", a.position);
  if (a.in == DifferenceIn::kEnding)
    out += fmt::format("it ends otherwise after {} tokens", a.position);
  if (a.in == DifferenceIn::kBits)
    out += fmt::format("its bits differ from position {}, its tokens do not", a.position);
  if (a.only_request) return out + "\n";
  if (a.n_diverging == 1) return out + "; it is the only one that differs\n";
  return out + fmt::format("; chosen because of {} answers that differ no other parts earlier{}\n",
                           a.n_diverging, flips ? " in tokens" : ", and none in tokens");
}

std::string result_words(const Bisection& b) {
  switch (b.result) {
    case BisectionResult::kFound:
      return explained_by(b);
    case BisectionResult::kNoDifference:
      return "no difference: nothing that was recorded of both differs\n";
    case BisectionResult::kBaseMoves:
      return "the base, asked again, no longer gives its recorded answer: it is unstable, or "
             "something that is not recorded has changed\n" +
             suspects_text(b);
    case BisectionResult::kNotShown:
      return "the difference does not show when everything that can be set is set here\n" +
             suspects_text(b);
    case BisectionResult::kOutOfRuns:
      return "stopped by --max-runs; smallest so far:\n" + explained_by(b) + suspects_text(b);
  }
  return {};
}

std::string size_line(const char* label, const CaseSize& s) {
  return fmt::format(
      "{:<7} {} neighbours ({} prompt tokens), {} in flight, prompt {} tokens, output {} tokens, "
      "{} "
      "settings changed\n",
      label, s.n_neighbours, s.n_neighbour_tokens, s.concurrency, s.n_prompt_tokens, s.max_tokens,
      s.n_settings);
}

std::string guilty_text(const Reduction& r) {
  if (r.guilty.empty())
    return "no neighbour is needed: the request alone differs from itself under the settings "
           "below\n";
  std::string out = "guilty (without any one of them nothing differs):\n";
  for (const GuiltyNeighbour& g : r.guilty)
    out += fmt::format("  {}: admitted {} the request, {} prompt tokens, {} output tokens\n",
                       visible_text(g.id, 80), g.before_request ? "before" : "after",
                       g.n_prompt_tokens, g.max_tokens);
  return out;
}

}  // namespace

std::string change_set_text(const Bisection& b, const ChangeSet& set) {
  std::string out;
  for (const size_t i : set) out += (out.empty() ? "" : ", ") + change_words(b.changes[i]);
  return out.empty() ? "nothing" : out;
}

std::string bisection_text(const Bisection& b) {
  std::string out = answer_words(b);
  for (const BisectionProbe& p : b.probes)
    out +=
        fmt::format("  {:<10} with {}{}\n", name(p.result.outcome), change_set_text(b, p.applied),
                    p.result.note.empty() ? "" : ": " + visible_text(p.result.note, 160));
  return out + result_words(b);
}

std::string reduction_text(const Reduction& r) {
  std::string out = size_line("before", r.before) + size_line("after", r.after) + guilty_text(r);
  for (const std::string& setting : r.settings) out += "needed: " + visible_text(setting) + "\n";
  if (r.divergence.token)
    out += fmt::format("tokens part at output position {}\n", r.divergence.token->position);
  if (r.divergence.numeric)
    out += fmt::format("bits differ from output position {}\n", r.divergence.numeric->position);
  if (r.first) out += "first operator that differs: " + describe(*r.first) + "\n";
  out += r.one_minimal ? "minimal: no single neighbour, setting, token or output position can go\n"
                       : "not proved minimal: stopped by --max-runs\n";
  out += r.repeatable ? "repeatable: two further executions gave the same bits\n"
                      : "NOT repeatable: two further executions did not agree\n";
  return out + fmt::format("{} executions\n", r.n_runs);
}

std::string repetition_text(const Repetition& r, const std::string& sample,
                            const std::string& against) {
  std::string out = fmt::format("{}: {} executions\n", visible_text(sample), r.n);
  out += fmt::format("as {}: {} in tokens, {} in every bit\n", against, r.n_same_tokens,
                     r.n_same_bits);
  out += fmt::format("distinct answers: {} in tokens, {} in bits\n", r.n_distinct_tokens,
                     r.n_distinct_bits);
  if (!r.first_split) return out;
  out += fmt::format("first split: position {}, in {}", r.first_split->position,
                     r.first_split->in_tokens() ? "tokens" : "bits");
  if (r.first_token_split && !r.first_split->in_tokens())
    out += fmt::format("; in tokens at position {}", *r.first_token_split);
  return out + "\n";
}

}  // namespace isobit
