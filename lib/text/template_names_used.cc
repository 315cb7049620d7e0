#include "text/template_names_used.h"

namespace isobit::jinja {
namespace {

class Search {
 public:
  explicit Search(std::set<std::string> names) : wanted_(std::move(names)) {}

  void look_at(const Body& body) {
    for (const auto& statement : body) {
      if (wanted_.empty()) return;
      std::visit([this](const auto& s) { look_at(s); }, statement->what);
    }
  }

  std::set<std::string> found() && { return std::move(found_); }

 private:
  void read(const ExpressionPtr& root) {
    for_each_name(root, [this](const Expression& e) {
      if (wanted_.contains(e.name)) found_.insert(e.name);
    });
  }

  void assigned(const Target& target) {
    for (const Target& part : target.tuple) assigned(part);
    if (!target.is_tuple && !target.attribute) wanted_.erase(target.name);
  }

  void look_at(const TextStatement&) {}
  void look_at(const BreakStatement&) {}
  void look_at(const ContinueStatement&) {}
  void look_at(const PrintStatement& s) {
    for (const ExpressionPtr& value : s.values) read(value);
  }
  void look_at(const IfStatement& s) {
    for (const auto& branch : s.branches) {
      read(branch.test);
      look_at(branch.body);
    }
    look_at(s.otherwise);
  }
  void look_at(const ForStatement& s) {
    assigned(s.target);
    read(s.iterable);
    look_at(s.body);
    look_at(s.otherwise);
    read(s.filter);
  }
  void look_at(const SetStatement& s) {
    assigned(s.target);
    read(s.value);
  }
  void look_at(const SetBlockStatement& s) {
    assigned(s.target);
    read(s.filter);
    look_at(s.body);
  }
  void look_at(const WithStatement& s) {
    for (const auto& assignment : s.assignments) assigned(assignment.first);
    for (const auto& assignment : s.assignments) read(assignment.second);
    look_at(s.body);
  }
  void look_at(const MacroBody& macro) {
    for (const Parameter& parameter : macro.parameters) wanted_.erase(parameter.name);
    for (const Parameter& parameter : macro.parameters) read(parameter.fallback);
    look_at(macro.body);
  }
  void look_at(const MacroStatement& s) { look_at(s.macro); }
  void look_at(const CallStatement& s) {
    read(s.call);
    look_at(s.caller);
  }
  void look_at(const FilterStatement& s) {
    look_at(s.body);
    read(s.filter);
  }
  void look_at(const GenerationStatement& s) { look_at(s.written); }

  std::set<std::string> wanted_;
  std::set<std::string> found_;
};

}  // namespace

std::set<std::string> names_read_first(const Body& body, std::set<std::string> names) {
  Search search(std::move(names));
  search.look_at(body);
  return std::move(search).found();
}

}  // namespace isobit::jinja
