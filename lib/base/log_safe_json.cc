#include "base/log_safe_json.h"

namespace isobit {

std::string log_safe_json(std::string_view json) {
  constexpr std::string_view kSigns = "##";
  std::string out;
  for (size_t at; (at = json.find(kSigns)) != std::string_view::npos;) {
    out += json.substr(0, at);
    out += "\\u0023\\u0023";
    json.remove_prefix(at + kSigns.size());
  }
  return out.append(json);
}

}  // namespace isobit
