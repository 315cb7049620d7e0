#include "app/run_refs.h"

#include <filesystem>

#include "store/store.h"

namespace isobit::app {

RunRef parse_run_ref(const std::string& text, const std::string& default_store) {
  if (std::filesystem::exists(text)) return {.store = text, .run = "latest"};
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0)
    return {.store = text.substr(0, colon), .run = text.substr(colon + 1)};
  if (text.ends_with(".db")) return {.store = text, .run = "latest"};
  return {.store = default_store, .run = text};
}

RunRecord load_run(const std::string& text, const std::string& default_store) {
  const RunRef ref = parse_run_ref(text, default_store);
  Store store = Store::open(ref.store, StoreMode::kRead);
  return store.load_run(store.resolve_ref(ref.run));
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./~:@%+,=";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string store_option(const GlobalFlags& flags) {
  return flags.store == GlobalFlags{}.store ? "" : " --store " + shell_word(flags.store);
}

}  // namespace isobit::app
