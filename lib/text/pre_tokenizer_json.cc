// Reads pre-tokenizer stages from a tokenizer.json.
#include "base/error.h"
#include "text/json_fields.h"
#include "text/pre_tokenizer.h"

namespace isobit {
namespace {

SplitBehaviour read_behaviour(const JsonFields& fields) {
  const std::string word = fields.string("behavior");
  if (word == "Removed") return SplitBehaviour::kRemoved;
  if (word == "Isolated") return SplitBehaviour::kIsolated;
  if (word == "MergedWithPrevious") return SplitBehaviour::kMergedWithPrevious;
  if (word == "MergedWithNext") return SplitBehaviour::kMergedWithNext;
  if (word == "Contiguous") return SplitBehaviour::kContiguous;
  fields.fail("unknown split behavior \"" + word + "\"");
}

PreTokenizerStage read_split(const JsonFields& fields) {
  fields.allow_only({"type", "pattern", "behavior", "invert"});
  const SplitBehaviour behaviour = read_behaviour(fields);
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

void read_stages(const Json& value, const std::string& where,
                 std::vector<PreTokenizerStage>& stages) {
  const JsonFields fields(value, where, ErrorCode::environment);
  const std::string type = fields.string("type");
  if (!stages.empty() && std::holds_alternative<ByteLevelSplit>(stages.back())) {
    fields.fail("the pre-tokenizer \"" + type + "\" comes after ByteLevel, which must be the last");
  }
  if (type == "Sequence") {
    size_t i = 0;
    for (const Json& stage : fields.array("pretokenizers")) {
      read_stages(stage, where + ": pretokenizers[" + std::to_string(i++) + "]", stages);
    }
  } else if (type == "Split") {
    stages.push_back(read_split(fields));
  } else if (type == "Digits") {
    fields.allow_only({"type", "individual_digits"});
    stages.push_back(DigitsSplit{.individual = fields.boolean_or("individual_digits", false)});
  } else if (type == "ByteLevel") {
    fields.allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    stages.push_back(byte_level_split(fields.boolean_or("add_prefix_space", true),
                                      fields.boolean_or("use_regex", true)));
  } else {
    fields.fail("the pre-tokenizer \"" + type +
                "\" is not supported (Sequence, Split, Digits and ByteLevel are)");
  }
}

}  // namespace

PreTokenizer read_pre_tokenizer(const Json& value, const std::string& where) {
  std::vector<PreTokenizerStage> stages;
  if (!value.is_null()) read_stages(value, where, stages);
  if (stages.empty() || !std::holds_alternative<ByteLevelSplit>(stages.back())) {
    throw Error(ErrorCode::environment,
                where + ": expected a ByteLevel pre-tokenizer as the last stage, found none",
                "isobit reads byte-level BPE tokenizers");
  }
  return PreTokenizer(std::move(stages));
}

}  // namespace isobit
