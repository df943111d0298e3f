#include "features/documents.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/unicode.hpp"

namespace marginalia {

namespace {

constexpr std::array<std::pair<std::string_view, DocumentFunction>, 12> kFunctions{{
    {"sentence-form", DocumentFunction::sentence_form},
    {"sentence-number", DocumentFunction::sentence_number},
    {"document-first", DocumentFunction::document_first},
    {"document-case", DocumentFunction::document_case},
    {"elsewhere-before", DocumentFunction::elsewhere_before},
    {"elsewhere-after", DocumentFunction::elsewhere_after},
    {"first-use-before", DocumentFunction::first_use_before},
    {"first-use-after", DocumentFunction::first_use_after},
    {"run-before", DocumentFunction::run_before},
    {"run-after", DocumentFunction::run_after},
    {"run-place", DocumentFunction::run_place},
    {"elsewhere-list", DocumentFunction::elsewhere_list},
}};
constexpr std::string_view kBefore = "_B-1", kAfter = "_B+1";  // the neighbours outside of a sentence
constexpr std::size_t kMostSentences = 5, kLongestMatch = 5;

struct Token {
  std::string_view text;
  std::uint32_t word = 0;
  bool upper = false, lower = false;  // its first character
  bool letters = false, digits = false, capitals = false;
  bool is_use = false;
};

Token token_of(std::string_view text) {
  Token token{text};
  bool has_upper = false, has_lower = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool first = at == 0;
    const Kind kind = kind_of(next_code_point(text, at));
    has_upper = has_upper || kind == Kind::upper;
    has_lower = has_lower || kind == Kind::lower;
    token.letters = token.letters || kind == Kind::letter;
    token.digits = token.digits || kind == Kind::digit;
    if (first) token.upper = kind == Kind::upper;
    if (first) token.lower = kind == Kind::lower;
  }
  token.letters = token.letters || has_upper || has_lower;
  token.capitals = has_upper && !has_lower;
  return token;
}

std::string lowered(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) append(out, lower_of(next_code_point(text, at)));
  return out;
}

struct Sentence {
  std::size_t begin, end;  // tokens of the document
  bool capitals = false;
};

struct Neighbour {
  std::string_view text;
  std::uint32_t count;
  bool operator<(const Neighbour& other) const {
    return count != other.count ? count > other.count : text < other.text;
  }
};

// What the uses of a word in a document are like.
struct Word {
  std::uint32_t times = 0;
  bool within_upper = false, lower = false;  // so written inside of a sentence; anywhere
  std::vector<Neighbour> before, after;      // most frequent first
  std::size_t first_use = SIZE_MAX;
  std::size_t run_begin = 0, run_length = 0, run_at = 0;
};

// One column of a document.
class Document {
 public:
  Document(const TokenTable& table, std::size_t column, std::size_t first_sentence, std::size_t last_sentence)
      : first_(table.sentence[first_sentence]) {
    for (std::size_t s = first_sentence; s < last_sentence; ++s)
      add_sentence(table, column, table.sentence[s] - first_, table.sentence[s + 1] - first_);
    for (const Sentence& sentence : sentences_) note_words(sentence);
    for (Word& word : words_) {
      rank(word.before);
      rank(word.after);
    }
  }

  const std::vector<Token>& tokens() const { return tokens_; }
  const std::vector<Sentence>& sentences() const { return sentences_; }

  // The value of an attribute at a token of the s-th sentence; false: absent.
  bool value(const DocumentAttribute& attribute, std::size_t s, std::size_t at, std::string& out) const;
  // Those of `elsewhere_list`, for all tokens; empty: absent.
  std::vector<std::string> list_values(const PhraseSet& phrases) const;

 private:
  void add_sentence(const TokenTable& table, std::size_t column, std::size_t begin, std::size_t end);
  void note_words(const Sentence& sentence);
  void note_use(const Sentence& sentence, std::size_t at);
  void note_run(std::size_t begin, std::size_t end);
  static void rank(std::vector<Neighbour>& found);
  std::string_view before(const Sentence& sentence, std::size_t at) const {
    return at == sentence.begin ? kBefore : tokens_[at - 1].text;
  }
  std::string_view after(const Sentence& sentence, std::size_t at) const {
    return at + 1 == sentence.end ? kAfter : tokens_[at + 1].text;
  }
  std::string form(const Sentence& sentence) const;
  std::string written(const Word& word) const;
  bool neighbour(const std::vector<Neighbour>& all, const std::string_view* own, std::size_t n,
                 std::string& out) const;
  bool in_run(const Word& word, DocumentFunction function, std::string& out) const;
  const Sentence& sentence_of(std::size_t at) const {
    const auto behind = std::upper_bound(sentences_.begin(), sentences_.end(), at,
                                         [](std::size_t t, const Sentence& s) { return t < s.begin; });
    return *(behind - 1);
  }

  std::size_t first_;
  std::vector<Token> tokens_;
  std::vector<Sentence> sentences_;
  std::vector<Word> words_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

void Document::add_sentence(const TokenTable& table, std::size_t column, std::size_t begin, std::size_t end) {
  std::size_t letters = 0, capitals = 0;
  for (std::size_t t = begin; t < end; ++t) {
    Token token = token_of(table.field(first_ + t, column));
    const auto [found, is_new] =
        numbers_.try_emplace(lowered(token.text), static_cast<std::uint32_t>(words_.size()));
    if (is_new) words_.emplace_back();
    token.word = found->second;
    letters += token.letters;
    capitals += token.capitals;
    tokens_.push_back(token);
  }
  sentences_.push_back({begin, end, letters > 0 && 5 * capitals >= 4 * letters});
}

// Where a capital says nothing: behind a quotation mark, a colon or a period.
bool opens(std::string_view text) {
  return text == "``" || text == "\"" || text == ":" || text == ".";
}

void Document::note_words(const Sentence& sentence) {
  for (std::size_t t = sentence.begin; t < sentence.end; ++t) {
    Token& token = tokens_[t];
    Word& word = words_[token.word];
    ++word.times;
    if (sentence.capitals) continue;
    token.is_use = token.upper;
    word.lower = word.lower || token.lower;
    if (token.upper && t != sentence.begin && !opens(tokens_[t - 1].text)) word.within_upper = true;
    if (token.upper) note_use(sentence, t);
  }
  for (std::size_t t = sentence.begin; t < sentence.end; ++t) {
    std::size_t end = t;
    while (end < sentence.end && tokens_[end].is_use) ++end;
    if (end == t) continue;
    note_run(t, end);
    t = end - 1;
  }
}

void Document::note_use(const Sentence& sentence, std::size_t at) {
  Word& word = words_[tokens_[at].word];
  word.before.push_back({before(sentence, at), 1});
  word.after.push_back({after(sentence, at), 1});
  word.first_use = std::min(word.first_use, at);
}

void Document::note_run(std::size_t begin, std::size_t end) {
  for (std::size_t t = begin; t < end; ++t) {
    Word& word = words_[tokens_[t].word];
    if (end - begin <= word.run_length) continue;
    word.run_begin = begin;
    word.run_length = end - begin;
    word.run_at = t;
  }
}

// Counts equal ones, and sorts them by that.
void Document::rank(std::vector<Neighbour>& found) {
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  std::size_t kept = 0;
  for (const Neighbour& one : found) {
    if (kept != 0 && found[kept - 1].text == one.text)
      ++found[kept - 1].count;
    else
      found[kept++] = one;
  }
  found.resize(kept);
  std::sort(found.begin(), found.end());
}

// In how many of `parts` equal parts a share of all lies.
char share(std::size_t some, std::size_t all, std::size_t parts) {
  return static_cast<char>('0' + some * parts / all);
}

std::string Document::form(const Sentence& sentence) const {
  const std::size_t n = sentence.end - sentence.begin;
  std::size_t digits = 0, upper = 0, capitals = 0;
  for (std::size_t t = sentence.begin; t < sentence.end; ++t) {
    digits += tokens_[t].digits;
    upper += tokens_[t].upper;
    capitals += tokens_[t].capitals;
  }
  const char length = n <= 3 ? 'a' : n <= 8 ? 'b' : n <= 15 ? 'c' : 'd';
  const char end = tokens_[sentence.end - 1].text == "." ? '.' : '-';
  return {length, share(digits, n, 4), share(upper, n, 4), share(capitals, n, 3), end};
}

std::string Document::written(const Word& word) const {
  std::string out = word.within_upper && word.lower ? "Xx" : word.within_upper ? "X" : word.lower ? "x" : "-";
  return out + (word.times > 1 ? "+" : "1");
}

// The n-th of all neighbours, without the one that is the token's own.
bool Document::neighbour(const std::vector<Neighbour>& all, const std::string_view* own, std::size_t n,
                         std::string& out) const {
  // One use less moves the own neighbour behind; which one is n-th is decided among the first n + 1.
  std::vector<Neighbour> first(all.begin(),
                               all.begin() + static_cast<std::ptrdiff_t>(std::min(n + 1, all.size())));
  for (Neighbour& one : first)
    if (own != nullptr && one.text == *own) --one.count;
  std::sort(first.begin(), first.end());
  if (first.size() < n || first[n - 1].count == 0) return false;
  out = first[n - 1].text;
  return true;
}

bool Document::in_run(const Word& word, DocumentFunction function, std::string& out) const {
  const std::size_t at = word.run_at - word.run_begin;
  if (word.run_length == 0) return false;
  if (function == DocumentFunction::run_place)
    out = std::to_string(at) + "." + std::to_string(word.run_length);
  else if (function == DocumentFunction::run_before && at > 0)
    out = tokens_[word.run_at - 1].text;
  else if (function == DocumentFunction::run_after && at + 1 < word.run_length)
    out = tokens_[word.run_at + 1].text;
  else
    return false;
  return true;
}

bool Document::value(const DocumentAttribute& attribute, std::size_t s, std::size_t at,
                     std::string& out) const {
  const Token& token = tokens_[at];
  const Word& word = words_[token.word];
  const Sentence& sentence = sentences_[s];
  const bool is_first_use = word.first_use == SIZE_MAX || word.first_use == at;
  std::string_view own;
  switch (attribute.function) {
    case DocumentFunction::sentence_form:
      out = form(sentence);
      return true;
    case DocumentFunction::sentence_number:
      out = std::to_string(std::min(s + 1, kMostSentences));
      return true;
    case DocumentFunction::document_first:
      out = lowered(tokens_[0].text);
      return true;
    case DocumentFunction::document_case:
      out = written(word);
      return true;
    case DocumentFunction::elsewhere_before:
      own = before(sentence, at);
      return neighbour(word.before, token.is_use ? &own : nullptr, attribute.n, out);
    case DocumentFunction::elsewhere_after:
      own = after(sentence, at);
      return neighbour(word.after, token.is_use ? &own : nullptr, attribute.n, out);
    case DocumentFunction::first_use_before:
      if (!is_first_use) out = before(sentence_of(word.first_use), word.first_use);
      return !is_first_use;
    case DocumentFunction::first_use_after:
      if (!is_first_use) out = after(sentence_of(word.first_use), word.first_use);
      return !is_first_use;
    case DocumentFunction::run_before:
    case DocumentFunction::run_after:
    case DocumentFunction::run_place:
      return in_run(word, attribute.function, out);
    case DocumentFunction::elsewhere_list:
      break;
  }
  return false;
}

std::string place_in_match(std::size_t at, std::size_t length) {
  const char place = length == 1 ? 'S' : at == 0 ? 'B' : at + 1 == length ? 'E' : 'I';
  return {place, static_cast<char>('0' + std::min(length, kLongestMatch))};
}

std::vector<std::string> Document::list_values(const PhraseSet& phrases) const {
  std::vector<std::string> own(tokens_.size()), longest(words_.size());
  std::vector<std::uint8_t> marks;
  for (const Sentence& sentence : sentences_) {
    std::vector<std::string_view> texts;
    for (std::size_t t = sentence.begin; t < sentence.end; ++t) texts.push_back(tokens_[t].text);
    phrases.match(texts, marks);
    for (std::size_t b = 0; b < marks.size(); ++b) {
      if (marks[b] != 1) continue;
      std::size_t e = b + 1;
      while (e < marks.size() && marks[e] == 2) ++e;
      for (std::size_t t = b; t < e; ++t) own[sentence.begin + t] = place_in_match(t - b, e - b);
    }
  }
  for (std::size_t t = 0; t < tokens_.size(); ++t) {
    std::string& known = longest[tokens_[t].word];
    if (tokens_[t].is_use && !own[t].empty() && own[t][0] != 'S' && (known.empty() || own[t][1] > known[1]))
      known = own[t];
  }
  std::vector<std::string> values(tokens_.size());
  for (std::size_t t = 0; t < tokens_.size(); ++t)
    if (tokens_[t].upper && longest[tokens_[t].word] != own[t]) values[t] = longest[tokens_[t].word];
  return values;
}

// The sentences [first, second) of the document that has a token.
std::pair<std::size_t, std::size_t> document_of(const TokenTable& table, std::size_t token) {
  const auto behind = std::upper_bound(table.sentence.begin(), table.sentence.end(), token);
  std::size_t first = static_cast<std::size_t>(behind - table.sentence.begin()) - 1, last = first + 1;
  if (table.document.size() != table.sentences()) return {first, last};
  const std::uint32_t number = table.document[first];
  while (first > 0 && table.document[first - 1] == number) --first;
  while (last < table.sentences() && table.document[last] == number) ++last;
  return {first, last};
}

}  // namespace

bool find_document_function(std::string_view name, DocumentFunction& out) {
  for (const auto& [known, function] : kFunctions)
    if (known == name) {
      out = function;
      return true;
    }
  return false;
}

DocumentValues::DocumentValues(std::vector<DocumentAttribute> attributes,
                               std::vector<std::shared_ptr<const PhraseSet>> lists, std::uint32_t columns)
    : attributes_(std::move(attributes)), lists_(std::move(lists)) {
  for (const DocumentAttribute& one : attributes_) {
    if (one.column >= columns) throw std::invalid_argument("program: column out of range");
    if (one.n < 1 || one.n > kMostNeighbours) throw std::invalid_argument("program: neighbour out of range");
    if (one.function == DocumentFunction::elsewhere_list &&
        (one.list >= lists_.size() || lists_[one.list] == nullptr))
      throw std::invalid_argument("program: list out of range");
  }
}

void DocumentValues::read(const TokenTable& table, std::size_t token, DocumentSpace& space) const {
  if (space.table_ == table.identity.id() && space.table_ != nullptr && space.first_ <= token &&
      token < space.last_)
    return;
  const auto [first, last] = document_of(table, token);
  space.table_ = table.identity.id();
  space.first_ = table.sentence[first];
  space.last_ = table.sentence[last];
  const std::size_t length = space.last_ - space.first_;
  space.texts_.assign(attributes_.size() * length, {});
  space.hashes_.assign(attributes_.size() * length, kAbsent);
  std::unordered_map<std::uint32_t, Document> documents;  // by column
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    const DocumentAttribute& attribute = attributes_[i];
    const Document& document =
        documents.try_emplace(attribute.column, table, attribute.column, first, last).first->second;
    std::vector<std::string> listed;
    if (attribute.function == DocumentFunction::elsewhere_list)
      listed = document.list_values(*lists_[attribute.list]);
    for (std::size_t s = 0; s < document.sentences().size(); ++s)
      for (std::size_t t = document.sentences()[s].begin; t < document.sentences()[s].end; ++t) {
        std::string& text = space.texts_[i * length + t];
        const bool present =
            listed.empty() ? document.value(attribute, s, t, text) : !(text = std::move(listed[t])).empty();
        if (present) space.hashes_[i * length + t] = hash_of(text);
      }
  }
}

}  // namespace marginalia
