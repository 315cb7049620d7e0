// A page that several commands add to: the summary of a build's step.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/descriptor.h"

namespace isobit {

// What LockedPage throws of a name that it would not open, before any work is done.
void require_growable(const std::filesystem::path& path);

// A text file that several processes add whole pages to, held by this one (flock) until it is gone:
// what others add meanwhile comes before or after, never in between.
class LockedPage {
 public:
  // Makes the file where there is none. Throws as AppendedFile does, but takes regular files only.
  explicit LockedPage(const std::filesystem::path& path);
  ~LockedPage();  // a file that was made and got nothing goes again
  LockedPage(const LockedPage&) = delete;
  LockedPage& operator=(const LockedPage&) = delete;

  // With `n_bytes` added, on a line of their own.
  size_t size_with(size_t n_bytes) const;
  // In one write, on a line of its own. Where that fails (a full disk), the file is as it was, and
  // Error(environment) has the path and the system's reason.
  void append(std::string_view text);

 private:
  bool ends_a_line() const;

  std::filesystem::path path_;
  std::optional<Descriptor> file_;
  size_t size_bytes_ = 0;  // as it was found
  bool is_new_ = false;
};

}  // namespace isobit
