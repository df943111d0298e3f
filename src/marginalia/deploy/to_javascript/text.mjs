// ---- Functions of one string: kinds of characters, lower case, small regular expressions, attributes.

const UPPER = 1, LOWER = 2, LETTER = 3, MARK = 4, DIGIT = 5, PUNCT = 6, SPACE = 7;
const KIND_NAMES = ["other", "letter", "letter", "letter", "other", "digit", "punct", "space"];
const SCRIPT_NAMES = ["", "han", "hiragana", "katakana", "hangul", "latin", "greek", "cyrillic", "cjk-digit"];

// What characters become, of rows of first, last, step, distance.
function mapped(numbers) {
  const found = new Map();
  for (let i = 0; i < numbers.length; i += 4) {
    const [first, last, step, distance] = numbers.slice(i, i + 4);
    for (let code = first; code <= last; code += step) {
      found.set(String.fromCodePoint(code), String.fromCodePoint(code + distance));
    }
  }
  return found;
}

function translate(text, map) {
  let out = "";
  for (const char of text) out += map.get(char) ?? char;
  return out;
}

// Kinds, scripts, lower case and widths of characters, by the Unicode tables that the model was trained with.
export class Characters {
  constructor(ranges, lowers, widths) {
    this.ranges = ranges;
    this.lowers = mapped(lowers);
    this.widths = mapped(widths);
  }

  // One of the kinds above.
  kind(char) {
    return this.packed(char) & 0xf;
  }

  // The script of a letter or mark, "" for others.
  script(char) {
    return SCRIPT_NAMES[(this.packed(char) >>> 4) & 0xf];
  }

  // Lower case, one character for each.
  lower(text) {
    return translate(text, this.lowers);
  }

  // In usual widths, one character for each.
  usualWidth(text) {
    return translate(text, this.widths);
  }

  packed(char) {
    const code = char.codePointAt(0);
    let low = 0, high = this.ranges.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.ranges[middle] >>> 8 <= code) low = middle;
      else high = middle;
    }
    return this.ranges[low] & 0xff;
  }
}

// A regular expression of Wapiti's pattern files: a star takes as little as it can, `?` what it can.
class Pattern {
  constructor(pattern, characters) {
    const chars = [...pattern];
    this.characters = characters;
    this.fromStart = chars[0] === "^";
    this.toEnd = false;
    this.items = [];
    for (let at = this.fromStart ? 1 : 0; at < chars.length; ) {
      if (chars[at] === "$" && at + 1 === chars.length) {
        this.toEnd = true;
        break;
      }
      const escaped = chars[at] === "\\";
      if (escaped) at += 1;
      const code = chars[at++];
      const isClass = escaped ? "adlpsuw".includes(characters.lower(code)) : code === ".";
      const repeat = chars[at] === "*" || chars[at] === "?" ? chars[at++] : "";
      this.items.push({ code, isClass, repeat });
    }
  }

  // The leftmost match; null if there is none.
  find(text) {
    const chars = [...text];
    const fits = this.tails(chars);
    const last = this.fromStart ? 0 : chars.length;
    let begin = 0;
    while (begin <= last && !fits[begin][0]) begin += 1;
    return begin > last ? null : chars.slice(begin, this.end(chars, fits, begin)).join("");
  }

  // Whether the items from there on match the text from there on.
  tails(chars) {
    const count = this.items.length;
    const fits = [];
    for (let at = chars.length; at >= 0; at--) {
      fits[at] = new Array(count + 1).fill(false);
      fits[at][count] = !this.toEnd || at === chars.length;
      for (let i = count - 1; i >= 0; i--) {
        const repeat = this.items[i].repeat;
        const rest = repeat === "*" ? i : i + 1;
        const takes = () => at < chars.length && this.accepts(i, chars[at]) && fits[at + 1][rest];
        fits[at][i] = (repeat !== "" && fits[at][i + 1]) || takes();
      }
    }
    return fits;
  }

  end(chars, fits, begin) {
    let at = begin;
    this.items.forEach(({ repeat }, i) => {
      if (repeat === "*") while (!fits[at][i + 1]) at += 1;
      else if (repeat === "") at += 1;
      else if (at < chars.length && this.accepts(i, chars[at]) && fits[at + 1][i + 1]) at += 1;
    });
    return at;
  }

  accepts(item, char) {
    const { code, isClass } = this.items[item];
    if (!isClass) return char === code;
    if (code === ".") return true;
    const name = this.characters.lower(code), kind = this.characters.kind(char);
    const letter = kind === UPPER || kind === LOWER || kind === LETTER || kind === MARK;
    const inside = {
      a: letter,
      d: kind === DIGIT,
      l: kind === LOWER,
      p: kind === PUNCT,
      s: kind === SPACE,
      u: kind === UPPER,
      w: letter || kind === DIGIT,
    };
    return inside[name] === (name === code);
  }
}

// The function that templates call `name`: it gives a string, or null if there is no value.
export function attribute(name, argument, characters) {
  const lower = (text) => characters.lower(text);
  const same = (text) => text;
  if (name.endsWith("prefix") || name.endsWith("suffix")) {
    return affix(name.endsWith("prefix"), Number(argument), name.startsWith("lower-") ? lower : same);
  }
  if (name === "has" || name === "is") {
    const holds = flags(characters)[argument];
    return (text) => (holds([...text]) ? "1" : null);
  }
  if (name === "test" || name === "match" || name === "lower-match") {
    const pattern = new Pattern(argument, characters);
    if (name === "test") return (text) => String(pattern.find(text) !== null);
    const change = name === "match" ? same : lower;
    return (text) => change(pattern.find(text) ?? "");
  }
  return {
    column: same,
    lower,
    shape: (text) => shape(text, false, characters),
    "collapsed-shape": (text) => shape(text, true, characters),
    "char-class": (text) => charClass(text, characters),
    width: (text) => characters.usualWidth(text),
    nfkc: (text) => text.normalize("NFKC"),
  }[name];
}

function affix(first, size, change) {
  return (text) => {
    const chars = [...text];
    if (chars.length < size) return null;
    return change((first ? chars.slice(0, size) : chars.slice(-size)).join(""));
  };
}

function shape(text, collapse, characters) {
  const shown = { [UPPER]: "X", [LOWER]: "x", [LETTER]: "c", [DIGIT]: "d" };
  const out = [];
  for (const char of text) {
    const kind = characters.kind(char);
    const current = shown[kind] ?? char;
    if (kind !== MARK && !(collapse && out.length > 0 && out[out.length - 1] === current)) out.push(current);
  }
  return out.join("");
}

function charClass(text, characters) {
  if (text === "") return null;
  return characters.script(text) || KIND_NAMES[characters.kind(text)];
}

function flags(characters) {
  const kind = (char) => characters.kind(char);
  const any = (t, ...kinds) => t.some((char) => kinds.includes(kind(char)));
  const all = (t, wanted) => t.length > 0 && t.every((char) => kind(char) === wanted);
  const hyphen = (t) => t.some((char) => "-\u2010\u2011".includes(char));
  return {
    digit: (t) => any(t, DIGIT),
    upper: (t) => any(t, UPPER),
    hyphen,
    "two-digits": (t) => t.length === 2 && all(t, DIGIT),
    "four-digits": (t) => t.length === 4 && all(t, DIGIT),
    "digits-letters": (t) => any(t, DIGIT) && any(t, UPPER, LOWER, LETTER),
    "digits-dash": (t) => any(t, DIGIT) && hyphen(t),
    "digits-slash": (t) => any(t, DIGIT) && t.includes("/"),
    "digits-comma": (t) => any(t, DIGIT) && t.includes(","),
    "digits-period": (t) => any(t, DIGIT) && t.includes("."),
    number: (t) => all(t, DIGIT),
    "initial-cap": (t) => t.length > 0 && kind(t[0]) === UPPER,
    "all-caps": (t) => all(t, UPPER),
    "lower-case": (t) => all(t, LOWER),
    "cap-period": (t) => t.length === 2 && kind(t[0]) === UPPER && t[1] === ".",
  };
}
