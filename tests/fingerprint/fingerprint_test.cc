#include "fingerprint/fingerprint.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/open.h"
#include "fingerprint/fingerprint_diff.h"
#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;

namespace {

FingerprintInputs inputs_for(const Checkpoint* checkpoint) {
  FingerprintInputs in;
  in.checkpoint = checkpoint;
  in.text = {.tokenizer_digest = "t0", .chat_template_digest = "c0", .rendered_probe_digest = "p0"};
  in.numerics = NumericsInputs{.kernel_set = "cpu", .isa = "avx2", .kv_dtype = "f16"};
  in.scheduler = SchedulerInputs{.max_batch_requests = 8, .max_batch_tokens = 512};
  in.sqlite_version = "3.40.1";
  in.environment = {{"OMP_NUM_THREADS", "4"}, {"AWS_SECRET_ACCESS_KEY", "hunter2"}};
  return in;
}

Fingerprint of_folder(const TemporaryFolder& folder, CanonicalRoot root = CanonicalRoot::skip) {
  const auto checkpoint = open_checkpoint(folder.path());
  FingerprintInputs in = inputs_for(checkpoint.get());
  in.canonical_root = root;
  return compute_fingerprint(in);
}

void write_model(const TemporaryFolder& folder, const std::string& weights) {
  folder.write("config.json", SmallModel{}.config().dump());
  folder.write("model.safetensors", weights);
}

const FingerprintItem* find(const Fingerprint& f, FingerprintClass item_class,
                            const std::string& name) {
  for (const FingerprintItem& item : f.items) {
    if (item.item_class == item_class && item.name == name) return &item;
  }
  return nullptr;
}

FingerprintItem item(FingerprintClass item_class, const std::string& name, const std::string& value,
                     FingerprintSource source = FingerprintSource::kMeasured) {
  return {item_class, name, value, source, source == FingerprintSource::kUnknown ? "why" : ""};
}

}  // namespace

TEST_CASE("the same inputs give the same id, wherever the checkpoint lies") {
  const TemporaryFolder one, two;
  write_model(one, safetensors_file(SmallModel{}.tensors()));
  write_model(two, safetensors_file(SmallModel{}.tensors()));
  const Fingerprint a = of_folder(one), b = of_folder(two);
  CHECK(a.id.size() == 64);
  CHECK(a.id == b.id);
  CHECK(fingerprint_json(a) == fingerprint_json(b));
  CHECK(fingerprint_json(a).find(one.path().filename().string()) == std::string::npos);
  CHECK(diff_fingerprints(a, of_folder(one, CanonicalRoot::compute)).size() == 1);
}

TEST_CASE("every class has its items, and nothing that is not allowed gets in") {
  const TemporaryFolder folder;
  write_model(folder, safetensors_file(SmallModel{}.tensors()));
  const Fingerprint f = of_folder(folder);
  using C = FingerprintClass;
  for (const auto& [item_class, name] :
       std::vector<std::pair<C, std::string>>{{C::kModel, "weights.stored_root"},
                                              {C::kModel, "file.model.safetensors.sha256"},
                                              {C::kModel, "config.arithmetic"},
                                              {C::kModel, "tensor.model.norm.weight"},
                                              {C::kModel, "generation_config.stored"},
                                              {C::kModel, "parameters"},
                                              {C::kText, "tokenizer"},
                                              {C::kText, "chat_template"},
                                              {C::kText, "rendered_probe"},
                                              {C::kNumerics, "contract_version"},
                                              {C::kNumerics, "function.exp2"},
                                              {C::kNumerics, "kernel_set"},
                                              {C::kNumerics, "segments"},
                                              {C::kSoftware, "compiler"},
                                              {C::kSoftware, "compiler.flags"},
                                              {C::kSoftware, "cuda.driver"},
                                              {C::kSoftware, "cuda.toolkit"},
                                              {C::kSoftware, "libc"},
                                              {C::kSoftware, "openssl"},
                                              {C::kSoftware, "sqlite"},
                                              {C::kHardware, "cpu.model"},
                                              {C::kHardware, "cpu.flags"},
                                              {C::kScheduler, "max_batch_tokens"},
                                              {C::kScheduler, "prefix_cache"},
                                              {C::kEnvironment, "OMP_NUM_THREADS"}}) {
    CAPTURE(name);
    REQUIRE(find(f, item_class, name) != nullptr);
  }
  CHECK(find(f, C::kModel, "parameters")->value == "192");
  CHECK(find(f, C::kModel, "quantisation")->value == "F32:11");
  CHECK(find(f, C::kSoftware, "compiler.flags")->value.find("-ffp-contract=off") !=
        std::string::npos);
  CHECK(find(f, C::kScheduler, "chunk_tokens")->value == "off");
  CHECK(find(f, C::kEnvironment, "AWS_SECRET_ACCESS_KEY") == nullptr);
  CHECK(fingerprint_json(f).find("hunter2") == std::string::npos);
  for (const FingerprintItem& i : f.items) {
    CAPTURE(i.name);
    CHECK((i.source == FingerprintSource::kUnknown) == i.value.empty());
    if (i.value.empty() || i.value == "absent") CHECK_FALSE(i.reason.empty());
  }
}

TEST_CASE("what was not handed in is unknown, with the reason") {
  const Fingerprint f = compute_fingerprint({});
  const FingerprintItem* root = find(f, FingerprintClass::kModel, "weights.stored_root");
  REQUIRE(root);
  CHECK(root->source == FingerprintSource::kUnknown);
  CHECK(root->reason == "no checkpoint at hand");
  CHECK(find(f, FingerprintClass::kText, "tokenizer")->reason == "not handed in");
  CHECK(find(f, FingerprintClass::kNumerics, "kernel_set")->reason == "no kernel set was chosen");
  CHECK(find(f, FingerprintClass::kScheduler, "settings")->reason == "no engine was set up");
}

TEST_CASE("a planted change of one byte of one weight is found and named by its tensor") {
  const TemporaryFolder folder;
  const std::string weights = safetensors_file(SmallModel{}.tensors());
  write_model(folder, weights);
  const Fingerprint before = of_folder(folder);
  std::string changed = weights;
  changed.back() =
      static_cast<char>(changed.back() ^ 1);  // the last tensor by name: model.norm.weight
  write_model(folder, changed);
  const Verification verified = verify_fingerprint(before, of_folder(folder));
  CHECK_FALSE(verified.same_identity);
  std::set<std::string> names;
  for (const FingerprintItemChange& change : verified.changes) {
    if (change.kind == ChangeKind::kChanged) names.insert(change.name);
  }
  CHECK(names == std::set<std::string>{"file.model.safetensors.sha256", "tensor.model.norm.weight",
                                       "weights.stored_root"});
  for (const FingerprintItemChange& change : verified.changes) {
    if (change.name == "tensor.model.norm.weight") {
      CHECK(change.role == ItemRole::kIdentity);
      CHECK(change.effect ==
            "This tensor's weights differ: every logit of every request can change.");
    }
  }
}

TEST_CASE(
    "a GGUF with the same f32 values has the same identity once the canonical roots are known") {
  const TemporaryFolder folder;
  write_model(folder, safetensors_file(SmallModel{}.tensors()));
  const auto gguf = open_checkpoint(folder.write("m.gguf", gguf_file(SmallModel{})));
  FingerprintInputs in = inputs_for(gguf.get());
  CHECK_FALSE(verify_fingerprint(of_folder(folder), compute_fingerprint(in)).same_identity);
  in.canonical_root = CanonicalRoot::compute;
  const Verification verified =
      verify_fingerprint(of_folder(folder, CanonicalRoot::compute), compute_fingerprint(in));
  CHECK(verified.same_identity);
  CHECK_FALSE(verified.same_everything);
}

TEST_CASE("a fingerprint survives being written and read") {
  const TemporaryFolder folder;
  write_model(folder, safetensors_file(SmallModel{}.tensors()));
  const Fingerprint written = of_folder(folder);
  const Fingerprint read = fingerprint_from_json(fingerprint_json(written), "f");
  CHECK(read.id == written.id);
  CHECK(fingerprint_json(read) == fingerprint_json(written));
  const Verification verified = verify_fingerprint(written, read);
  CHECK(verified.same_everything);
}

TEST_CASE("what neither side knows is reported, and never counts as the same") {
  const Fingerprint gap = make_fingerprint(
      {item(FingerprintClass::kText, "tokenizer", "", FingerprintSource::kUnknown)});
  const Verification verified = verify_fingerprint(gap, gap);
  CHECK_FALSE(verified.same_everything);
  REQUIRE(verified.changes.size() == 1);
  CHECK(verified.changes[0].kind == ChangeKind::kUnknown);
}

TEST_CASE("a fingerprint file cut short at any byte or with any flipped bit is refused") {
  const Fingerprint small = make_fingerprint(
      {item(FingerprintClass::kModel, "weights.stored_root", "ab"),
       item(FingerprintClass::kText, "tokenizer", "", FingerprintSource::kUnknown)});
  const std::string text = fingerprint_json(small);
  CHECK(fingerprint_from_json(text, "f").id == small.id);
  for (size_t n = 0; n < text.size(); ++n) {
    CAPTURE(n);
    CHECK(refusal([&] { fingerprint_from_json(text.substr(0, n), "f"); }).starts_with("f"));
  }
  const size_t reason_at = text.find("why");
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    if (bit / 8 >= reason_at && bit / 8 < reason_at + 3)
      continue;  // reasons are not covered by the id
    CAPTURE(bit);
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    CHECK(refusal([&] { fingerprint_from_json(flipped, "f"); }).starts_with("f"));
  }
}

TEST_CASE("each malformed fingerprint is refused in words that say what and where") {
  const Fingerprint good = make_fingerprint(
      {item(FingerprintClass::kModel, "a", "1"), item(FingerprintClass::kModel, "b", "2")});
  const auto refused = [&](const std::function<void(Json&)>& change) {
    Json json = parse_json(fingerprint_json(good), "t");
    change(json);
    return refusal([&] { fingerprint_from_json(json.dump(), "f"); });
  };
  CHECK(refused([](Json&) {}) == "[nothing was thrown]");
  CHECK(refused([](Json& j) { j = 1; }) == "f: not a JSON object");
  CHECK(refused([](Json& j) { j["format"] = "x"; }) ==
        "f: format is \"x\", expected \"isobit-fingerprint-1\"");
  CHECK(refused([](Json& j) { j["itemz"] = 1; }) ==
        "f: unknown member \"itemz\" (did you mean 'items'?)");
  CHECK(refused([](Json& j) { j.erase("items"); }) == "f: no array \"items\"");
  CHECK(refused([](Json& j) { j["items"][0] = 1; }) == "f: item 0: not an object");
  CHECK(refused([](Json& j) { j["items"][1]["class"] = "modell"; }) ==
        "f: item 1: unknown class \"modell\" (did you mean 'model'?)");
  CHECK(refused([](Json& j) { j["items"][1].erase("value"); }) == "f: item 1: no string \"value\"");
  CHECK(refused([](Json& j) { j["items"][1]["value"] = 1; }) == "f: item 1: no string \"value\"");
  CHECK(refused([](Json& j) { j["items"][1]["source"] = "unknown"; }) ==
        "f: item 1: an unknown item has a value");
  CHECK(refused([](Json& j) { j["items"][1]["name"] = "a"; }) == "f: item model.a appears twice");
  CHECK(refused([](Json& j) { std::swap(j["items"][0], j["items"][1]); }) ==
        "f: item model.a is out of order");
  CHECK(refused([](Json& j) { j["items"][1]["value"] = "3"; }).find("the file was changed") !=
        std::string::npos);
}

TEST_CASE("the id covers values and sources, not the wording of reasons") {
  FingerprintItem absent = item(FingerprintClass::kHardware, "gpu", "absent");
  absent.reason = "one wording";
  const std::string id = make_fingerprint({absent}).id;
  absent.reason = "another";
  CHECK(make_fingerprint({absent}).id == id);
  absent.source = FingerprintSource::kDeclared;
  CHECK(make_fingerprint({absent}).id != id);
}

TEST_CASE("a difference says its kind, its role and what it can affect") {
  using C = FingerprintClass;
  const Fingerprint before = make_fingerprint(
      {item(C::kModel, "weights.stored_root", "1"), item(C::kSoftware, "cuda.driver", "550"),
       item(C::kSoftware, "openblas", "x"),
       item(C::kHardware, "gpu", "", FingerprintSource::kUnknown),
       item(C::kNumerics, "kv_dtype", "f16"), item(C::kText, "tokenizer", "t")});
  const Fingerprint after = make_fingerprint(
      {item(C::kModel, "weights.stored_root", "2"), item(C::kSoftware, "cuda.driver", "560"),
       item(C::kHardware, "gpu", "H200"), item(C::kNumerics, "kv_dtype", "f32"),
       item(C::kText, "tokenizer", "t"), item(C::kEnvironment, "MKL_CBWR", "AVX2")});
  const std::vector<FingerprintItemChange> changes = diff_fingerprints(before, after);
  std::vector<std::string> seen;
  for (const FingerprintItemChange& c : changes) {
    seen.push_back(std::string(name(c.item_class)) + "." + c.name + " " + name(c.kind) + " " +
                   name(c.role));
    CHECK(c.effect.ends_with("."));
  }
  CHECK(seen == std::vector<std::string>{
                    "model.weights.stored_root changed identity",
                    "numerics.kv_dtype changed arithmetic", "software.cuda.driver changed advisory",
                    "software.openblas removed advisory", "hardware.gpu unknown advisory",
                    "environment.MKL_CBWR added advisory"});
  CHECK(changes[2].effect ==
        "Vendor libraries and adaptive sets can change; the invariant sets keep their bits.");
}

TEST_CASE("every class has a rule for any item, and no two rules have one place") {
  std::set<std::pair<FingerprintClass, std::string_view>> places;
  for (const ItemRule& rule : item_rules()) {
    CHECK(places.emplace(rule.item_class, rule.prefix).second);
    CHECK(rule.effect.ends_with("."));
  }
  for (int c = 0; c <= static_cast<int>(FingerprintClass::kEnvironment); ++c) {
    CHECK(places.contains({static_cast<FingerprintClass>(c), ""}));
    CHECK_FALSE(rule_of(static_cast<FingerprintClass>(c), "zzz").effect.empty());
  }
  CHECK(rule_of(FingerprintClass::kModel, "config.stored").role == ItemRole::kAdvisory);
  CHECK(rule_of(FingerprintClass::kModel, "something.new").role == ItemRole::kIdentity);
}

TEST_CASE("what a template's clock said, and the templates beside the main one, are items") {
  FingerprintInputs in = inputs_for(nullptr);
  const Fingerprint plain = compute_fingerprint(in);
  CHECK(find(plain, FingerprintClass::kText, "template_clock") == nullptr);
  in.text.template_clock = "2026-01-01T00:00:00";
  in.text.named_template_digests = {{"tool_use", "n0"}};
  in.text.unused_template_digests = {{"chat_template.json: chat_template", "u0"}};
  const Fingerprint dated = compute_fingerprint(in);
  CHECK(find(dated, FingerprintClass::kText, "template_clock")->value == "2026-01-01T00:00:00");
  in.text.template_clock = "2026-01-02T00:00:00";
  const auto of_text = [](std::vector<FingerprintItemChange> changes) {
    std::erase_if(changes, [](const auto& c) { return c.item_class != FingerprintClass::kText; });
    return changes;
  };
  const auto changes = of_text(diff_fingerprints(dated, compute_fingerprint(in)));
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].name == "template_clock");
  CHECK(changes[0].role == ItemRole::kIdentity);
  const auto added = of_text(diff_fingerprints(plain, dated));
  CHECK(added.size() == 3);
  for (const FingerprintItemChange& change : added) {
    const bool advisory = change.name.starts_with("unused_chat_template.");
    CHECK(change.role == (advisory ? ItemRole::kAdvisory : ItemRole::kIdentity));
  }
}
