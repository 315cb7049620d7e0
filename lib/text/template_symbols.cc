#include "text/template_symbols.h"

#include <map>
#include <set>
#include <unordered_map>

#include "text/template_fault.h"
#include "text/template_names_used.h"
#include "text/template_operators.h"

namespace isobit::jinja {
namespace {

enum class LoadKind { parameter, context, outer, empty };

// The names of one frame, or of one branch of a condition in it, which sees what is before it.
struct Symbols {
  Symbols* before = nullptr;  // of the same frame
  std::map<std::string, LoadKind> loads;
  std::set<std::string> stores;

  bool knows(const std::string& name) const {
    for (const Symbols* s = this; s != nullptr; s = s->before) {
      if (s->loads.contains(name)) return true;
    }
    return false;
  }
  bool stored(const std::string& name) const {
    for (const Symbols* s = this; s != nullptr; s = s->before) {
      if (s->stores.contains(name)) return true;
    }
    return false;
  }
};

// A frame while its names are collected and resolved.
struct OpenFrame {
  OpenFrame* outer = nullptr;
  Symbols symbols = {};
  std::unordered_map<std::string, int> slots = {};

  int slot_of(const std::string& name) {
    return slots.emplace(name, static_cast<int>(slots.size())).first->second;
  }
};

bool known_outside(const OpenFrame& frame, const std::string& name) {
  for (const OpenFrame* f = frame.outer; f != nullptr; f = f->outer) {
    if (f->symbols.knows(name)) return true;
  }
  return false;
}

// Collects the names of one frame; bodies that are frames of their own are not entered.
class Collector {
 public:
  explicit Collector(OpenFrame& frame) : frame_(frame), here_(&frame.symbols) {}

  void parameter(const std::string& name) {
    here_->stores.insert(name);
    define(name, LoadKind::parameter);
  }
  void parameters(const Target& target) {
    for (const Target& part : target.tuple) parameters(part);
    if (!target.is_tuple) parameter(target.name);
  }
  void read(const ExpressionPtr& root) {
    for_each_name(root, [this](const Expression& e) { load(e.name); });
  }
  void body(const Body& body) {
    for (const auto& statement : body)
      std::visit([this](const auto& s) { visit(s); }, statement->what);
  }

 private:
  void define(const std::string& name, LoadKind kind) {
    here_->loads[name] = kind;
    frame_.slot_of(name);
  }

  void load(const std::string& name) {
    if (!here_->knows(name) && !known_outside(frame_, name)) define(name, LoadKind::context);
  }

  void store(const std::string& name) {
    here_->stores.insert(name);
    if (here_->knows(name)) return;
    define(name, known_outside(frame_, name) ? LoadKind::outer : LoadKind::empty);
  }

  void store(const Target& target) {
    for (const Target& part : target.tuple) store(part);
    if (target.is_tuple) return;
    if (target.attribute)
      load(target.name);
    else
      store(target.name);
  }

  void visit(const TextStatement&) {}
  void visit(const BreakStatement&) {}
  void visit(const ContinueStatement&) {}
  void visit(const GenerationStatement&) {}
  void visit(const PrintStatement& s) {
    for (const ExpressionPtr& value : s.values) read(value);
  }
  void visit(const ForStatement& s) { read(s.iterable); }
  void visit(const SetStatement& s) {
    read(s.value);
    store(s.target);
  }
  void visit(const SetBlockStatement& s) { store(s.target); }
  void visit(const WithStatement& s) {
    for (const auto& assignment : s.assignments) read(assignment.second);
  }
  void visit(const MacroStatement& s) { store(s.macro.name); }
  void visit(const CallStatement& s) { read(s.call); }
  void visit(const FilterStatement& s) { read(s.filter); }

  // jinja2 looks at the branches in three groups: the first, all elifs, else.
  void visit(const IfStatement& s) {
    read(s.branches[0].test);
    Symbols groups[3];
    const auto in_group = [&](Symbols& group, const auto& look) {
      group.before = here_;
      here_ = &group;
      look();
      here_ = group.before;
    };
    in_group(groups[0], [&] { body(s.branches[0].body); });
    in_group(groups[1], [&] { elifs(s, 1); });
    in_group(groups[2], [&] { body(s.otherwise); });
    merge(groups);
  }

  // An elif is itself a condition without else, whose names are merged as such.
  void elifs(const IfStatement& s, size_t first) {
    for (size_t i = first; i < s.branches.size(); ++i) {
      read(s.branches[i].test);
      Symbols group[1];
      group[0].before = here_;
      here_ = &group[0];
      body(s.branches[i].body);
      here_ = group[0].before;
      merge(group);
    }
  }

  // A name that only branches assign falls back to the outer one.
  template <size_t n>
  void merge(Symbols (&groups)[n]) {
    std::set<std::string> stores;
    for (const Symbols& group : groups) {
      for (const std::string& name : group.stores) {
        if (!here_->stored(name)) stores.insert(name);
      }
    }
    for (Symbols& group : groups) {
      for (const auto& [name, kind] : group.loads) here_->loads[name] = kind;
      here_->stores.insert(group.stores.begin(), group.stores.end());
    }
    for (const std::string& name : stores)
      here_->loads[name] = known_outside(frame_, name) ? LoadKind::outer : LoadKind::context;
  }

  OpenFrame& frame_;
  Symbols* here_;
};

class Resolver {
 public:
  explicit Resolver(ParsedTemplate& parsed) : parsed_(parsed) {}

  void run() {
    if (!names_read_first(parsed_.body, {"self"}).empty())
      throw Fault(kNotSupported, "the variable self, which stands for the template", 1);
    OpenFrame root;
    Collector(root).body(parsed_.body);
    parsed_.frame = closed(root);
    body(parsed_.body, root);
  }

 private:
  SlotRef find(OpenFrame& frame, const std::string& name, int line) const {
    int hops = 0;
    for (OpenFrame* f = &frame; f != nullptr; f = f->outer, ++hops) {
      if (f->symbols.knows(name)) return {hops, f->slot_of(name)};
    }
    // jinja2 itself fails here: on a name in the filter of {% set x | filter %} that its body does
    // not have.
    throw Fault("AssertionError",
                "Tried to resolve a name to a reference that was unknown to the frame (" +
                    string_repr(name) + ")",
                line);
  }

  int context_name(const std::string& name) {
    const auto [at, added] =
        context_names_.emplace(name, static_cast<int>(parsed_.context_names.size()));
    if (added) parsed_.context_names.push_back(name);
    return at->second;
  }

  Frame closed(OpenFrame& open) {
    Frame frame;
    for (const auto& [name, kind] : open.symbols.loads) {
      const int slot = open.slot_of(name);
      if (kind == LoadKind::context) frame.loads.push_back({slot, context_name(name), {}});
      if (kind != LoadKind::outer) continue;
      SlotRef outer = find(*open.outer, name, 0);
      ++outer.hops;
      frame.loads.push_back({slot, std::nullopt, outer});
    }
    frame.n_slots = static_cast<int>(open.slots.size());
    return frame;
  }

  void names(const ExpressionPtr& root, OpenFrame& frame) {
    for_each_name(root, [&](Expression& e) { e.where = find(frame, e.name, e.line); });
  }

  enum class LoopName { allowed, refused };

  void target(Target& target, OpenFrame& frame, LoopName loop_name = LoopName::refused) {
    for (Target& part : target.tuple) this->target(part, frame, loop_name);
    if (target.is_tuple) return;
    if (loop_name == LoopName::refused && for_depth_ > 0 && !target.attribute &&
        target.name == "loop") {
      throw Fault("TemplateAssertionError",
                  "Can't assign to special loop variable in for-loop target", target.line);
    }
    target.where = find(frame, target.name, target.line);
  }

  void body(Body& body, OpenFrame& frame) {
    for (auto& statement : body) std::visit([&](auto& s) { visit(s, frame); }, statement->what);
  }

  void visit(TextStatement&, OpenFrame&) {}
  void visit(BreakStatement&, OpenFrame&) {}
  void visit(ContinueStatement&, OpenFrame&) {}
  void visit(PrintStatement& s, OpenFrame& frame) {
    for (const ExpressionPtr& value : s.values) names(value, frame);
  }
  void visit(IfStatement& s, OpenFrame& frame) {
    for (auto& branch : s.branches) {
      names(branch.test, frame);
      body(branch.body, frame);
    }
    body(s.otherwise, frame);
  }
  void visit(SetStatement& s, OpenFrame& frame) {
    names(s.value, frame);
    target(s.target, frame);
  }
  void visit(SetBlockStatement& s, OpenFrame& frame) {
    OpenFrame inner{&frame};
    Collector(inner).body(s.body);
    s.frame = closed(inner);
    body(s.body, inner);
    names(s.filter, inner);
    target(s.target, frame);
  }
  void visit(FilterStatement& s, OpenFrame& frame) {
    OpenFrame inner{&frame};
    Collector collector(inner);
    collector.body(s.body);
    collector.read(s.filter);
    s.frame = closed(inner);
    body(s.body, inner);
    names(s.filter, inner);
  }
  void visit(WithStatement& s, OpenFrame& frame) {
    OpenFrame inner{&frame};
    Collector collector(inner);
    for (const auto& assignment : s.assignments) collector.parameters(assignment.first);
    collector.body(s.body);
    s.frame = closed(inner);
    for (auto& [name, value] : s.assignments) {
      names(value, frame);
      target(name, inner, LoopName::allowed);
    }
    body(s.body, inner);
  }
  void visit(MacroStatement& s, OpenFrame& frame) {
    s.where = find(frame, s.macro.name, s.macro.line);
    macro(s.macro, frame);
  }
  void visit(CallStatement& s, OpenFrame& frame) {
    names(s.call, frame);
    macro(s.caller, frame);
  }
  void visit(GenerationStatement& s, OpenFrame& frame) { macro(s.written, frame); }

  void visit(ForStatement& s, OpenFrame& frame) {
    names(s.iterable, frame);
    ++for_depth_;
    OpenFrame inner{&frame};
    Collector collector(inner);
    collector.parameters(s.target);
    collector.parameter("loop");
    collector.body(s.body);
    s.frame = closed(inner);
    s.loop_slot = inner.slot_of("loop");
    target(s.target, inner);
    body(s.body, inner);
    for_filter(s, frame);
    OpenFrame otherwise{&frame};
    Collector(otherwise).body(s.otherwise);
    s.else_frame = closed(otherwise);
    body(s.otherwise, otherwise);
    --for_depth_;
  }

  void for_filter(ForStatement& s, OpenFrame& frame) {
    if (!s.filter) return;
    OpenFrame inner{&frame};
    Collector collector(inner);
    collector.parameters(s.target);
    collector.read(s.filter);
    s.filter_frame = closed(inner);
    names(s.filter, inner);
  }

  void macro(MacroBody& macro, OpenFrame& frame) {
    OpenFrame inner{&frame};
    Collector collector(inner);
    std::set<std::string> specials = names_read_first(macro.body, {"caller", "kwargs", "varargs"});
    macro.uses_caller = specials.contains("caller");
    for (const Parameter& parameter : macro.parameters) {
      collector.parameter(parameter.name);
      if (parameter.name == "caller" && macro.uses_caller && !parameter.fallback) {
        throw Fault("TemplateAssertionError",
                    "When defining macros or call blocks the special \"caller\" argument must be "
                    "omitted or be given a default.",
                    macro.line);
      }
      specials.erase(parameter.name);
    }
    for (const std::string& name : specials) collector.parameter(name);
    for (const Parameter& parameter : macro.parameters) collector.read(parameter.fallback);
    collector.body(macro.body);
    macro.frame = closed(inner);
    const auto special_slot = [&](const char* name, std::optional<int>& slot) {
      if (specials.contains(name)) slot = inner.slot_of(name);
    };
    special_slot("caller", macro.caller_slot);
    special_slot("kwargs", macro.kwargs_slot);
    special_slot("varargs", macro.varargs_slot);
    for (Parameter& parameter : macro.parameters) {
      parameter.slot = inner.slot_of(parameter.name);
      names(parameter.fallback, inner);
    }
    body(macro.body, inner);
  }

  ParsedTemplate& parsed_;
  std::unordered_map<std::string, int> context_names_;
  int for_depth_ = 0;
};

}  // namespace

void resolve_names(ParsedTemplate& parsed) {
  Resolver(parsed).run();
}

}  // namespace isobit::jinja
