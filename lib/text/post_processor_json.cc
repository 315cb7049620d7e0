// Reads the post-processor of a tokenizer.json.
#include "base/error.h"
#include "text/json_fields.h"
#include "text/post_processor.h"
#include "text/tokenizer_parts.h"

namespace isobit {
namespace {

// The ids that a template's special token stands for.
std::vector<int32_t> template_ids(const JsonFields& processor, const std::string& name) {
  const JsonFields entry = processor.object("special_tokens").object(name.c_str());
  std::vector<int32_t> ids;
  for (const Json& id : entry.array("ids")) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > static_cast<uint64_t>(kMaxTokenId)) {
      entry.fail("\"ids\": expected token ids, found " + describe(id));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

void read_template(const JsonFields& processor, PostProcessor& parts) {
  processor.allow_only({"type", "single", "pair", "special_tokens"});
  bool seen_text = false;
  std::vector<int32_t> before;
  std::vector<int32_t> after;
  for (const Json& piece : processor.array("single")) {
    const JsonFields fields(piece, processor.where() + ": single", ErrorCode::environment);
    if (fields.has("Sequence")) {
      if (seen_text || fields.object("Sequence").string("id") != "A")
        fields.fail("expected the text \"A\" exactly once");
      seen_text = true;
    } else if (fields.has("SpecialToken")) {
      const auto ids = template_ids(processor, fields.object("SpecialToken").string("id"));
      auto& target = seen_text ? after : before;
      target.insert(target.end(), ids.begin(), ids.end());
    } else {
      fields.fail("expected \"Sequence\" or \"SpecialToken\", found " + describe(piece));
    }
  }
  if (!seen_text) processor.fail("\"single\" leaves the text out");
  // In a sequence of processors each works on what the one before made.
  parts.prefix_ids.insert(parts.prefix_ids.begin(), before.begin(), before.end());
  parts.suffix_ids.insert(parts.suffix_ids.end(), after.begin(), after.end());
}

// "sep": ["</s>", 2]
int32_t read_pair_id(const JsonFields& fields, const char* key) {
  const Json& pair = fields.array(key);
  if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number_unsigned() ||
      pair[1].get<uint64_t>() > static_cast<uint64_t>(kMaxTokenId)) {
    fields.fail_at(key, "a token and its id");
  }
  return pair[1].get<int32_t>();
}

void read_steps(const Json& value, const std::string& where, PostProcessor& parts) {
  const JsonFields fields(value, where, ErrorCode::environment);
  const std::string type = fields.string("type");
  if (type == "ByteLevel") return;  // moves offsets, which isobit does not report
  if (type == "TemplateProcessing") return read_template(fields, parts);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    parts.prefix_ids.insert(parts.prefix_ids.begin(), read_pair_id(fields, "cls"));
    parts.suffix_ids.push_back(read_pair_id(fields, "sep"));
    return;
  }
  if (type != "Sequence") {
    fields.fail("the post-processor \"" + type +
                "\" is not supported (Sequence, ByteLevel, TemplateProcessing, BertProcessing and "
                "RobertaProcessing are)");
  }
  for (const Json& inner : fields.array("processors")) read_steps(inner, where, parts);
}

}  // namespace

PostProcessor read_post_processor(const Json& value, const std::string& where) {
  PostProcessor post;
  if (!value.is_null()) read_steps(value, where, post);
  return post;
}

}  // namespace isobit
