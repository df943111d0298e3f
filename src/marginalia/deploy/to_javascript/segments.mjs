// ---- Labelled segments (semi-Markov): the best way to cut a sentence into segments and to name them.
// Scores are summed in the order in which Marginalia sums them, so that ties are the same ties. Seen from the end of
// the sentence, the lowest type wins a tie, then the shortest segment.

import { NOTHING, Values, Weights, extend, hashOf, joined, numbers, outside } from "./features.mjs";

const MOST_INSIDE = 8; // tokens inside that a template with both ends looks at

// Which segments share a feature of a template with such anchors.
function partOf(anchors, inner) {
  const begin = anchors.has("b"), end = anchors.has("e"), length = anchors.has("length");
  if (inner === "token") return "token";
  if (anchors.has("whole") || (begin && end) || (length && (begin || end || inner !== ""))) return "own";
  if (inner === "") return begin ? "begin" : end ? "end" : "length";
  return begin ? "grow" : end ? "shrink" : "arrival";
}

// Literal text and values at places of a segment, joined into the names of features.
class SegmentTemplate {
  constructor(pieces, spans) {
    const values = pieces.filter((piece) => typeof piece !== "string");
    const anchors = new Set(values.map((piece) => piece[5] ?? "token"));
    const within = values.filter((piece) => piece[5] === "j").map((piece) => piece[1]);
    const lowest = within.length > 0 ? Math.min(...within) : 0;
    this.pieces = pieces.map((piece) => {
      if (typeof piece === "string") return { anchor: "", text: hashOf(piece) };
      const [attribute, offset, , before, after, anchor = "token"] = piece;
      const ends = { before: before.map(hashOf), after: after.map(hashOf) };
      return { anchor, attribute, offset: anchor === "j" ? offset - lowest : offset, ...ends };
    });
    this.inner = ["token", "i", "j"].find((name) => anchors.has(name)) ?? "";
    this.reach = within.length > 0 ? Math.max(...within) - lowest : 0;
    this.part = partOf(anchors, this.inner);
    this.span = 0;
    if (this.inner === "i" || this.inner === "j") {
      const tokens = this.inner === "i" ? 2 : this.reach;
      if (!spans.includes(tokens)) spans.push(tokens);
      this.span = spans.indexOf(tokens);
    }
  }

  // The tokens that give a feature each.
  innerTokens(begin, last) {
    const first = this.inner === "i" ? begin + 1 : begin;
    const end = Math.min(this.inner === "i" ? last : last + 1 - this.reach, first + MOST_INSIDE);
    return Array.from({ length: Math.max(0, end - first) }, (_, k) => first + k);
  }

  // The token inside that is new when a segment grows to `last`.
  arriving(last) {
    return this.inner === "i" ? last - 1 : last - this.reach;
  }

  // The hash of a feature's name; null if a value is missing.
  name(sentence, place) {
    const name = [NOTHING[0], NOTHING[1], NOTHING[2]];
    for (const piece of this.pieces) {
      const value = sentence.value(piece, place);
      if (value === null) return null;
      extend(name, value);
    }
    return name;
  }
}

// What is known of the tokens of a sentence.
class Sentence {
  constructor(values, columns, length) {
    this.length = length;
    this.values = values;
    this.columns = columns;
    this.grid = values.of(columns, length);
    this.wholes = new Map();
  }

  // The text of a piece of a template at a place: { begin, last, inner, none }.
  value(piece, { begin, last, inner, none }) {
    const { anchor, attribute, offset } = piece;
    if (anchor === "") return piece.text;
    if (anchor === "length") {
      const tokens = last - begin + 1;
      return hashOf(tokens < offset ? `${tokens}` : `${offset}+`);
    }
    if (anchor === "whole") return this.whole(attribute, begin, last);
    if (none && anchor === "i") return hashOf("_none");
    const where = offset + (anchor === "b" ? begin : anchor === "e" ? last : inner);
    if (where < 0) return outside(piece.before, -where);
    if (where >= this.length) return outside(piece.after, where - this.length + 1);
    return this.grid[attribute][where];
  }

  whole(attribute, begin, last) {
    const place = `${attribute} ${begin} ${last}`;
    if (!this.wholes.has(place)) this.wholes.set(place, this.newWhole(attribute, begin, last));
    return this.wholes.get(place);
  }

  newWhole(attribute, begin, last) {
    const [name, argument, column] = this.values.attributes[attribute];
    if (name === "list") {
      const matches = this.values.lists[argument].matches(this.columns[column], begin);
      return matches.includes(last) ? hashOf("1") : null;
    }
    const value = this.grid[attribute][last];
    if (begin === last || value === null) return value;
    const left = this.whole(attribute, begin, last - 1);
    return left === null ? null : joined(joined(left, hashOf(" ")), value);
  }
}

// The scores of segmentations, and the best one.
export class Segments {
  constructor(data) {
    this.values = new Values(data);
    this.weights = new Weights(data);
    this.spans = [];
    this.templates = data.templates.map(([, pieces]) => new SegmentTemplate(pieces, this.spans));
    this.parts = {};
    for (const part of ["token", "begin", "end", "arrival", "length", "own", "grow", "shrink"]) {
      this.parts[part] = this.templates.filter((template) => template.part === part);
    }
    this.labels = data.labels.length;
    this.most = data.most;
    this.beginLabel = data.begin_label;
    this.insideLabel = data.inside_label; // null: segments of one token
    this.types = this.beginLabel.length;
    this.typeOf = new Array(this.labels).fill(this.types);
    this.beginLabel.forEach((label, type) => (this.typeOf[label] = type));
    const floats = (name) => Float64Array.from(numbers(data[name], Float32Array));
    this.start = floats("start");
    this.end = floats("end");
    this.transition = floats("transition");
  }

  // The best labels, as numbers.
  best(columns, length) {
    if (length === 0) return [];
    return this.search(this.scores(new Sentence(this.values, columns, length)), length);
  }

  // By first token and length - 1: the scores of types.
  scores(sentence) {
    const { length } = sentence, width = this.types + 1;
    const vectors = (count) => Array.from({ length: count }, () => new Float64Array(width));
    this.node = Array.from({ length }, () => new Float64Array(this.labels));
    this.begins = vectors(length);
    this.ends = vectors(length);
    this.arrivals = Array.from({ length }, () => vectors(this.spans.length));
    this.lengths = vectors(this.most + 1);
    for (let t = 0; t < length; t++) this.scoreToken(sentence, t);
    for (let tokens = 1; tokens <= Math.min(this.most, length); tokens++) {
      const place = { begin: 0, last: tokens - 1, inner: 0, none: false };
      for (const template of this.parts.length) this.add(template, sentence, place, this.lengths[tokens]);
    }
    const scores = Array.from({ length }, (_, begin) => this.scoreBegin(sentence, begin));
    for (let last = 0; last < length; last++) this.scoreLast(sentence, last, scores);
    return scores;
  }

  // Adds the weights of a feature to scores of types; whether there are any.
  add(template, sentence, place, scores) {
    const name = template.name(sentence, place);
    const row = name === null ? -1 : this.weights.find(name, false);
    if (row < 0) return false;
    this.weights.each(row, (label, weight) => (scores[this.typeOf[label]] += weight));
    return true;
  }

  scoreToken(sentence, t) {
    const here = { begin: t, last: t, inner: t, none: false };
    for (const template of this.parts.token) {
      const name = template.name(sentence, here);
      const row = name === null ? -1 : this.weights.find(name, false);
      if (row >= 0) this.weights.each(row, (label, weight) => (this.node[t][label] += weight));
    }
    for (const template of this.parts.begin) this.add(template, sentence, here, this.begins[t]);
    for (const template of this.parts.end) this.add(template, sentence, here, this.ends[t]);
    for (const template of this.parts.arrival) {
      if (t < this.spans[template.span]) continue;
      const place = { ...here, inner: template.arriving(t) };
      this.add(template, sentence, place, this.arrivals[t][template.span]);
    }
  }

  // The segments that begin at a token: each has what the one before it has, and a little more.
  scoreBegin(sentence, begin) {
    const running = this.begins[begin].slice();
    this.beginLabel.forEach((label, s) => (running[s] += this.node[begin][label]));
    const scores = [];
    for (let last = begin; last < Math.min(sentence.length, begin + this.most); last++) {
      this.grow(running, begin, last);
      const lengths = this.lengths[last - begin + 1];
      const own = this.ends[last].map((score, s) => (s < this.types ? score + lengths[s] : 0));
      this.addOwn(sentence, begin, last, own, running);
      for (let s = 0; s < this.types; s++) {
        own[s] += running[s];
        if (last > begin && this.insideLabel[s] === null) own[s] = -Infinity;
      }
      scores.push(own);
    }
    return scores;
  }

  grow(running, begin, last) {
    if (last > begin) {
      this.insideLabel.forEach((label, s) => {
        if (label !== null) running[s] += this.node[last][label];
      });
    }
    this.spans.forEach((span, place) => {
      if (last - begin < span) return;
      for (let s = 0; s < this.types; s++) running[s] += this.arrivals[last][place][s];
    });
  }

  addOwn(sentence, begin, last, own, running) {
    for (const template of this.parts.own) {
      const tokens = template.inner ? template.innerTokens(begin, last) : [begin];
      for (const inner of tokens) this.add(template, sentence, { begin, last, inner, none: false }, own);
    }
    for (const template of this.parts.grow) {
      if (last - begin < this.spans[template.span]) continue;
      this.add(template, sentence, { begin, last, inner: template.arriving(last), none: false }, running);
    }
    if (last - begin > 1) return;
    for (const template of this.templates) {
      if (template.inner === "i") this.add(template, sentence, { begin, last, inner: begin, none: true }, own);
    }
  }

  // Adds what the segments that end at a token have of it with tokens inside.
  scoreLast(sentence, last, scores) {
    const running = new Float64Array(this.types + 1);
    let found = false;
    for (let begin = last; begin >= Math.max(0, last + 1 - this.most); begin--) {
      for (const template of this.parts.shrink) {
        if (last - begin < this.spans[template.span]) continue;
        const place = { begin, last, inner: template.inner === "i" ? begin + 1 : begin, none: false };
        found = this.add(template, sentence, place, running) || found;
      }
      if (!found) continue;
      const own = scores[begin][last - begin];
      for (let s = 0; s < this.types; s++) own[s] += running[s];
    }
  }

  search(scores, length) {
    const rows = (value) => Array.from({ length: length + 1 }, () => new Array(this.types).fill(value));
    const leaving = rows(-Infinity), tokens = rows(0), before = []; // by place, and the type that ends there
    for (let begin = 0; begin < length; begin++) {
      const entering = this.enter(begin, leaving[begin]);
      before.push(entering.before);
      scores[begin].forEach((own, k) => {
        const best = leaving[begin + k + 1];
        for (let s = 0; s < this.types; s++) {
          const total = entering.scores[s] + own[s];
          if (!(total >= best[s])) continue;
          best[s] = total;
          tokens[begin + k + 1][s] = k + 1;
        }
      });
    }
    let type = 0, most = -Infinity;
    for (let s = 0; s < this.types; s++) {
      const total = leaving[length][s] + this.end[s];
      if (!(total > most)) continue;
      most = total;
      type = s;
    }
    return this.labelsFrom(type, tokens, before);
  }

  // The best score of what stands before a place, by the type that follows; and the type before.
  enter(place, leaving) {
    const before = new Array(this.types).fill(0);
    if (place === 0) return { scores: this.start, before };
    const scores = new Array(this.types).fill(-Infinity);
    leaving.forEach((score, left) => {
      for (let right = 0; right < this.types; right++) {
        const total = score + this.transition[left * this.types + right];
        if (!(total > scores[right])) continue;
        scores[right] = total;
        before[right] = left;
      }
    });
    return { scores, before };
  }

  labelsFrom(lastType, tokens, before) {
    let type = lastType, place = tokens.length - 1;
    const labels = new Array(place).fill(0);
    while (place > 0) {
      const end = place;
      place -= tokens[place][type];
      labels[place] = this.beginLabel[type];
      labels.fill(this.insideLabel[type] ?? 0, place + 1, end);
      type = before[place][type];
    }
    return labels;
  }
}
