// Reads pre-tokenizer stages from a tokenizer.json.
#include "base/error.h"
#include "text/json_fields.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

namespace isobit {
namespace {

SplitBehaviour read_behaviour(const JsonFields& fields, const std::string& word) {
  if (word == "Removed") return SplitBehaviour::kRemoved;
  if (word == "Isolated") return SplitBehaviour::kIsolated;
  if (word == "MergedWithPrevious") return SplitBehaviour::kMergedWithPrevious;
  if (word == "MergedWithNext") return SplitBehaviour::kMergedWithNext;
  if (word == "Contiguous") return SplitBehaviour::kContiguous;
  fields.fail("unknown split behavior \"" + word + "\"");
}

PreTokenizerStage read_split(const JsonFields& fields) {
  fields.allow_only({"type", "pattern", "behavior", "invert"});
  const SplitBehaviour behaviour = read_behaviour(fields, fields.string("behavior"));
  const bool inverted = fields.boolean_or("invert", false);
  const JsonFields pattern = fields.object("pattern");
  pattern.allow_only({"Regex", "String"});
  if (pattern.has("Regex") == pattern.has("String"))
    pattern.fail("expected either \"Regex\" or \"String\"");
  if (pattern.has("Regex"))
    return regex_split(pattern.string("Regex"), behaviour, inverted, pattern.where());
  const std::string literal = pattern.string("String");
  if (literal.empty()) pattern.fail("an empty \"String\" cannot cut text into pieces");
  return LiteralSplit{.literal = literal, .behaviour = behaviour, .inverted = inverted};
}

PrependScheme read_prepend_scheme(const JsonFields& fields) {
  const bool prefix = fields.boolean_or("add_prefix_space", true);
  if (!fields.has("prepend_scheme")) return prefix ? PrependScheme::kAlways : PrependScheme::kNever;
  const std::string word = fields.string("prepend_scheme");
  if (!prefix && word != "never")
    fields.fail("\"add_prefix_space\" is false, but \"prepend_scheme\" is \"" + word + "\"");
  if (word == "always") return PrependScheme::kAlways;
  if (word == "first") return PrependScheme::kFirst;
  if (word == "never") return PrependScheme::kNever;
  fields.fail("unknown prepend_scheme \"" + word + "\"");
}

PreTokenizerStage read_metaspace(const JsonFields& fields) {
  fields.allow_only(
      {"type", "replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"});
  MetaspaceSplit stage{.replacement = fields.string_or("replacement", "\u2581"),
                       .scheme = read_prepend_scheme(fields),
                       .split = fields.boolean_or("split", true)};
  if (stage.replacement.empty() ||
      code_point_at(stage.replacement, 0).n_bytes != stage.replacement.size()) {
    fields.fail_at("replacement", "one character");
  }
  return stage;
}

PreTokenizerStage read_delimiter(const JsonFields& fields) {
  fields.allow_only({"type", "delimiter"});
  const std::string delimiter = fields.string("delimiter");
  if (delimiter.empty()) fields.fail_at("delimiter", "one character");
  return LiteralSplit{
      .literal = delimiter, .behaviour = SplitBehaviour::kRemoved, .inverted = false};
}

void read_byte_level(const JsonFields& fields, std::vector<PreTokenizerStage>& stages) {
  fields.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (PreTokenizer(stages).is_byte_level()) fields.fail("ByteLevel is there twice");
  stages.push_back(byte_level_split(fields.boolean_or("add_prefix_space", true),
                                    fields.boolean_or("use_regex", true)));
}

void read_stage(const JsonFields& fields, const std::string& type,
                std::vector<PreTokenizerStage>& stages) {
  if (type == "Split") {
    stages.push_back(read_split(fields));
  } else if (type == "Digits") {
    fields.allow_only({"type", "individual_digits"});
    stages.push_back(DigitsSplit{.individual = fields.boolean_or("individual_digits", false)});
  } else if (type == "ByteLevel") {
    read_byte_level(fields, stages);
  } else if (type == "Metaspace") {
    stages.push_back(read_metaspace(fields));
  } else if (type == "Punctuation") {
    fields.allow_only({"type", "behavior"});
    stages.push_back(PunctuationSplit{
        .behaviour = read_behaviour(fields, fields.string_or("behavior", "Isolated"))});
  } else if (type == "Whitespace") {
    stages.push_back(WordSplit{});
  } else if (type == "WhitespaceSplit") {
    stages.push_back(WhiteSpaceSplit{});
  } else if (type == "BertPreTokenizer") {
    stages.push_back(WhiteSpaceSplit{});
    stages.push_back(PunctuationSplit{.behaviour = SplitBehaviour::kIsolated});
  } else if (type == "CharDelimiterSplit") {
    stages.push_back(read_delimiter(fields));
  } else {
    fields.fail("the pre-tokenizer \"" + type +
                "\" is not supported (Sequence, Split, Digits, ByteLevel, Metaspace, Punctuation, "
                "Whitespace, WhitespaceSplit, BertPreTokenizer and CharDelimiterSplit are)");
  }
}

void read_stages(const Json& value, const std::string& where,
                 std::vector<PreTokenizerStage>& stages) {
  const JsonFields fields(value, where, ErrorCode::environment);
  const std::string type = fields.string("type");
  if (type != "Sequence") return read_stage(fields, type, stages);
  size_t i = 0;
  for (const Json& stage : fields.array("pretokenizers"))
    read_stages(stage, where + ": pretokenizers[" + std::to_string(i++) + "]", stages);
}

}  // namespace

PreTokenizer read_pre_tokenizer(const Json& value, const std::string& where) {
  std::vector<PreTokenizerStage> stages;
  if (!value.is_null()) read_stages(value, where, stages);
  return PreTokenizer(std::move(stages));
}

}  // namespace isobit
