// What a verdict may be, and which reason decides it.
#pragma once

#include <string>
#include <vector>

namespace isobit {

enum class Outcome {
  kPass,
  kWarn,
  kFail,
  kInconclusive,  // a cell was not exercised, or samples are missing or too few
  kIncomparable,  // a must-match fingerprint item differs
  kUnsupported,   // nothing comparable, or the target cannot give what the level or a rule needs
  kIncomplete,    // a run stopped early and can be resumed
};
const char* name(Outcome outcome);

// 0 for kPass; the larger, the sooner it decides a verdict.
int precedence(Outcome outcome);

struct Reason {
  Outcome outcome = Outcome::kPass;
  std::string subject;  // the cell, rule, fingerprint item or run it is about
  std::string text;     // one sentence
  // What in `text` was named outside: cells, requests, values. Where a text's length is bounded,
  // these are shortened, so that the figures beside them stay.
  std::vector<std::string> names = {};
};

// Reasons as they are found; `notes` decide nothing.
class ReasonList {
 public:
  void add(Outcome outcome, std::string subject, std::string text,
           std::vector<std::string> names = {});
  void note(std::string subject, std::string text, std::vector<std::string> names = {});

  // By precedence, then in the order found.
  std::vector<Reason> sorted() &&;
  const std::vector<Reason>& notes() const { return notes_; }

 private:
  std::vector<Reason> reasons_;
  std::vector<Reason> notes_;
};

}  // namespace isobit
