#include "gate/outcome.h"

#include <algorithm>

namespace isobit {

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kFail:
      return "fail";
    case Outcome::kInconclusive:
      return "inconclusive";
    case Outcome::kIncomparable:
      return "incomparable";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kIncomplete:
      return "incomplete";
  }
  return "unknown";
}

int precedence(Outcome outcome) {
  switch (outcome) {
    case Outcome::kIncomparable:
      return 6;
    case Outcome::kUnsupported:
      return 5;
    case Outcome::kFail:
      return 4;
    case Outcome::kIncomplete:
      return 3;
    case Outcome::kInconclusive:
      return 2;
    case Outcome::kWarn:
      return 1;
    case Outcome::kPass:
      return 0;
  }
  return 0;
}

void ReasonList::add(Outcome outcome, std::string subject, std::string text,
                     std::vector<std::string> names) {
  reasons_.push_back({.outcome = outcome,
                      .subject = std::move(subject),
                      .text = std::move(text),
                      .names = std::move(names)});
}

void ReasonList::note(std::string subject, std::string text, std::vector<std::string> names) {
  notes_.push_back(
      {.subject = std::move(subject), .text = std::move(text), .names = std::move(names)});
}

std::vector<Reason> ReasonList::sorted() && {
  std::stable_sort(reasons_.begin(), reasons_.end(), [](const Reason& a, const Reason& b) {
    return precedence(a.outcome) > precedence(b.outcome);
  });
  return std::move(reasons_);
}

}  // namespace isobit
