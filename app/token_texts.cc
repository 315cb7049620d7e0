#include "app/token_texts.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/loaded_model.h"
#include "app/recorded_model.h"
#include "app/text_probes.h"
#include "base/error.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

std::map<int32_t, std::string> texts_of(const Tokenizer& tokenizer) {
  std::map<int32_t, std::string> out;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view bytes = tokenizer.token_bytes(id);
    out.emplace(id, bytes.empty() ? tokenizer.token_text(id) : bytes);
  }
  return out;
}

bool has_tokenizer(const RunRecord& run, const LoadedText& text) {
  const std::optional<std::string> digest = text_fingerprint_inputs(text).tokenizer_digest;
  return digest && std::ranges::any_of(run.fingerprint.items, [&](const FingerprintItem& item) {
           return item.item_class == FingerprintClass::kText && item.name == "tokenizer" &&
                  item.value == *digest;
         });
}

// The path comes from a record, which may be somebody else's: only folders and plain files.
std::optional<LoadedText> recorded_text(const RunRecord& run, Console& console) {
  if (run.redacted || !can_rerun(run)) return {};
  const std::string path = recorded_model_path(run);
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) && !fs::is_regular_file(path, ignored)) return {};
  try {
    LoadedText text = load_text(path);
    if (has_tokenizer(run, text)) return text;
    console.say("tokens are shown as numbers: '" + printable(path) +
                "' has another tokenizer than run " + run.id +
                " recorded; --model names the right one");
  } catch (const Error& error) {
    console.say("tokens are shown as numbers: " + std::string(error.what()));
  }
  return {};
}

}  // namespace

std::map<int32_t, std::string> token_texts(const RunRecord& run, const std::string& model,
                                           Console& console) {
  if (!model.empty()) return texts_of(*load_text(model).tokenizer);
  const std::optional<LoadedText> text = recorded_text(run, console);
  return text ? texts_of(*text->tokenizer) : std::map<int32_t, std::string>{};
}

}  // namespace isobit::app
