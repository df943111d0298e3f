#include "features/tree_extractor.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace marginalia {

namespace {

constexpr std::uint32_t kDeepest = 9;  // address on the stack or in the queue
const char* const kDistanceTexts[TreeNames::kDistances] = {"_none", "1", "2", "3", "4", "5-6", "7-10", "11+"};

Hashed with_slash(const Hashed& value) {
  static const Hashed slash = hash_of("/");
  return value.absent() ? kAbsent : joined(value, slash);
}

[[noreturn]] void refuse(std::string_view what, std::string_view text) {
  throw std::invalid_argument("extractor: " + std::string(what) + " '" + std::string(text) + "'");
}

TreeStep step_named(std::string_view name) {
  static const std::pair<std::string_view, TreeStep> steps[] = {{"left", TreeStep::left},
                                                                {"left2", TreeStep::left2},
                                                                {"right", TreeStep::right},
                                                                {"right2", TreeStep::right2},
                                                                {"head", TreeStep::head}};
  for (const auto& [known, step] : steps)
    if (known == name) return step;
  refuse("unknown step", name);
}

// The two arguments of `function(first,second)`.
std::pair<std::string_view, std::string_view> arguments_of(std::string_view text) {
  const std::size_t open = text.find('('), comma = text.find(','), close = text.size() - 1;
  if (open == text.npos || comma == text.npos || comma < open || text.back() != ')')
    refuse("not a place of a configuration:", text);
  return {text.substr(open + 1, comma - open - 1), text.substr(comma + 1, close - comma - 1)};
}

}  // namespace

TreeNames::TreeNames(const std::vector<std::string>& labels) : labels_(labels) {
  labels_.emplace_back(TreeExtractor::kNone);
  for (const std::string& label : labels_) add(TreeFieldKind::label, label);
  for (const char* text : kDistanceTexts) add(TreeFieldKind::distance, text);
  for (std::uint32_t n = 0; n <= kMostChildren; ++n)
    add(TreeFieldKind::valency, text(TreeFieldKind::valency, n));
  clear_sets();
}

void TreeNames::clear_sets() {
  for (auto& values : hashes_[static_cast<std::size_t>(TreeFieldKind::labels)]) values.clear();
  sets_ = {{}};
  numbers_ = {{{}, 0}};
  next_.assign(labels(), 0);
  add(TreeFieldKind::labels, "");
}

void TreeNames::add(TreeFieldKind kind, const std::string& text) {
  auto& both = hashes_[static_cast<std::size_t>(kind)];
  both[0].push_back(hash_of(text));
  both[1].push_back(with_slash(both[0].back()));
}

std::uint32_t TreeNames::distance(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t apart = a < b ? b - a : a - b;
  return apart <= 4 ? apart : apart <= 6 ? 5 : apart <= 10 ? 6 : 7;
}

std::uint32_t TreeNames::with(std::uint32_t set, std::uint32_t label) {
  const std::size_t at = std::size_t{set} * labels() + label;
  if (next_[at] != 0) return next_[at];
  std::vector<std::uint32_t> more = sets_[set];
  const auto place = std::lower_bound(more.begin(), more.end(), label);
  if (place == more.end() || *place != label) more.insert(place, label);
  const auto number = static_cast<std::uint32_t>(sets_.size());
  const auto [known, added] = numbers_.try_emplace(more, number);
  next_[at] = known->second;
  if (added) {
    sets_.push_back(std::move(more));
    next_.resize(sets_.size() * labels());
    add(TreeFieldKind::labels, text(TreeFieldKind::labels, number));
  }
  return known->second;
}

std::string TreeNames::text(TreeFieldKind kind, std::uint32_t number) const {
  if (kind == TreeFieldKind::label) return labels_[number];
  if (kind == TreeFieldKind::distance) return kDistanceTexts[number];
  if (kind == TreeFieldKind::valency) return std::to_string(number) + (number == kMostChildren ? "+" : "");
  std::string all;
  for (const std::uint32_t label : sets_[number]) all += (all.empty() ? "" : "|") + labels_[label];
  return all;
}

TreeExtractor::TreeExtractor(std::vector<Source> sources, std::vector<std::vector<TreePiece>> templates,
                             std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns)
    : sources_(std::move(sources)),
      templates_(std::move(templates)),
      reader_(sources_, {}, std::move(lists), columns) {
  for (const auto& pieces : templates_) compile(pieces);
  group();
}

// "s0", "q1", "s0.left.right2"
std::uint32_t TreeExtractor::address_of(std::string_view text) {
  TreeAddress address;
  const std::size_t dot = text.rfind('.');
  if (dot != text.npos) {
    address.from = address_of(text.substr(0, dot));
    address.step = step_named(text.substr(dot + 1));
  } else {
    if (text.size() != 2 || (text[0] != 's' && text[0] != 'q') || text[1] < '0' || text[1] > '9')
      refuse("not a place of a configuration:", text);
    address.queue = text[0] == 'q';
    address.depth = static_cast<std::uint32_t>(text[1] - '0');
    static_assert(kDeepest == 9);
  }
  const auto known = std::find(addresses_.begin(), addresses_.end(), address);
  if (known == addresses_.end()) addresses_.push_back(address);
  return static_cast<std::uint32_t>(std::find(addresses_.begin(), addresses_.end(), address) -
                                    addresses_.begin());
}

std::uint32_t TreeExtractor::field_of(const TreePiece& piece) {
  const std::string_view anchor = piece.anchor;
  TreeField field;
  if (piece.source != TreePiece::kNoSource) {
    if (piece.source >= sources_.size()) throw std::invalid_argument("extractor: attribute out of range");
    field.address = address_of(anchor);
  } else if (anchor.ends_with(".label")) {
    field = {TreeFieldKind::label, address_of(anchor.substr(0, anchor.size() - 6)), 0, false};
  } else {
    const auto [first, second] = arguments_of(anchor);
    const std::string_view name = anchor.substr(0, anchor.find('('));
    field.address = address_of(first);
    if (name == "distance") {
      field.kind = TreeFieldKind::distance;
      field.other = address_of(second);
    } else {
      if (name != "valency" && name != "labels") refuse("unknown function", name);
      if (second != "left" && second != "right") refuse("not a side:", second);
      field.kind = name == "valency" ? TreeFieldKind::valency : TreeFieldKind::labels;
      field.right = second == "right";
    }
  }
  const auto known = std::find(fields_.begin(), fields_.end(), field);
  const auto number = static_cast<std::uint32_t>(known - fields_.begin());
  if (known == fields_.end()) fields_.push_back(field);
  return number;
}

void TreeExtractor::compile(const std::vector<TreePiece>& pieces) {
  Compiled made;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    if (pieces[k].anchor.empty()) {
      const bool is_slash = !made.steps.empty() && pieces[k].text == "/" && k + 1 < pieces.size();
      if (is_slash)
        made.steps.back().slash = true;
      else if (made.steps.empty())
        made.head = joined(made.head, hash_of(pieces[k].text));
      else
        refuse("text between values is a slash, not", pieces[k].text);
      continue;
    }
    const std::uint32_t field = field_of(pieces[k]);
    made.steps.push_back({field, fields_[field].kind, pieces[k].source, false});
  }
  join_runs(made);
  compiled_.push_back(std::move(made));
}

void TreeExtractor::join_runs(Compiled& made) {
  for (std::size_t k = 0; k < made.steps.size();) {
    const std::uint32_t field = made.steps[k].field;
    const TreeFieldKind kind = made.steps[k].kind;
    if (kind != TreeFieldKind::token) {
      made.runs.push_back({field, kind, 0, made.steps[k++].slash});
      continue;
    }
    std::vector<Step> run;
    for (; k < made.steps.size() && made.steps[k].field == field; ++k)
      run.push_back({0, kind, made.steps[k].source, made.steps[k].slash});
    const auto known = std::find(runs_.begin(), runs_.end(), run);
    made.runs.push_back({field, kind, static_cast<std::uint32_t>(known - runs_.begin()), false});
    if (known == runs_.end()) runs_.push_back(std::move(run));
  }
}

// The part that a field of an address follows from.
void TreeExtractor::add_part(std::uint32_t address, TreeFieldKind kind, bool right,
                             std::vector<TreePart>& parts) const {
  using Kind = TreePart::Kind;
  std::optional<TreeStep> first;
  for (; addresses_[address].from != TreeAddress::kNone; address = addresses_[address].from)
    first = addresses_[address].step;
  const auto side = [](bool to_right) { return to_right ? Kind::right : Kind::left; };
  Kind found = Kind::token;
  if (addresses_[address].queue)
    found = Kind::queue;
  else if (first == TreeStep::head || (!first && kind == TreeFieldKind::label))
    found = Kind::cell;
  else if (first)
    found = side(*first == TreeStep::right || *first == TreeStep::right2);
  else if (kind == TreeFieldKind::valency || kind == TreeFieldKind::labels)
    found = side(right);
  parts.push_back({found, found == Kind::queue ? 0 : addresses_[address].depth});
}

// All parts that a template looks at, without those that follow from others.
std::vector<TreePart> TreeExtractor::parts_of(const Compiled& made) const {
  std::vector<TreePart> all, kept;
  for (const Step& step : made.steps) {
    const TreeField& field = fields_[step.field];
    add_part(field.address, field.kind, field.right, all);
    if (field.kind == TreeFieldKind::distance) add_part(field.other, field.kind, false, all);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const TreePart& one : all) {
    const auto implies = [&](const TreePart& other) {
      return other.kind != TreePart::Kind::queue && one.kind != TreePart::Kind::queue &&
             other.depth == one.depth && one != other &&
             (one.kind == TreePart::Kind::token || other.kind == TreePart::Kind::cell);
    };
    if (std::none_of(all.begin(), all.end(), implies)) kept.push_back(one);
  }
  return kept;
}

// Templates whose fields follow from the same parts of a configuration, those with labels and numbers of
// children apart: states of a beam often differ in nothing else.
void TreeExtractor::group() {
  using Signature = std::pair<std::vector<TreePart>, bool>;
  std::vector<Signature> signatures;
  for (std::uint32_t t = 0; t < compiled_.size(); ++t) {
    const bool counts =
        std::any_of(compiled_[t].steps.begin(), compiled_[t].steps.end(), [](const Step& step) {
          return step.kind != TreeFieldKind::token && step.kind != TreeFieldKind::distance;
        });
    const Signature signature{parts_of(compiled_[t]), counts};
    const auto known = std::find(signatures.begin(), signatures.end(), signature);
    const auto number = static_cast<std::size_t>(known - signatures.begin());
    if (known == signatures.end()) {
      signatures.push_back(signature);
      groups_.emplace_back();
    }
    groups_[number].templates.push_back(t);
  }
  for (Group& one : groups_) one.fields = fields_of(one.templates);
}

// The fields that templates look at, in order; a distance follows from its two tokens.
std::vector<std::uint32_t> TreeExtractor::fields_of(const std::vector<std::uint32_t>& templates) const {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t t : templates)
    for (const Step& step : compiled_[t].steps) all.push_back(step.field);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto has_token = [&](std::uint32_t address) {
    return std::any_of(all.begin(), all.end(), [&](std::uint32_t k) {
      return fields_[k].kind == TreeFieldKind::token && fields_[k].address == address;
    });
  };
  const auto follows = [&](std::uint32_t k) {
    const TreeField& field = fields_[k];
    return field.kind == TreeFieldKind::distance && has_token(field.address) && has_token(field.other);
  };
  all.erase(std::remove_if(all.begin(), all.end(), follows), all.end());
  return all;
}

void TreeExtractor::read(const TokenTable& table, std::size_t first, std::size_t last, const Identity& owner,
                         ExtractionSpace& space, TreeValues& out) const {
  out.length = last - first;
  reader_.read(table, first, last, owner, space);
  reader_.values(space, out.length, out.grid);
  complete(out);
}

void TreeExtractor::complete(TreeValues& values) const {
  values.grid.resize(values.length * sources_.size());
  values.grid.resize((values.length + 1) * sources_.size(), hash_of(kNone));
  values.joined.clear();
  for (std::size_t t = 0; t <= values.length; ++t)
    for (const std::vector<Step>& run : runs_) {
      Hashed all;
      for (const Step& step : run) {
        const Hashed& value = values.grid[t * sources_.size() + step.source];
        if (all.absent() || value.absent())
          all = kAbsent;
        else
          all = joined(all, step.slash ? with_slash(value) : value);
      }
      values.joined.push_back(all);
    }
}

std::vector<std::string> TreeExtractor::texts(const TokenTable& table, std::size_t first, std::size_t last,
                                              const ExtractionSpace& space) const {
  std::vector<std::string> texts((last - first) * sources_.size());
  for (std::size_t t = 0; t < last - first; ++t)
    for (std::uint32_t k = 0; k < sources_.size(); ++k)
      reader_.value_text(k, table, space, first, t, texts[t * sources_.size() + k]);
  return texts;
}

}  // namespace marginalia
