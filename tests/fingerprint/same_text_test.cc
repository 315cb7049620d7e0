// The verdict on text: planted differences are found and placed, equal sides left alone, and what
// is not known never counts as equal.
#include "fingerprint/same_text.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "fingerprint/fingerprint.h"
#include "fingerprint/fingerprint_diff.h"
#include "fingerprint/item_list.h"

using namespace isobit;

namespace {

TextProbe probe(std::vector<int32_t> ids) {
  TextProbe out{.name = "code", .text = "a b", .ids = std::move(ids), .pieces = {}};
  for (const int32_t id : out.ids) out.pieces.push_back("t" + std::to_string(id));
  return out;
}

Fingerprint with(const std::string& tokenizer, const std::vector<TextProbe>& probes) {
  ItemList items;
  items.declared_or_unknown(FingerprintClass::kText, "tokenizer", tokenizer, "not asked");
  items.declared(FingerprintClass::kText, "chat_template", "c");
  items.declared(FingerprintClass::kText, "rendered_probe", "r");
  for (const TextProbe& one : probes) items.append(probe_items(one));
  return make_fingerprint(items.take());
}

}  // namespace

TEST_CASE("probes come back from a fingerprint's JSON as they went in") {
  TextProbe odd = probe({1, 2});
  odd.pieces = {"\"\\,]", "\xC4\xA0the\n"};
  const Fingerprint f = with("t", {odd});
  const auto probes = probes_of(fingerprint_from_json(fingerprint_json(f), "f"));
  REQUIRE(probes.size() == 1);
  CHECK(probes[0].name == "code");
  CHECK(probes[0].text == "a b");
  CHECK(probes[0].ids == odd.ids);
  CHECK(probes[0].pieces[0] == "\"\\,]");
  CHECK(probes[0].pieces[1] == "\\xc4\\xa0the\\x0a");
}

TEST_CASE("equal sides are the same text, also when a probe is recorded on one side only") {
  CHECK(compare_text(with("t", {probe({1, 2})}), with("t", {probe({1, 2})})).verdict ==
        TextVerdict::kSame);
  const TextComparison one_sided = compare_text(with("t", {probe({1, 2})}), with("t", {}));
  CHECK(one_sided.verdict == TextVerdict::kSame);
  CHECK(one_sided.n_probes == 0);
}

TEST_CASE("the first differing id is placed, with both ids and pieces") {
  const TextComparison c =
      compare_text(with("t", {probe({1, 2, 3})}), with("u", {probe({1, 5, 3})}));
  CHECK(c.verdict == TextVerdict::kDifferent);
  CHECK(c.differing == std::vector<std::string>{"tokenizer"});
  REQUIRE(c.probes.size() == 1);
  CHECK(c.probes[0].position == 1);
  CHECK(c.probes[0].before->id == 2);
  CHECK(c.probes[0].after->id == 5);
  CHECK(c.probes[0].after->piece == "t5");
}

TEST_CASE("ids that end early part at the end") {
  const TextComparison c = compare_text(with("t", {probe({1, 2})}), with("u", {probe({1, 2, 3})}));
  REQUIRE(c.probes.size() == 1);
  CHECK(c.probes[0].position == 2);
  CHECK_FALSE(c.probes[0].before.has_value());
  CHECK(c.probes[0].after->id == 3);
}

TEST_CASE("another digest is another text even where no probe shows it, and so are other ids") {
  const TextComparison hidden = compare_text(with("t", {probe({1})}), with("u", {probe({1})}));
  CHECK(hidden.verdict == TextVerdict::kDifferent);
  CHECK(hidden.probes.empty());
  CHECK(hidden.n_probes == 1);
  CHECK(compare_text(with("t", {probe({1})}), with("t", {probe({2})})).verdict ==
        TextVerdict::kDifferent);
}

TEST_CASE("what a side does not know is never the same text") {
  const TextComparison c = compare_text(with("", {}), with("", {}));
  CHECK(c.verdict == TextVerdict::kUnknown);
  CHECK(c.unknown == std::vector<std::string>{"tokenizer"});
}

TEST_CASE("what a fingerprint keeps of a probe is bounded and whole characters") {
  TextProbe long_probe = probe({});
  long_probe.text = std::string(kMaxProbeBytes - 1, 'a') + "\u754C";
  long_probe.ids.assign(kMaxProbeIds * 2, 7);
  long_probe.pieces.assign(kMaxProbeIds * 2, "seven");
  const auto probes = probes_of(with("t", {long_probe}));
  REQUIRE(probes.size() == 1);
  CHECK(probes[0].text == std::string(kMaxProbeBytes - 1, 'a'));
  CHECK(probes[0].ids.size() == kMaxProbeIds);
  CHECK(probes[0].pieces.size() == kMaxProbeIds);
}

TEST_CASE("probe items that are not arrays are refused") {
  for (const char* value : {"", "[1", "{}", "[\"a\"]", "[1.5]"}) {
    ItemList items;
    items.declared(FingerprintClass::kText, "probe.code.ids", value);
    CHECK_THROWS_AS(probes_of(make_fingerprint(items.take())), Error);
  }
}

TEST_CASE("probes are advisory: tokenizer, template and rendered probe decide comparability") {
  CHECK(rule_of(FingerprintClass::kText, "probe.code.ids").role == ItemRole::kAdvisory);
  CHECK(rule_of(FingerprintClass::kText, "rendered_probe").role == ItemRole::kIdentity);
}
