#include "record/baseline_file.h"

#include <vector>

#include "base/digest.h"
#include "base/json_members.h"
#include "record/run_json.h"

namespace isobit {
namespace {

constexpr const char* kFormat = "isobit.baseline";
constexpr int64_t kFormatVersion = 1;
constexpr std::string_view kBegin = "{\n\"format\": \"isobit.baseline\"";
const std::vector<std::string> kParts = {"baseline", "policy", "run",     "fingerprint",
                                         "requests", "cells",  "samples", "forced"};

Json lines_of(const std::string& text) {
  Json lines = Json::array();
  if (text.empty()) return lines;
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  lines.push_back(text.substr(begin));
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) out += (i ? "\n" : "") + lines[i];
  return out;
}

// An array or an object with each element on a line of its own.
void append_part(std::string& out, const Json& part) {
  const bool is_array = part.is_array();
  out += is_array ? "[" : "{";
  const char* separator = "\n";
  for (const auto& [key, value] : part.items()) {
    out += separator;
    if (!is_array) out += canonical_json(Json(key)) + ": ";
    out += canonical_json(value);
    separator = ",\n";
  }
  out += is_array ? "\n]" : "\n}";
}

void check_format(const Json& root, const std::string& where) {
  const auto found = [&](const char* key) {
    return root.is_object() && root.contains(key) ? root[key].dump().substr(0, 40) : "nothing";
  };
  if (found("format") != Json(kFormat).dump()) {
    throw Error(ErrorCode::environment,
                where + ": format is " + found("format") + ", expected \"" + kFormat + "\"",
                "isobit baseline export writes such a file");
  }
  if (found("format_version") != std::to_string(kFormatVersion)) {
    throw Error(ErrorCode::environment,
                where + ": format_version is " + found("format_version") + ", expected " +
                    std::to_string(kFormatVersion),
                "the file is from another version of isobit; use that one");
  }
}

void check_sums(const Json& root, const JsonMembers& members, const std::string& where) {
  const JsonMembers sums(members.at("checksums"), where + ": checksums", kParts);
  for (const std::string& part : kParts) {
    const std::string now = sha256_hex(canonical_json(root[part]));
    if (sums.text(part) == now) continue;
    throw Error(ErrorCode::environment,
                where + ": the checksum of \"" + part + "\" is " + now.substr(0, 12) +
                    ", the file says " + sums.text(part).substr(0, 12),
                "the file was damaged or edited; export the baseline again");
  }
}

}  // namespace

std::string baseline_file_text(const BaselineFile& baseline) {
  Json parts = {{"baseline",
                 {{"name", baseline.name},
                  {"version", baseline.version},
                  {"created", baseline.created},
                  {"note", baseline.note}}},
                {"policy", lines_of(baseline.policy)}};
  parts.update(run_sections(baseline.run));
  std::string out(kBegin);
  out += ",\n\"format_version\": " + std::to_string(kFormatVersion);
  Json sums = Json::object();
  for (const std::string& part : kParts) {
    sums[part] = sha256_hex(canonical_json(parts[part]));
    out += ",\n" + canonical_json(Json(part)) + ": ";
    append_part(out, parts[part]);
  }
  out += ",\n\"checksums\": ";
  append_part(out, sums);
  return out + "\n}\n";
}

BaselineFile read_baseline_file(std::string_view text, const std::string& where) {
  Json root;
  try {
    root = parse_json(text, where, {.max_depth = 8});
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(), "isobit baseline export writes such a file");
  }
  check_format(root, where);
  std::vector<std::string> known = kParts;
  known.insert(known.end(), {"format", "format_version", "checksums"});
  const JsonMembers members(root, where, known);
  for (const std::string& part : kParts) static_cast<void>(members.at(part));
  check_sums(root, members, where);
  const JsonMembers m(members.at("baseline"), where + ": baseline",
                      {"name", "version", "created", "note"});
  BaselineFile out;
  out.name = m.text("name");
  out.version = m.integer("version", 1);
  out.created = m.text("created");
  out.note = m.text("note");
  out.policy = joined(members.texts("policy"));
  out.run = run_from_sections(root, where);
  return out;
}

bool begins_as_baseline_file(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // editors of some systems add one
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at != text.npos && text[at] == '{';
}

}  // namespace isobit
