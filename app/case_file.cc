#include "app/case_file.h"

#include <algorithm>
#include <filesystem>

#include "app/audit.h"
#include "app/prompt_requests.h"
#include "base/error.h"
#include "base/file.h"
#include "matrix/axes.h"
#include "text/prompts.h"

namespace isobit::app {
namespace {

constexpr const char* kKey = "isobit_case";

PromptSampling written_sampling(const Sampling& s) {
  PromptSampling out;
  out.temperature = s.temperature;
  out.top_k = s.top_k;
  out.top_p = s.top_p;
  out.min_p = s.min_p;
  out.repetition_penalty = s.repetition_penalty;
  out.frequency_penalty = s.frequency_penalty;
  out.presence_penalty = s.presence_penalty;
  out.seed = s.seed;
  out.n = s.n;
  out.logit_bias = s.logit_bias;
  return out;
}

PromptRecord written_request(const Request& r) {
  if (!r.forced_token_ids.empty())
    throw Error(ErrorCode::unsupported,
                "request '" + r.id + "' has forced tokens, which a prompts file cannot hold");
  PromptRecord out;
  out.id = r.id;
  out.prompt_token_ids = r.prompt_token_ids;
  out.max_tokens = r.max_tokens;
  out.sampling = written_sampling(r.sampling);
  out.stop = r.stop.strings;
  out.stop_token_ids = r.stop.token_ids;
  out.ignore_eos = r.stop.ignore_eos;
  out.tags = r.tags;
  return out;
}

Json settings_json(const Settings& settings) {
  Json out = Json::object();
  for (const auto& [key, value] : settings) out[key] = value;
  return out;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::usage, path + ": " + what,
              "isobit reduce SAMPLE -o FILE writes such a file");
}

// Checks one member of the schedule and gives it back.
const Json& member(const Json& schedule, const char* key, Json::value_t type,
                   const std::string& path) {
  if (!schedule.contains(key)) refuse(path, std::string(kKey) + " lacks '" + key + "'");
  const Json& value = schedule.at(key);
  const bool number = type == Json::value_t::number_integer && value.is_number_integer();
  if (!number && value.type() != type)
    refuse(path, std::string(kKey) + "." + key + " is of the wrong type");
  return value;
}

int32_t number_in(const Json& schedule, const char* key, int64_t low, int64_t high,
                  const std::string& path) {
  const Json& value = member(schedule, key, Json::value_t::number_integer, path);
  const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > INT32_MAX;
  const int64_t number = huge ? INT64_MAX : value.get<int64_t>();
  if (number < low || number > high)
    refuse(path, std::string(kKey) + "." + key + " is " + value.dump() + ", expected " +
                     std::to_string(low) + " to " + std::to_string(high));
  return static_cast<int32_t>(number);
}

Settings settings_in(const Json& schedule, const char* key, const std::string& path,
                     const std::vector<std::string>& settable) {
  Settings out;
  for (const auto& [axis, value] : member(schedule, key, Json::value_t::object, path).items()) {
    if (!value.is_string()) refuse(path, std::string(key) + "." + axis + " is no string");
    if (std::ranges::find(settable, axis) == settable.end())
      refuse(path, std::string(key) + " names '" + axis + "', which is no setting of the target" +
                       did_you_mean(axis, settable));
    out[axis] = normalize_axis_value(find_axis(axis), value.get<std::string>());
  }
  return out;
}

// The one line that carries the schedule.
size_t subject_of(const std::vector<PromptRecord>& records, const std::string& path) {
  std::vector<size_t> subjects;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].meta.is_object() && records[i].meta.contains(kKey)) subjects.push_back(i);
  }
  if (subjects.size() != 1)
    refuse(path,
           std::to_string(subjects.size()) + " of its lines carry meta." + kKey + ", expected one");
  if (!records[subjects[0]].meta.at(kKey).is_object())
    refuse(path, std::string("meta.") + kKey + " is no object");
  return subjects[0];
}

}  // namespace

std::string case_file_text(const DivergingCase& c) {
  std::string out;
  for (size_t i = 0; i < c.execution.workload.items.size(); ++i) {
    PromptRecord record = written_request(c.execution.workload.items[i].request);
    if (i == c.execution.item)
      record.meta = {{kKey,
                      {{"version", 1},
                       {"concurrency", c.execution.workload.concurrency},
                       {"sample_index", c.execution.sample_index},
                       {"settings", settings_json(c.execution.workload.settings)},
                       {"alone_settings", settings_json(c.alone_settings)}}}};
    out += to_json(record).dump() + "\n";
  }
  return out;
}

DivergingCase read_case_file(const std::string& path, const LoadedText& text,
                             const std::vector<std::string>& settable) {
  const std::vector<PromptRecord> records = parse_prompts(read_file(path), path);
  const size_t subject = subject_of(records, path);
  const Json& schedule = records[subject].meta.at(kKey);
  number_in(schedule, "version", 1, 1, path);
  DivergingCase out;
  out.execution.item = subject;
  for (Request& request : load_prompt_requests(path, text, {}).requests)
    out.execution.workload.items.push_back({.request = std::move(request)});
  out.execution.workload.concurrency = number_in(schedule, "concurrency", 1, kMaxConcurrency, path);
  out.execution.sample_index =
      number_in(schedule, "sample_index", 0,
                out.execution.workload.items[subject].request.sampling.n - 1, path);
  out.execution.workload.settings = settings_in(schedule, "settings", path, settable);
  out.alone_settings = settings_in(schedule, "alone_settings", path, settable);
  return out;
}

}  // namespace isobit::app
