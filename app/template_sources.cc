#include "app/template_sources.h"

#include <algorithm>

#include "app/stored_json.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxTemplateBytes = size_t{16} << 20;
constexpr const char* kDefaultName = "default";

[[noreturn]] void not_text(const std::string& where, const Json& found) {
  throw Error(ErrorCode::environment,
              where + ": expected the text of a chat template, found " + found.type_name());
}

void add_jinja_files(const fs::path& folder, std::vector<FoundTemplate>& out) {
  const fs::path main_file = folder / "chat_template.jinja";
  if (fs::exists(main_file))
    out.push_back({"chat_template.jinja", kDefaultName, read_file(main_file, kMaxTemplateBytes)});
  const fs::path more = folder / "additional_chat_templates";
  if (!fs::is_directory(more)) return;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(more)) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    out.push_back({"additional_chat_templates/" + path.filename().string(), path.stem().string(),
                   read_file(path, kMaxTemplateBytes)});
  }
}

// A string, or a list of {"name", "template"}.
void add_field(const Json& value, const std::string& place, std::vector<FoundTemplate>& out) {
  if (value.is_null()) return;
  if (value.is_string()) {
    out.push_back({place, kDefaultName, value.get<std::string>()});
    return;
  }
  if (!value.is_array()) not_text(place, value);
  for (const Json& entry : value) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string() ||
        !entry.contains("template") || !entry["template"].is_string())
      not_text(place + ": a named template", entry);
    out.push_back({place, entry["name"].get<std::string>(), entry["template"].get<std::string>()});
  }
}

// Every place but the first that holds a template is unused.
void mark_unused(std::vector<FoundTemplate>& found, size_t n_before, size_t from) {
  if (n_before == 0) return;
  for (size_t i = from; i < found.size(); ++i) found[i].used = false;
}

// "<s>", or {"content": "<s>", ...} as an AddedToken is stored.
std::optional<std::string> token_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("content") && value["content"].is_string())
    return value["content"].get<std::string>();
  return std::nullopt;
}

void add_tokens(const Json& members, Json& out) {
  for (const auto& [name, value] : members.items()) {
    if (!name.ends_with("_token")) continue;
    const std::optional<std::string> text = token_text(value);
    if (text)
      out[name] = *text;
    else if (value.is_null())
      out.erase(name);
  }
}

}  // namespace

std::string FoundTemplate::digest() const {
  return sha256_hex(source);
}

std::vector<FoundTemplate> folder_templates(const fs::path& folder,
                                            const std::optional<Json>& config) {
  std::vector<FoundTemplate> out;
  add_jinja_files(folder, out);
  const size_t n_files = out.size();
  if (config && config->contains("chat_template"))
    add_field(config->at("chat_template"), "tokenizer_config.json: chat_template", out);
  mark_unused(out, n_files, n_files);
  const size_t n_before = out.size();
  const std::optional<Json> legacy = read_stored_object(folder / "chat_template.json");
  if (legacy && legacy->contains("chat_template"))
    add_field(legacy->at("chat_template"), "chat_template.json: chat_template", out);
  mark_unused(out, n_before, n_before);
  return out;
}

std::vector<FoundTemplate> gguf_templates(const GgufTokenizer& tokenizer) {
  std::vector<FoundTemplate> out;
  if (tokenizer.chat_template)
    out.push_back({"tokenizer.chat_template", kDefaultName, std::string(*tokenizer.chat_template)});
  for (const auto& [name, source] : tokenizer.named_chat_templates) {
    const bool doubled = name == kDefaultName && tokenizer.chat_template;
    out.push_back({"tokenizer.chat_template." + name, name, std::string(source), !doubled});
  }
  return out;
}

bool is_template_file(const std::string& source) {
  const std::string extension = fs::path(source).extension().string();
  return extension == ".jinja" || extension == ".jinja2" || extension == ".j2";
}

FoundTemplate template_file(const std::string& path) {
  return {fs::path(path).filename().string(), kDefaultName, read_file(path, kMaxTemplateBytes)};
}

const FoundTemplate* used_template(const std::vector<FoundTemplate>& found,
                                   const std::string& name) {
  const auto at = std::find_if(found.begin(), found.end(),
                               [&](const FoundTemplate& t) { return t.used && t.name == name; });
  return at == found.end() ? nullptr : &*at;
}

std::vector<const FoundTemplate*> shadowed_templates(const std::vector<FoundTemplate>& found) {
  std::vector<const FoundTemplate*> out;
  for (const FoundTemplate& t : found) {
    const FoundTemplate* used = t.used ? nullptr : used_template(found, t.name);
    if (!t.used && (used == nullptr || used->source != t.source)) out.push_back(&t);
  }
  return out;
}

Json folder_special_tokens(const fs::path& folder, const std::optional<Json>& config) {
  Json out = Json::object();
  if (config) add_tokens(*config, out);
  if (config && config->contains("extra_special_tokens") &&
      config->at("extra_special_tokens").is_object()) {
    for (const auto& [name, value] : config->at("extra_special_tokens").items()) {
      if (const std::optional<std::string> text = token_text(value)) out[name] = *text;
    }
  }
  // transformers reads the map only beside a configuration that lists no added tokens.
  if (config && config->contains("added_tokens_decoder")) return out;
  if (const std::optional<Json> map = read_stored_object(folder / "special_tokens_map.json"))
    add_tokens(*map, out);
  return out;
}

Json gguf_special_tokens(const GgufTokenizer& t) {
  Json out = Json::object();
  const auto add = [&](const char* name, const std::optional<int32_t>& id) {
    if (id && *id >= 0 && static_cast<size_t>(*id) < t.tokens.size())
      out[name] = std::string(t.tokens[static_cast<size_t>(*id)]);
  };
  add("bos_token", t.bos_token_id);
  add("eos_token", t.eos_token_id);
  add("unk_token", t.unknown_token_id);
  add("sep_token", t.separator_token_id);
  add("pad_token", t.padding_token_id);
  add("cls_token", t.cls_token_id);
  return out;
}

}  // namespace isobit::app
