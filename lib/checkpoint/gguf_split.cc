#include "checkpoint/gguf_split.h"

#include <cctype>
#include <set>

#include "checkpoint/checkpoint_folder.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameEnd = "-00000-of-00000.gguf";
constexpr size_t kDigits = 5;
constexpr size_t kNumberAt = 1, kCountAt = 10;  // in kNameEnd

struct SplitName {
  std::string name;
  uint64_t number = 0;  // from 1
  uint64_t n_files = 0;
};

std::optional<SplitName> split_name(const std::string& file_name) {
  if (file_name.size() <= kNameEnd.size()) return std::nullopt;
  const size_t end_at = file_name.size() - kNameEnd.size();
  for (size_t i = 0; i < kNameEnd.size(); ++i) {
    const char c = file_name[end_at + i];
    const bool fits =
        kNameEnd[i] == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == kNameEnd[i];
    if (!fits) return std::nullopt;
  }
  return SplitName{file_name.substr(0, end_at),
                   std::stoull(file_name.substr(end_at + kNumberAt, kDigits)),
                   std::stoull(file_name.substr(end_at + kCountAt, kDigits))};
}

std::string file_name_of(const GgufSplit& split, uint64_t number) {
  const auto digits = [](uint64_t n) {
    const std::string text = std::to_string(n);
    return std::string(kDigits - text.size(), '0') + text;
  };
  return split.name + "-" + digits(number + 1) + "-of-" + digits(split.n_files) + ".gguf";
}

uint64_t required_count(const GgufHeader& header, const char* key, const std::string& where) {
  if (const std::optional<uint64_t> n = count_in(header, key, where)) return *n;
  refuse(where, std::string("no metadata '") + key + "'");
}

bool same_value(const GgufValue& a, const GgufValue& b) {
  return a.type == b.type && a.element_type == b.element_type && a.strings == b.strings &&
         std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

// What describes the model is the first file's to say; the others may at most repeat it.
void check_says_nothing_else(const GgufHeader& header, const GgufHeader& first,
                             const std::string& where) {
  for (const auto& [key, value] : header.metadata) {
    if (key.starts_with("split.") || key == "general.alignment") continue;
    const auto it = first.metadata.find(key);
    if (it == first.metadata.end() || !same_value(it->second, value)) {
      refuse(where, "metadata " + shown(key) + " is not what the first file says",
             "the files are not of one model: download them again");
    }
  }
}

void append_tensors(std::vector<StoredTensor>& tensors, std::set<std::string>& names,
                    std::vector<StoredTensor> more, size_t file_index, const std::string& where) {
  for (StoredTensor& tensor : more) {
    if (!names.insert(tensor.name).second)
      refuse(where, "tensor " + shown(tensor.name) + " is in an earlier file too");
    tensor.file_index = file_index;
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace

std::optional<GgufSplit> read_gguf_split(const GgufHeader& header, const fs::path& path,
                                         const std::string& where) {
  const uint64_t n_files = count_in(header, "split.count", where).value_or(1);
  const std::optional<SplitName> name = split_name(path.filename().string());
  if (n_files <= 1) {
    if (name && name->n_files > 1) {
      refuse(where,
             "its name says that it is one of " + std::to_string(name->n_files) +
                 " files, but no metadata 'split.count' does",
             "if it is a whole model, give it another name");
    }
    return std::nullopt;
  }
  if (!name) {
    refuse(where,
           "one of " + std::to_string(n_files) +
               " files of a split GGUF, but not named NAME-00001-of-0000N.gguf",
           "the others are found by their names: give it back the one it had");
  }
  GgufSplit split{.name = name->name,
                  .number = required_count(header, "split.no", where),
                  .n_files = n_files,
                  .n_tensors = required_count(header, "split.tensors.count", where)};
  if (name->n_files != n_files || split.number >= n_files || name->number != split.number + 1) {
    refuse(where,
           "its name says file " + std::to_string(name->number) + " of " +
               std::to_string(name->n_files) + ", but split.no (from 0) is " +
               std::to_string(split.number) + " and split.count " + std::to_string(n_files),
           "the file is not what its name says: download it again");
  }
  return split;
}

GgufHeader open_gguf_split(const GgufSplit& split, const fs::path& folder,
                           std::vector<MappedFile>& files) {
  GgufHeader whole;
  std::set<std::string> names;
  files.clear();
  for (uint64_t i = 0; i < split.n_files; ++i) {
    const fs::path path = file_of(folder, file_name_of(split, i),
                                  "checkpoint '" + (folder / split.name).string() + "'");
    const std::string where = "checkpoint '" + path.string() + "'";
    GgufHeader header = parse_gguf(files.emplace_back(path).bytes(), where);
    const std::optional<GgufSplit> found = read_gguf_split(header, path, where);
    ISOBIT_REQUIRE(found.has_value());  // its name has the numbers of a split
    if (found->n_tensors != split.n_tensors) {
      refuse(where, "split.tensors.count is " + std::to_string(found->n_tensors) + ", but " +
                        std::to_string(split.n_tensors) + " in another of the files");
    }
    std::vector<StoredTensor> tensors = std::move(header.tensors);
    if (i == 0) {
      header.tensors.clear();
      whole = std::move(header);
    } else {
      check_says_nothing_else(header, whole, where);
    }
    append_tensors(whole.tensors, names, std::move(tensors), static_cast<size_t>(i), where);
  }
  if (whole.tensors.size() != split.n_tensors) {
    refuse("checkpoint '" + (folder / split.name).string() + "'",
           "the " + std::to_string(split.n_files) + " files have " +
               std::to_string(whole.tensors.size()) + " tensors, but split.tensors.count is " +
               std::to_string(split.n_tensors));
  }
  return whole;
}

}  // namespace isobit
