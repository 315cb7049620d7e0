#include "app/text_input.h"

#include <unistd.h>

#include <iostream>
#include <iterator>

#include "base/error.h"
#include "base/file.h"

namespace isobit::app {

std::string read_input(const std::string& path) {
  if (path != "-") return read_file(path);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

std::string read_piped_input(const std::string& what_to_do) {
  std::string text;
  if (!::isatty(STDIN_FILENO)) text = read_input("-");
  if (text.empty()) throw Error(ErrorCode::usage, what_to_do);
  return text;
}

}  // namespace isobit::app
