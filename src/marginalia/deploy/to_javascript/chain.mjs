// ---- Chains of labels: the best label sequence by Viterbi, of order 1 or 2. Ties go to the lowest label.

import { NOTHING, Values, Weights, extend, hashOf, joined, numbers, outside } from "./features.mjs";

// Literal text and values of attributes at tokens nearby, joined into the name of a feature.
class Template {
  constructor(scope, pieces) {
    this.edge = scope === "edge";
    this.head = NOTHING;
    this.steps = [];
    for (const piece of pieces) {
      const last = this.steps[this.steps.length - 1];
      if (typeof piece !== "string") {
        const [attribute, offset, absolute, before, after] = piece;
        const ends = { before: before.map(hashOf), after: after.map(hashOf) };
        this.steps.push({ attribute, offset, absolute, ...ends, behind: null });
      } else if (last === undefined) {
        this.head = joined(this.head, hashOf(piece));
      } else {
        last.behind = joined(last.behind ?? NOTHING, hashOf(piece));
      }
    }
  }

  // The hash of the feature's name at a token; null if a value is missing.
  name(values, at, length) {
    const name = [this.head[0], this.head[1], this.head[2]];
    for (const step of this.steps) {
      const fixed = step.offset >= 0 ? step.offset : length + step.offset;
      const where = step.absolute ? fixed : at + step.offset;
      let value;
      if (where < 0) value = outside(step.before, -where);
      else if (where >= length) value = outside(step.after, where - length + 1);
      else value = values[step.attribute][where];
      if (value === null) return null;
      extend(name, value);
      if (step.behind !== null) extend(name, step.behind);
    }
    return name;
  }
}

// The scores of label sequences, and the best one.
export class Chain {
  constructor(data) {
    this.values = new Values(data);
    this.weights = new Weights(data);
    this.templates = data.templates.map(([scope, pieces]) => new Template(scope, pieces));
    this.hasEdges = this.templates.some((template) => template.edge);
    this.size = data.labels.length;
    this.order = data.order;
    this.local = data.local;
    const floats = (name) => Float64Array.from(numbers(data[name], Float32Array));
    this.start = floats("start");
    this.end = floats("end");
    this.transition = floats("transition");
    this.trigram = new Float64Array(this.order === 2 ? (this.size + 1) * this.size * this.size : 0);
    const weights = floats("trigram");
    numbers(data.trigram_at, Uint32Array).forEach((at, k) => (this.trigram[at] = weights[k]));
  }

  // The best labels, as numbers.
  best(columns, length) {
    if (length === 0) return [];
    const lattice = new Lattice(this, columns, length);
    if (this.local) lattice.makeLocal();
    return lattice.path();
  }
}

// The scores of one sentence.
class Lattice {
  constructor(chain, columns, length) {
    this.chain = chain;
    this.length = length;
    this.size = chain.size;
    this.node = Array.from({ length }, () => new Float64Array(chain.size));
    this.edges = Array.from({ length }, () => []);
    this.localPairs = false;
    this.known = new Map();
    const values = chain.values.of(columns, length);
    for (let at = 0; at < length; at++) this.addFeatures(values, at);
  }

  addFeatures(values, at) {
    const { templates, weights } = this.chain;
    const node = this.node[at];
    for (const template of templates) {
      const name = template.name(values, at, this.length);
      const row = name === null ? -1 : weights.find(name, template.edge);
      if (row < 0) continue;
      if (template.edge) this.edges[at].push(row);
      else weights.each(row, (label, weight) => (node[label] += weight));
    }
  }

  // The scores of the labels at t - 1 (rows) and t (columns).
  pairs(t) {
    if (!this.chain.hasEdges && !this.localPairs) return this.chain.transition;
    if (!this.known.has(t)) this.known.set(t, this.localPairs ? this.localScores(t) : this.plainPairs(t));
    return this.known.get(t);
  }

  plainPairs(t) {
    const scores = this.chain.transition.slice();
    for (const row of this.edges[t]) this.chain.weights.each(row, (pair, weight) => (scores[pair] += weight));
    return scores;
  }

  localScores(t) {
    const scores = this.plainPairs(t), n = this.size;
    if (t + 1 === this.length) return scores;
    const following = this.plainPairs(t + 1);
    for (let s = 0; s < n * n; s++) scores[s] -= this.logSum(t + 1, Math.floor(s / n), s % n, following);
    return scores;
  }

  // Each label becomes a choice given those before it, as in a maximum entropy model.
  makeLocal() {
    const { chain, length, node, size: n } = this;
    const last = chain.order === 1 ? length : Math.min(length, 2);
    const first = node[0].map((score, c) => score + chain.start[c] + (length === 1 ? chain.end[c] : 0));
    for (let t = 1; t < last; t++) {
      const pairs = this.plainPairs(t);
      for (let b = 0; b < n; b++) node[t - 1][b] -= this.logSum(t, n, b, pairs);
    }
    this.localPairs = chain.order === 2 && length > 2;
    const total = logOfSum(first);
    if (total === -Infinity) return;
    for (let c = 0; c < n; c++) node[0][c] -= total;
  }

  logSum(t, older, before, pairs) {
    const { chain, size: n } = this;
    const scores = this.node[t].slice();
    for (let c = 0; c < n; c++) {
      scores[c] += pairs[before * n + c];
      if (chain.order === 2) scores[c] += chain.trigram[(older * n + before) * n + c];
      if (t + 1 === this.length) scores[c] += chain.end[c];
    }
    const total = logOfSum(scores);
    return total === -Infinity ? Infinity : total; // then nobody comes here
  }

  // The best labels, from the last one backwards.
  path() {
    const { chain, length, size: n } = this;
    const scores = [this.node[0].map((score, c) => chain.start[c] + score)];
    for (let t = 1; t < length; t++) scores.push(this.step(t, scores[t - 1]));
    let state = 0, best = -Infinity;
    scores[length - 1].forEach((score, s) => {
      if (!(score + chain.end[s % n] > best)) return;
      best = score + chain.end[s % n];
      state = s;
    });
    const labels = [state % n];
    for (let t = length - 1; t > 0; t--) {
      state = this.predecessor(t, state, scores[t - 1]);
      labels.push(state % n);
    }
    return labels.reverse();
  }

  step(t, before) {
    const { chain, size: n } = this;
    const pairs = this.pairs(t), node = this.node[t];
    const out = new Float64Array(chain.order === 1 ? n : n * n).fill(-Infinity);
    before.forEach((score, s) => {
      if (score === -Infinity) return;
      const row = chain.order === 2 && t === 1 ? n * n + s : s; // before the sentence stands label n
      const to = chain.order === 1 ? 0 : (s % n) * n, from = chain.order === 1 ? pairs : chain.trigram;
      for (let c = 0; c < n; c++) out[to + c] = Math.max(out[to + c], from[row * n + c] + score);
    });
    for (let s = 0; s < out.length; s++) out[s] += chain.order === 1 ? node[s] : pairs[s] + node[s % n];
    return out;
  }

  predecessor(t, state, before) {
    const { chain, size: n } = this;
    const pairs = this.pairs(t), left = Math.floor(state / n);
    if (chain.order === 2 && t === 1) return left;
    let best = -1, most = -Infinity;
    for (let s = 0; s < n; s++) {
      const at = chain.order === 1 ? s : s * n + left;
      const way = chain.order === 1 ? pairs[s * n + state] : chain.trigram[at * n + (state % n)] + pairs[state];
      if (best >= 0 && !(before[at] + way > most)) continue;
      best = at;
      most = before[at] + way;
    }
    return best;
  }
}

function logOfSum(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  if (most === -Infinity) return most;
  let sum = 0;
  for (const score of scores) sum += Math.exp(score - most);
  return most + Math.log(sum);
}
