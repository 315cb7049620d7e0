// Reads normalizer steps from a tokenizer.json.
#include "base/error.h"
#include "text/base64.h"
#include "text/json_fields.h"
#include "text/normalizer.h"

namespace isobit {
namespace {

NormalizerStep read_replace(const JsonFields& fields) {
  fields.allow_only({"type", "pattern", "content"});
  const JsonFields pattern = fields.object("pattern");
  pattern.allow_only({"Regex", "String"});
  if (pattern.has("Regex") == pattern.has("String"))
    pattern.fail("expected either \"Regex\" or \"String\"");
  const std::string content = fields.string("content");
  if (pattern.has("Regex")) return replace_regex(pattern.string("Regex"), content, pattern.where());
  const std::string literal = pattern.string("String");
  if (literal.empty()) pattern.fail("an empty \"String\" cannot be replaced");
  return replace_literal(literal, content);
}

NormalizerStep read_bert(const JsonFields& fields) {
  fields.allow_only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  const bool lowercase = fields.boolean_or("lowercase", true);
  return BertStep{.clean_text = fields.boolean_or("clean_text", true),
                  .handle_chinese_chars = fields.boolean_or("handle_chinese_chars", true),
                  .strip_accents = fields.boolean_or("strip_accents", lowercase),
                  .lowercase = lowercase};
}

NormalizerStep read_precompiled(const JsonFields& fields) {
  fields.allow_only({"type", "precompiled_charsmap"});
  const auto blob = from_base64(fields.string("precompiled_charsmap"));
  if (!blob) fields.fail_at("precompiled_charsmap", "base64");
  return CharsmapStep{.map = std::make_shared<Charsmap>(*blob, fields.where()),
                      .by_grapheme = true};
}

void read_steps(const Json& value, const std::string& where, std::vector<NormalizerStep>& steps) {
  const JsonFields fields(value, where, ErrorCode::environment);
  const std::string type = fields.string("type");
  if (type == "Sequence") {
    size_t i = 0;
    for (const Json& step : fields.array("normalizers"))
      read_steps(step, where + ": normalizers[" + std::to_string(i++) + "]", steps);
  } else if (type == "NFC") {
    steps.push_back(UnicodeFormStep{UnicodeForm::kNfc});
  } else if (type == "NFD") {
    steps.push_back(UnicodeFormStep{UnicodeForm::kNfd});
  } else if (type == "NFKC") {
    steps.push_back(UnicodeFormStep{UnicodeForm::kNfkc});
  } else if (type == "NFKD") {
    steps.push_back(UnicodeFormStep{UnicodeForm::kNfkd});
  } else if (type == "Lowercase") {
    steps.push_back(LowercaseStep{});
  } else if (type == "StripAccents") {
    steps.push_back(StripAccentsStep{});
  } else if (type == "Nmt") {
    steps.push_back(NmtStep{});
  } else if (type == "Strip") {
    steps.push_back(StripStep{.left = fields.boolean_or("strip_left", true),
                              .right = fields.boolean_or("strip_right", true)});
  } else if (type == "Replace") {
    steps.push_back(read_replace(fields));
  } else if (type == "Prepend") {
    steps.push_back(PrependStep{.text = fields.string("prepend")});
  } else if (type == "BertNormalizer") {
    steps.push_back(read_bert(fields));
  } else if (type == "Precompiled") {
    steps.push_back(read_precompiled(fields));
  } else {
    fields.fail("the normalizer \"" + type +
                "\" is not supported (Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, "
                "StripAccents, Replace, Prepend, BertNormalizer, Nmt and Precompiled are)");
  }
}

}  // namespace

Normalizer read_normalizer(const Json& value, const std::string& where) {
  std::vector<NormalizerStep> steps;
  if (!value.is_null()) read_steps(value, where, steps);
  return Normalizer(std::move(steps));
}

}  // namespace isobit
