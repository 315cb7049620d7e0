// The tokenizer section of a GGUF. Its arrays are parallel and its ids index them, so all of it is
// checked together here, once, and the code that builds a tokenizer from it can index without
// asking.
#include <cctype>

#include "checkpoint/gguf.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

constexpr int32_t kByteToken = 6;
constexpr std::string_view kTemplateKey = "tokenizer.chat_template";

template <class Array>
void check_parallel(const GgufFile& file, const char* key, const Array& array, size_t n_tokens) {
  if (array.size() != n_tokens) {
    refuse(file.where(), std::string(key) + " has " + std::to_string(array.size()) +
                             " elements, but there are " + std::to_string(n_tokens) + " tokens");
  }
}

std::optional<int32_t> token_id(const GgufFile& file, const char* key, size_t n_tokens) {
  const std::optional<uint64_t> id = file.count(key);
  if (!id) return std::nullopt;
  if (*id >= n_tokens) {
    refuse(file.where(), std::string(key) + " is " + std::to_string(*id) + ", but there are " +
                             std::to_string(n_tokens) + " tokens");
  }
  return static_cast<int32_t>(*id);
}

// Byte tokens are spelled <0xNN>; a reader that believes any other spelling indexes out of its
// table.
void check_byte_tokens(const GgufFile& file, const GgufTokenizer& tokenizer) {
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (size_t i = 0; i < tokenizer.token_types.size(); ++i) {
    const std::string_view token = tokenizer.tokens[i];
    const int32_t type = tokenizer.token_types[i];
    if (type < 0 || type > kByteToken) {
      refuse(file.where(), "token " + std::to_string(i) + " has the type " + std::to_string(type) +
                               ", expected 0 to 6");
    }
    const bool spelled = token.size() == 6 && token.substr(0, 3) == "<0x" && is_hex(token[3]) &&
                         is_hex(token[4]) && token[5] == '>';
    if (type == kByteToken && !spelled) {
      refuse(file.where(), "token " + std::to_string(i) + " is a byte token spelled " +
                               shown(token) + ", expected '<0xNN>'");
    }
  }
}

void read_templates(const GgufFile& file, GgufTokenizer& tokenizer) {
  tokenizer.chat_template = file.string(kTemplateKey);
  const std::string prefix = std::string(kTemplateKey) + ".";
  for (auto it = file.metadata().lower_bound(prefix);
       it != file.metadata().end() && it->first.starts_with(prefix); ++it) {
    tokenizer.named_chat_templates.emplace(it->first.substr(prefix.size()),
                                           *file.string(it->first));
  }
}

}  // namespace

GgufTokenizer GgufFile::tokenizer() const {
  GgufTokenizer out;
  const auto model = string("tokenizer.ggml.model");
  auto tokens = strings("tokenizer.ggml.tokens");
  if (!model || !tokens || tokens->empty()) {
    refuse(where_, "no tokenizer: tokenizer.ggml.model and tokenizer.ggml.tokens are needed");
  }
  out.model = *model;
  out.pre = string("tokenizer.ggml.pre").value_or("");
  out.tokens = std::move(*tokens);
  const size_t n = out.tokens.size();
  if (n > INT32_MAX) refuse(where_, "tokenizer.ggml.tokens has more tokens than ids");
  if (auto scores = f32_array("tokenizer.ggml.scores")) {
    check_parallel(*this, "tokenizer.ggml.scores", *scores, n);
    out.scores = std::move(*scores);
  }
  if (auto types = i32_array("tokenizer.ggml.token_type")) {
    check_parallel(*this, "tokenizer.ggml.token_type", *types, n);
    out.token_types = std::move(*types);
  }
  check_byte_tokens(*this, out);
  if (auto merges = strings("tokenizer.ggml.merges")) out.merges = std::move(*merges);
  out.bos_token_id = token_id(*this, "tokenizer.ggml.bos_token_id", n);
  out.eos_token_id = token_id(*this, "tokenizer.ggml.eos_token_id", n);
  out.eot_token_id = token_id(*this, "tokenizer.ggml.eot_token_id", n);
  out.eom_token_id = token_id(*this, "tokenizer.ggml.eom_token_id", n);
  out.unknown_token_id = token_id(*this, "tokenizer.ggml.unknown_token_id", n);
  out.padding_token_id = token_id(*this, "tokenizer.ggml.padding_token_id", n);
  out.add_bos = boolean("tokenizer.ggml.add_bos_token");
  out.add_eos = boolean("tokenizer.ggml.add_eos_token");
  out.cls_token_id = token_id(*this, "tokenizer.ggml.cls_token_id", n);
  out.separator_token_id = token_id(*this, "tokenizer.ggml.seperator_token_id", n);  // sic
  out.add_space_prefix = boolean("tokenizer.ggml.add_space_prefix");
  out.remove_extra_whitespaces = boolean("tokenizer.ggml.remove_extra_whitespaces");
  out.lowercase = boolean("tokenizer.ggml.normalizer.lowercase");
  out.strip_accents = boolean("tokenizer.ggml.normalizer.strip_accents");
  out.precompiled_charsmap = byte_array("tokenizer.ggml.precompiled_charsmap").value_or("");
  read_templates(*this, out);
  return out;
}

}  // namespace isobit
