#include "record/trace.h"

#include <utility>

namespace isobit {
namespace {

constexpr std::pair<FinishReason, const char*> kNames[] = {
    {FinishReason::kLength, "length"},
    {FinishReason::kStopToken, "stop_token"},
    {FinishReason::kStopString, "stop_string"},
    {FinishReason::kCancelled, "cancelled"},
    {FinishReason::kError, "error"},
};

}  // namespace

const char* name(FinishReason reason) {
  for (const auto& [value, text] : kNames) {
    if (value == reason) return text;
  }
  return "unknown";
}

std::optional<FinishReason> finish_reason_from_name(const std::string& name) {
  for (const auto& [value, text] : kNames) {
    if (name == text) return value;
  }
  return std::nullopt;
}

}  // namespace isobit
