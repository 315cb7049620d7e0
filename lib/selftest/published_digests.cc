#include "selftest/published_digests.h"

#include <fmt/format.h>

#include "base/error.h"

namespace isobit {
namespace {

constexpr std::string_view kPublished =
#include ISOBIT_ELEMENTARY_DIGESTS
    ;

constexpr std::string_view kHead =
    R"(# Digests of isobit's elementary functions over all 2^32 inputs. Every build on every machine gives these.
#
# FUNCTION SLICE  SHA-256 of the results for the inputs whose bits begin with the byte SLICE, ascending, 4 bytes each,
#                 little-endian
# FUNCTION total  SHA-256 over the 256 digests of the slices (32 bytes each), slice 00 first
# FUNCTION sample SHA-256 of the results for the inputs 0, 65521, 2 * 65521, ... below 2^32
#
# To check: isobit selftest --exhaustive. To write: isobit selftest --exhaustive -o docs/elementary-digests.txt
)";

// The words of the next line that says something; empty at the end.
std::string_view next_line(std::string_view& text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line[0] != '#') return line;
  }
  return {};
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The digest of a line that begins with "`key` ".
Sha256Digest read_digest(std::string_view line, const std::string& key, const std::string& where) {
  const auto refuse = [&] {
    throw Error(ErrorCode::usage,
                fmt::format("{}: expected '{}' and 64 lower-case hex digits, found '{}'", where,
                            key, line.substr(0, 120)),
                "isobit selftest --exhaustive -o FILE writes such a file");
  };
  Sha256Digest digest;
  const size_t start = key.size() + 1;
  if (line.size() != start + 2 * digest.size() || !line.starts_with(key + " ")) refuse();
  for (size_t i = 0; i < digest.size(); ++i) {
    const int high = hex_digit(line[start + 2 * i]), low = hex_digit(line[start + 2 * i + 1]);
    if (high < 0 || low < 0) refuse();
    digest[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return digest;
}

}  // namespace

Sha256Digest total_digest(const FunctionDigests& digests) {
  Sha256 total;
  for (const Sha256Digest& slice : digests.slices) total.update(slice.data(), slice.size());
  return total.finish();
}

std::string digests_text(const ElementaryDigests& digests) {
  std::string out(kHead);
  for (const Elementary function : kElementaryFunctions) {
    const FunctionDigests& d = digests_of(digests, function);
    out += fmt::format("\n{} total {}\n", name(function), hex(total_digest(d)));
    out += fmt::format("{} sample {}\n", name(function), hex(d.sample));
    for (int s = 0; s < kSlices; ++s)
      out +=
          fmt::format("{} {:02x} {}\n", name(function), s, hex(d.slices[static_cast<size_t>(s)]));
  }
  return out;
}

ElementaryDigests digests_from_text(std::string_view text, const std::string& where) {
  ElementaryDigests all;
  for (const Elementary function : kElementaryFunctions) {
    FunctionDigests& d = all[static_cast<size_t>(function)];
    const std::string prefix = name(function) + std::string(" ");
    const Sha256Digest total = read_digest(next_line(text), prefix + "total", where);
    d.sample = read_digest(next_line(text), prefix + "sample", where);
    for (int s = 0; s < kSlices; ++s)
      d.slices[static_cast<size_t>(s)] =
          read_digest(next_line(text), fmt::format("{}{:02x}", prefix, s), where);
    if (total != total_digest(d))
      throw Error(ErrorCode::usage,
                  fmt::format("{}: the total of {} is {}, but its slices give {}", where,
                              name(function), hex(total), hex(total_digest(d))),
                  "the file was changed or damaged");
  }
  if (const std::string_view rest = next_line(text); !rest.empty())
    throw Error(ErrorCode::usage,
                fmt::format("{}: nothing may follow, found '{}'", where, rest.substr(0, 120)));
  return all;
}

const ElementaryDigests& published_digests() {
  static const ElementaryDigests digests =
      digests_from_text(kPublished, "the published digests of this build");
  return digests;
}

}  // namespace isobit
