#include "base/log_safe_json.h"

#include <doctest/doctest.h>

#include "base/json.h"

using namespace isobit;

TEST_CASE("no build server finds its commands in JSON, and every reader finds the same values") {
  for (const std::string text :
       {"", "#", "##[error]x", "##vso[task.complete]", "###[x", "####", "a\\##[b", "\\", "\n##["}) {
    const Json value = {{text, {text, Json{{"k", text}}}}};
    const std::string safe = log_safe_json(value.dump());
    CHECK(safe.find("##") == std::string::npos);
    CHECK(parse_json(safe, "safe") == value);
  }
}

TEST_CASE("JSON without such signs keeps its bytes") {
  const std::string text = Json{{"a", "#1"}, {"b", {1.5, nullptr, "# #"}}}.dump(2);
  CHECK(log_safe_json(text) == text);
}
