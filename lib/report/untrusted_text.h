// Text from models, servers and prompts, made safe for each place that a report puts it.
//
// Such text may hold anything: markup, spreadsheet formulas, terminal escapes, bidirectional
// overrides, bytes that are not UTF-8. Nothing here drops or hides a byte: what cannot be shown as
// itself is shown as an escape.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

// One line of printable text: backslash, control and invisible characters and invalid bytes become
// \\, \n, \x1b, \u{202e}, \xff. So does the first sign of what a build server takes for a command
// wherever it stands in a log: "::error ::", "##[", "##vso[", "##teamcity[". Of a text of more than
// `max_characters`, what bounded_name leaves of it.
std::string visible_text(std::string_view text, size_t max_characters = SIZE_MAX);

// visible_text as inline code that no Markdown or HTML reader takes for markup, a link or a
// mention. Works inside tables.
std::string markdown_code(std::string_view text, size_t max_characters = SIZE_MAX);

// Our own sentences in Markdown, with the names in them: nothing becomes markup or a link, and they
// stay readable as plain text.
std::string markdown_prose(std::string_view text);

// visible_text as one CSV field (RFC 4180 quoting), guarded so that no spreadsheet takes it for a
// formula.
std::string csv_text(std::string_view text);

// visible_text in an element or a quoted attribute of XML 1.0.
std::string xml_text(std::string_view text);

// visible_text between the quotes of a label's value in Prometheus' exposition format.
std::string prometheus_label(std::string_view text);

// visible_text as message, and as property, of a GitHub workflow command: "::error title=P::M".
std::string workflow_message(std::string_view text);
std::string workflow_property(std::string_view text);

// A relative file name as a URI reference (RFC 3986): what is no unreserved ASCII is
// percent-encoded, "/" aside.
std::string uri_path(std::string_view path);

// For places of bounded length: text of more than `max_characters` is cut, and the beginning of the
// digest of all of it is appended, "load.concurr...~0f3a9c22d1b7", so that names which differ still
// do.
std::string bounded_name(std::string_view text, size_t max_characters);

// A sentence with names from outside in it: each of `names` that is long is bounded where it
// stands, so that the figures after it are not cut away with it; then bounded_name of the whole.
inline constexpr size_t kNameInSentenceCharacters = 120;
std::string bounded_sentence(std::string_view sentence, const std::vector<std::string>& names,
                             size_t max_characters = SIZE_MAX);

// Valid UTF-8, for JSON, which escapes the rest itself. Valid text stays as it is. In any other,
// each invalid byte becomes \xff and each backslash is doubled, so that no two of them read alike.
std::string json_text(std::string_view text);

// Columns that a terminal uses for visible text.
size_t display_width(std::string_view visible);

// The longest prefix of visible text that fits `columns`, in bytes; never cuts a character, and
// takes at least one.
size_t prefix_fitting(std::string_view visible, size_t columns);

}  // namespace isobit
