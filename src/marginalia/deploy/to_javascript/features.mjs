// ---- From columns of text to the keys of features, and from keys to weights.

import { Characters, attribute } from "./text.mjs";

// An array of the given type from base64 text.
export function numbers(text, Type) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Type(bytes.buffer);
}

// Hashes are polynomials modulo 2^61 - 1 and can be joined. Numbers of 61 bits are kept in three parts, of 21, 21
// and 19 bits, whose products are exact. A hashed text is [hash, base to the power of its length], six parts.
const PART = 2 ** 21, TOP = 2 ** 19;
const BASE = [0x18e246, 0x02eb8d, 0x3cea7];
export const NOTHING = [0, 0, 0, 1, 0, 0];

// a * b + c, in place of a, from the part `at` of a on.
function multiplyAdd(a, at, b0, b1, b2, c0, c1, c2) {
  const a0 = a[at], a1 = a[at + 1], a2 = a[at + 2];
  let x0 = a0 * b0 + 4 * (a1 * b2 + a2 * b1) + c0; // 2^63 = 4 and 2^84 = 4 * 2^21, modulo 2^61 - 1
  let x1 = a0 * b1 + a1 * b0 + 4 * a2 * b2 + c1;
  let x2 = a0 * b2 + a1 * b1 + a2 * b0 + c2;
  do {
    let carry = Math.floor(x0 / PART); // quicker than %, which is slow beyond 32 bits
    x0 -= carry * PART;
    x1 += carry;
    carry = Math.floor(x1 / PART);
    x1 -= carry * PART;
    x2 += carry;
    carry = Math.floor(x2 / TOP);
    x2 -= carry * TOP;
    x0 += carry;
  } while (x0 >= PART);
  const zero = x0 === PART - 1 && x1 === PART - 1 && x2 === TOP - 1;
  a[at] = zero ? 0 : x0;
  a[at + 1] = zero ? 0 : x1;
  a[at + 2] = zero ? 0 : x2;
}

// The bytes of a text in UTF-8.
function* utf8(text) {
  for (const char of text) {
    const code = char.codePointAt(0);
    if (code >= 0xd800 && code < 0xe000) throw new RangeError("found half a surrogate pair, expected text");
    if (code < 0x80) {
      yield code;
      continue;
    }
    const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    yield (0xf0 << (3 - more)) & 0xff | (code >>> (6 * more));
    for (let i = more - 1; i >= 0; i--) yield 0x80 | ((code >>> (6 * i)) & 0x3f);
  }
}

export function hashOf(text) {
  const hashed = [...NOTHING];
  for (const byte of utf8(text)) {
    multiplyAdd(hashed, 0, ...BASE, byte + 1, 0, 0);
    multiplyAdd(hashed, 3, ...BASE, 0, 0, 0);
  }
  return hashed;
}

// The hash of a text goes on with another text; the power of its length is left as it is.
export function extend(name, by) {
  multiplyAdd(name, 0, by[3], by[4], by[5], by[0], by[1], by[2]);
}

export function joined(left, right) {
  const both = [...left];
  extend(both, right);
  multiplyAdd(both, 3, right[3], right[4], right[5], 0, 0, 0);
  return both;
}

// A number of 64 bits in two halves: what the functions below work on.
let high = 0, low = 0;

function setHash(hash) {
  low = (hash[0] + (hash[1] & 0x7ff) * PART) >>> 0;
  high = (hash[1] >>> 11) + hash[2] * 1024;
}

function addWord(otherHigh, otherLow) {
  const sum = low + otherLow;
  low = sum >>> 0;
  high = (high + otherHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
}

function multiplyWord(otherHigh, otherLow) {
  const a = low & 0xffff, b = low >>> 16, c = otherLow & 0xffff, d = otherLow >>> 16;
  const ac = a * c, ad = a * d, bc = b * c;
  const middle = (ac >>> 16) + (ad & 0xffff) + (bc & 0xffff);
  const over = b * d + (ad >>> 16) + (bc >>> 16) + (middle >>> 16);
  high = (over + Math.imul(high, otherLow) + Math.imul(low, otherHigh)) >>> 0;
  low = ((middle << 16) | (ac & 0xffff)) >>> 0;
}

function mixWord(bits) {
  low = (low ^ ((high << (32 - bits)) | (low >>> bits))) >>> 0;
  high = (high ^ (high >>> bits)) >>> 0;
}

function scramble() {
  mixWord(30);
  multiplyWord(0xbf58476d, 0x1ce4e5b9);
  mixWord(27);
  multiplyWord(0x94d049bb, 0x133111eb);
  mixWord(31);
}

// The key of a feature from the hash of its name, in `high` and `low`.
function setKey(name, edge) {
  setHash(name);
  high = ((high << 1) | (low >>> 31)) >>> 0;
  low = ((low << 1) | (edge ? 1 : 0)) >>> 0;
  addWord(0x9e3779b9, 0x7f4a7c15);
  scramble();
  if (high === 0 && low === 0) low = 1;
}

// The value that is used `distance` tokens outside of the sentence.
export function outside(values, distance) {
  return values[Math.min(distance, values.length) - 1];
}

// A list of phrases as hashes of token sequences; tokens are compared in lower case.
class Phrases {
  constructor(states, characters) {
    this.characters = characters;
    this.flags = new Map();
    for (let i = states.length - 2; i >= 0; i -= 2) {
      this.flags.set(`${states[i + 1]} ${(states[i] & ~3) >>> 0}`, states[i] & 3);
    }
  }

  // The last tokens of all phrases that begin at a token.
  matches(tokens, begin) {
    const found = [];
    let stateHigh = 0, stateLow = 0, continues = true;
    for (let at = begin; at < tokens.length && continues; at++) {
      setHash(hashOf(this.characters.lower(tokens[at])));
      addWord(stateHigh, (stateLow | 3) >>> 0);
      scramble();
      stateHigh = high;
      stateLow = (low & ~3) >>> 0;
      const flags = this.flags.get(`${stateHigh} ${stateLow}`) ?? 0;
      if (flags & 1) found.push(at);
      continues = (flags & 2) !== 0;
    }
    return found;
  }

  // Longest matches from left to right: "B" at the first token, "I" inside.
  longest(tokens) {
    const out = new Array(tokens.length).fill(null);
    for (let begin = 0; begin < tokens.length; ) {
      const end = (this.matches(tokens, begin).pop() ?? begin - 1) + 1;
      for (let at = begin; at < end; at++) out[at] = at === begin ? "B" : "I";
      begin = Math.max(end, begin + 1);
    }
    return out;
  }
}

// Texts in the order of their code points, as other programs sort them: "<" goes by UTF-16.
function byCodePoint(a, b) {
  const left = Array.from(a, (c) => c.codePointAt(0)), right = Array.from(b, (c) => c.codePointAt(0));
  const at = left.findIndex((c, i) => c !== right[i]);
  return at < 0 ? left.length - right.length : at >= right.length ? 1 : left[at] - right[at];
}

// Words with the paths of their clusters or their entries in a lexicon, as hashes.
class Words {
  constructor(table, characters) {
    const entries = numbers(table.entries, Uint32Array), texts = table.texts.split("\n");
    this.characters = characters;
    this.anyCase = table.any_case;
    this.texts = new Map();
    for (let i = 0; i < entries.length; i += 2) {
      this.texts.set(entries[i + 1] * 65536 + (entries[i] >>> 16), texts[entries[i] & 0xffff]);
    }
  }

  // So many first bits (or "all") of the path of a word; null for unknown words.
  cluster(bits, word) {
    const path = this.text(word);
    return path === undefined ? null : bits === "all" ? path : path.slice(0, Number(bits));
  }

  // What a word's entry says of a label, or of all its labels; null for unknown words.
  lexicon(asked, word) {
    const entry = this.text(word);
    if (entry === undefined) return null;
    const comma = asked.indexOf(",");
    const how = comma < 0 ? asked : asked.slice(0, comma);
    const labels = [], bands = [];
    entry.split("\t").forEach((field, i) => (i % 2 ? bands : labels).push(field));
    if (how === "best") return labels[0];
    if (how === "set") return labels.sort(byCodePoint).join("|");
    const at = labels.indexOf(asked.slice(comma + 1));
    return at < 0 ? null : { candidate: "1", band: bands[at], rank: String(at + 1) }[how];
  }

  text(word) {
    const found = this.find(word, false);
    if (found !== undefined || !this.anyCase) return found;
    const lower = this.characters.lower(word);
    return this.find(lower, true) ?? this.find(lower, false);
  }

  find(text, spellings) {
    setHash(hashOf(text));
    if (spellings) addWord(0x9e3779b9, 0x7f4a7c15);
    scramble();
    return this.texts.get(high * 65536 + (low >>> 16));
  }
}

// What the attributes of a model say of the tokens of a sentence, as hashes.
export class Values {
  constructor(data) {
    const characters = new Characters(
      numbers(data.ranges, Uint32Array), numbers(data.lowers, Int32Array), numbers(data.widths, Int32Array));
    this.attributes = data.attributes;
    const words = Object.create(null);
    for (const [name, table] of Object.entries(data.words)) words[name] = new Words(table, characters);
    this.functions = data.attributes.map(([name, argument]) => {
      if (name !== "cluster" && name !== "lexicon") return attribute(name, argument, characters);
      const comma = argument.indexOf(","), table = words[argument.slice(0, comma)];
      return (word) => table[name](argument.slice(comma + 1), word);
    });
    this.lists = Object.create(null);
    for (const [name, states] of Object.entries(data.lists)) {
      this.lists[name] = new Phrases(numbers(states, Uint32Array), characters);
    }
    this.known = data.attributes.map(() => new Map());
  }

  // [attribute][token], null where there is no value.
  of(columns, length) {
    return this.attributes.map(([name, argument, column], i) => {
      if (name === "first") return Array.from({ length }, (_, at) => (at === 0 ? hashOf("1") : null));
      if (name !== "list") return Array.from(columns[column], (text) => this.value(i, text));
      const found = this.lists[argument].longest(columns[column]);
      return found.map((value) => (value === null ? null : hashOf(value)));
    });
  }

  value(i, text) {
    const known = this.known[i];
    let hashed = known.get(text);
    if (hashed === undefined) {
      if (known.size > 1 << 16) known.clear(); // memory stays bounded however much is tagged
      const value = this.functions[i](text);
      hashed = value === null ? null : hashOf(value);
      known.set(text, hashed);
    }
    return hashed;
  }
}

// The weights of features, by key.
export class Weights {
  constructor(data) {
    this.short = data.short_keys;
    this.keys = numbers(data.keys, Uint32Array);
    this.ends = numbers(data.row_end, Uint32Array);
    this.outputs = numbers(data.outputs, { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[data.output_bytes]);
    this.weights = decoded(data);
    this.isEdge = new Uint8Array(this.ends.length);
    for (const row of numbers(data.edges, Uint32Array)) this.isEdge[row] = 1;
    let size = 16;
    while (size < 2 * this.ends.length) size *= 2;
    this.slots = new Int32Array(size).fill(-1);
    for (let row = 0; row < this.ends.length; row++) this.slots[this.free(row)] = row;
  }

  free(row) {
    const mask = this.slots.length - 1;
    let slot = (this.short ? this.keys[row] : this.keys[2 * row + 1]) & mask;
    while (this.slots[slot] >= 0) slot = (slot + 1) & mask;
    return slot;
  }

  // The row of the feature with this name; -1 if there is none.
  find(name, edge) {
    setKey(name, edge);
    const upper = this.short && high === 0 ? 1 : high;
    const mask = this.slots.length - 1;
    for (let slot = upper & mask; this.slots[slot] >= 0; slot = (slot + 1) & mask) {
      const row = this.slots[slot];
      const same = this.short
        ? this.keys[row] === upper
        : this.keys[2 * row + 1] === high && this.keys[2 * row] === low;
      if (same) return (this.isEdge[row] === 1) === edge ? row : -1;
    }
    return -1;
  }

  // Calls f(output, weight) for the outputs of a row.
  each(row, f) {
    const end = this.ends[row];
    for (let i = row === 0 ? 0 : this.ends[row - 1]; i < end; i++) f(this.outputs[i], this.weights[i]);
  }
}

function decoded(data) {
  if (data.weight_bits === 32) return numbers(data.weights, Float32Array);
  const extra = numbers(data.codebook, Float32Array);
  if (data.weight_bits === 8) return Float32Array.from(numbers(data.weights, Uint8Array), (code) => extra[code]);
  return Float32Array.from(numbers(data.weights, Int16Array), (code) => code * extra[0]);
}
