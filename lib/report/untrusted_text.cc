#include "report/untrusted_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/digest.h"

namespace isobit {
namespace {

// Decodes one character at `at` and moves past it. Absent for a byte that does not begin
// well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates); then one byte is
// passed.
std::optional<char32_t> next_character(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size()) {
    ++at;
    return std::nullopt;
  }
  char32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) {
      ++at;
      return std::nullopt;
    }
    code = code << 6 | (byte(at + i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) {
    ++at;
    return std::nullopt;
  }
  at += length;
  return code;
}

struct Range {
  char32_t first;
  char32_t last;
};

bool in_ranges(char32_t code, std::span<const Range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& r) { return code >= r.first && code <= r.last; });
}

// Characters that steer a display or show nothing: controls, soft hyphen, fillers, zero-width and
// bidirectional marks, line separators, interlinear marks, tags, non-characters.
constexpr std::array kInvisible = {
    Range{0x00, 0x1F},       Range{0x7F, 0x9F},      Range{0xAD, 0xAD},     Range{0x61C, 0x61C},
    Range{0x115F, 0x1160},   Range{0x17B4, 0x17B5},  Range{0x180B, 0x180F}, Range{0x200B, 0x200F},
    Range{0x2028, 0x202E},   Range{0x2060, 0x206F},  Range{0x3164, 0x3164}, Range{0xFDD0, 0xFDEF},
    Range{0xFEFF, 0xFEFF},   Range{0xFFA0, 0xFFA0},  Range{0xFFF0, 0xFFFB}, Range{0xFFFE, 0xFFFF},
    Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF}};

// East Asian wide and emoji blocks, coarsely: enough to keep table columns straight.
constexpr std::array kWide = {
    Range{0x1100, 0x115E},   Range{0x2E80, 0x303E},   Range{0x3041, 0x4DBF},
    Range{0x4E00, 0xA4CF},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE4F},   Range{0xFF01, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
    Range{0x20000, 0x3FFFD}};

constexpr std::array kCombining = {Range{0x300, 0x36F},   Range{0x1AB0, 0x1AFF},
                                   Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF},
                                   Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

size_t character_width(std::optional<char32_t> code) {
  if (!code) return 1;
  if (in_ranges(*code, kCombining)) return 0;
  return in_ranges(*code, kWide) ? 2 : 1;
}

std::string escaped(char32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\\':
      return "\\\\";
    default:
      return code < 0x80 ? fmt::format("\\x{:02x}", static_cast<uint32_t>(code))
                         : fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(code));
  }
}

std::string byte_escape(char byte) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

bool begins_without_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char c) {
           return want == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

// What GitHub's runner, Azure's agent and TeamCity carry out when a log shows it. The runner takes
// "::name::" and "::name key=...::" at the beginning of a line, and any text may end up there: a
// long one is wrapped.
bool begins_log_command(std::string_view text) {
  for (const char* bracket : {"##[", "##vso[", "##teamcity["}) {
    if (begins_without_case(text, bracket)) return true;
  }
  if (!text.starts_with("::")) return false;
  const std::string_view rest = text.substr(2);
  constexpr std::array<std::string_view, 16> kCommands = {
      "add-mask", "add-matcher",   "add-path",       "debug",
      "echo",     "endgroup",      "error",          "group",
      "notice",   "save-state",    "set-env",        "set-output",
      "warning",  "stop-commands", "remove-matcher", "internal-set-repo-path"};
  return std::any_of(kCommands.begin(), kCommands.end(), [&](std::string_view command) {
    if (!begins_without_case(rest, command)) return false;
    const std::string_view after = rest.substr(command.size());
    return after.empty() || after.starts_with("::") || after.front() == ' ';
  });
}

// A character as entity unless it can play no part in Markdown, HTML or an automatic link.
bool is_plain_in_markdown(char c) {
  const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_word || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view(" ,;=?%+-/").find(c) != std::string_view::npos;
}

// "www." starts an automatic link in GitHub's dialect; elsewhere a full stop is only a full stop.
bool begins_link(std::string_view text, size_t dot) {
  if (dot < 3) return false;
  return std::all_of(text.begin() + static_cast<ptrdiff_t>(dot) - 3,
                     text.begin() + static_cast<ptrdiff_t>(dot),
                     [](char c) { return c == 'w' || c == 'W'; });
}

// Excel, LibreOffice and Sheets read a field as a formula by its first character, spaces aside,
// full-width forms included.
bool looks_like_formula(std::string_view visible) {
  const size_t start = visible.find_first_not_of(' ');
  if (start == std::string_view::npos) return false;
  const std::string_view rest = visible.substr(start);
  if (std::string_view("=+-@").find(rest.front()) != std::string_view::npos) return true;
  constexpr std::array<std::string_view, 4> kFullWidth = {"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  return std::any_of(kFullWidth.begin(), kFullWidth.end(),
                     [&](std::string_view sign) { return rest.starts_with(sign); });
}

}  // namespace

std::string visible_text(std::string_view text, size_t max_characters) {
  if (text.size() > max_characters) return visible_text(bounded_name(text, max_characters));
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const auto code = next_character(text, at);
    if (!code) {
      out += byte_escape(text[start]);
    } else if (*code == '\\' || in_ranges(*code, kInvisible) ||
               ((*code == ':' || *code == '#') && begins_log_command(text.substr(start)))) {
      out += escaped(*code);
    } else {
      out += text.substr(start, at - start);
    }
  }
  return out;
}

std::string markdown_code(std::string_view text, size_t max_characters) {
  const std::string visible = visible_text(text, max_characters);
  std::string out = "<code>";
  for (size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    const bool plain = is_plain_in_markdown(c) || (c == '.' && !begins_link(visible, i));
    out += plain ? std::string(1, c) : fmt::format("&#{};", static_cast<int>(c));
  }
  return out + "</code>";
}

std::string markdown_prose(std::string_view text) {
  const std::string visible = visible_text(text);
  std::string out;
  for (size_t i = 0; i < visible.size(); ++i) {
    const char c = visible[i];
    const bool is_markup = std::string_view("&<>|`*_[]\\@#~$!").find(c) != std::string_view::npos ||
                           (c == '.' && begins_link(visible, i)) ||
                           (c == ':' && std::string_view(visible).substr(i + 1).starts_with("//"));
    out += is_markup ? fmt::format("&#{};", static_cast<int>(c)) : std::string(1, c);
  }
  return out;
}

std::string csv_text(std::string_view text) {
  const std::string plain = visible_text(text);
  std::string visible;
  if (looks_like_formula(plain)) visible += '\'';
  visible += plain;
  if (visible.find_first_of(",\"; ") == std::string::npos) return visible;
  std::string out = "\"";
  for (const char c : visible) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    const bool is_markup = std::string_view("&<>\"'").find(c) != std::string_view::npos;
    out += is_markup ? fmt::format("&#{};", static_cast<int>(c)) : std::string(1, c);
  }
  return out;
}

std::string prometheus_label(std::string_view text) {
  std::string out;
  for (const char c : visible_text(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

namespace {

std::string percent_encoded(std::string_view text, std::string_view signs) {
  std::string out;
  for (const char c : text) {
    const bool encode = signs.find(c) != std::string_view::npos;
    out += encode ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string workflow_message(std::string_view text) {
  return percent_encoded(visible_text(text), "%\r\n");
}

std::string workflow_property(std::string_view text) {
  return percent_encoded(visible_text(text), "%\r\n:,");
}

std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string bounded_name(std::string_view text, size_t max_characters) {
  constexpr size_t kDigestCharacters = 12;
  if (text.size() <= max_characters) return std::string(text);
  size_t n_characters = 0, at = 0;
  while (at < text.size() && n_characters < max_characters) {
    next_character(text, at);
    ++n_characters;
  }
  if (at == text.size()) return std::string(text);
  return std::string(text.substr(0, at)) + "...~" + sha256_hex(text).substr(0, kDigestCharacters);
}

namespace {

// Where one of `names` that is long stands in `text` at `at`: the longest of those; null: none.
const std::string* long_name_at(std::string_view text, size_t at,
                                const std::vector<std::string>& names) {
  const std::string* longest = nullptr;
  for (const std::string& name : names) {
    if (name.size() <= kNameInSentenceCharacters || !text.substr(at).starts_with(name)) continue;
    if (longest == nullptr || name.size() > longest->size()) longest = &name;
  }
  return longest;
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!next_character(text, at)) return false;
  }
  return true;
}

}  // namespace

std::string bounded_sentence(std::string_view sentence, const std::vector<std::string>& names,
                             size_t max_characters) {
  std::string out;
  for (size_t at = 0; at < sentence.size();) {
    if (const std::string* name = long_name_at(sentence, at, names)) {
      out += bounded_name(*name, kNameInSentenceCharacters);
      at += name->size();
    } else {
      out += sentence[at++];
    }
  }
  return bounded_name(out, max_characters);
}

std::string json_text(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const auto code = next_character(text, at);
    out += !code           ? byte_escape(text[start])
           : *code == '\\' ? "\\\\"
                           : std::string(text.substr(start, at - start));
  }
  return out;
}

size_t display_width(std::string_view visible) {
  size_t width = 0;
  for (size_t at = 0; at < visible.size();) width += character_width(next_character(visible, at));
  return width;
}

size_t prefix_fitting(std::string_view visible, size_t columns) {
  size_t fits = 0;
  size_t width = 0;
  for (size_t at = 0; at < visible.size();) {
    width += character_width(next_character(visible, at));
    if (fits > 0 && width > columns) break;
    fits = at;
  }
  return fits;
}

}  // namespace isobit
