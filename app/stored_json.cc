#include "app/stored_json.h"

#include "base/error.h"
#include "base/file.h"

namespace isobit::app {

namespace fs = std::filesystem;

Json parse_stored_json(const std::string& text, const std::string& where) {
  try {
    return parse_json(text, where);
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(),
                "the file is damaged, or is not what its name says");
  }
}

std::optional<Json> read_stored_object(const fs::path& path) {
  constexpr size_t kMaxBytes = size_t{256} << 20;
  if (!fs::exists(path)) return std::nullopt;
  Json value = parse_stored_json(read_file(path, kMaxBytes), path.string());
  if (!value.is_object())
    throw Error(ErrorCode::environment, path.string() + ": an object is expected");
  return value;
}

}  // namespace isobit::app
