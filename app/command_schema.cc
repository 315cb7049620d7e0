// `isobit schema [NAME]`: the JSON Schemas of isobit's formats, as they are in schemas/.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/output_schemas.h"
#include "base/error.h"
#include "report/report.h"
#include "report/text_table.h"

namespace isobit::app {
namespace {

std::string commands_of(std::string_view schema) {
  std::string out;
  for (const OutputSchema& row : output_schemas())
    if (schema == row.schema) out += (out.empty() ? "" : ", ") + std::string(row.command);
  return out;
}

int list(Session& session) {
  Json schemas = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const PublishedSchema& schema : published_schemas()) {
    const Json parsed = parse_json(schema.text, schema.name);
    const std::string title = parsed.at("title").get<std::string>();
    Json commands = Json::array();
    for (const OutputSchema& row : output_schemas())
      if (std::string_view(schema.name) == row.schema) commands.push_back(row.command);
    schemas.push_back({{"name", schema.name}, {"title", title}, {"commands", commands}});
    rows.push_back({schema.name, title, commands_of(schema.name)});
  }
  if (session.flags.json) {
    session.console.result(json_line({{"schemas", schemas}}) + "\n");
    return kOk;
  }
  session.console.result(text_table(
      {{"schema", Align::kLeft}, {"of", Align::kLeft}, {"printed with --json by", Align::kLeft}},
      rows));
  session.console.suggest("isobit schema verdict");
  return kOk;
}

// As it is, also with --json: it is JSON.
int show(const std::string& name, Session& session) {
  std::vector<std::string> known;
  for (const PublishedSchema& schema : published_schemas()) {
    known.emplace_back(schema.name);
    if (name != schema.name) continue;
    session.console.result(schema.text);
    return kOk;
  }
  throw Error(ErrorCode::usage, "there is no schema '" + name + "'" + did_you_mean(name, known),
              "isobit schema lists them");
}

}  // namespace

std::function<int()> declare_schema(CLI::App& app, Session& session) {
  auto name = std::make_shared<std::string>();
  app.add_option("NAME", *name, "As in the list (default: list them)")->check(not_empty);
  return [name, &session] { return name->empty() ? list(session) : show(*name, session); };
}

}  // namespace isobit::app
