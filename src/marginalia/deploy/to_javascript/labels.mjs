// ---- Labels that spell spans, from one scheme (IOB2, IOBES...) to another.

// By scheme: the prefixes of a span of one token, of the first, an inner and the last token of a longer one, and of
// the first or the last token beside another span of the same type, where that is another prefix.
const SCHEMES = {
  IOB2: ["B", "B", "I", "I", "", ""],
  IOBES: ["S", "B", "I", "E", "", ""],
  BILOU: ["U", "B", "I", "L", "", ""],
  BMES: ["S", "B", "M", "E", "", ""],
  IOE2: ["E", "I", "I", "E", "", ""],
  IOB1: ["I", "I", "I", "I", "B", ""],
  IOE1: ["I", "I", "I", "I", "", "E"],
};

function split(label) {
  const at = label.indexOf("-");
  return at < 0 ? [label, ""] : [label.slice(0, at), label.slice(at + 1)];
}

// The spans that labels spell; an illegal label starts a new one.
export function spansOf(labels, scheme) {
  const [, first, inside, last, twinFirst, twinLast] = SCHEMES[scheme];
  const closing = [inside, first, twinFirst], opening = [inside, last, twinLast], nowhere = ["", "O"];
  const spans = [];
  let start = 0, left = "", leftType = "";
  [...labels, ""].forEach((label, at) => {
    const [prefix, type] = split(label);
    const spoken = !nowhere.includes(left) && !nowhere.includes(prefix) && leftType === type;
    if (!(spoken && closing.includes(left) && opening.includes(prefix))) {
      if (!nowhere.includes(left)) spans.push({ start, end: at, type: leftType });
      start = at;
    }
    [left, leftType] = [prefix, type];
  });
  return spans;
}

// Labels for so many tokens.
export function labelsOf(spans, length, scheme) {
  const [single, first, inside, last, twinFirst, twinLast] = SCHEMES[scheme];
  const labels = new Array(length).fill("O");
  spans.forEach(({ start, end, type }, number) => {
    const before = spans[number - 1], after = spans[number + 1];
    for (let at = start; at < end; at++) {
      let prefix = at === start ? first : at === end - 1 ? last : inside;
      if (end - start === 1) prefix = single;
      if (twinFirst && at === start && before?.end === start && before.type === type) prefix = twinFirst;
      if (twinLast && at === end - 1 && after?.start === end && after.type === type) prefix = twinLast;
      labels[at] = type ? `${prefix}-${type}` : prefix;
    }
  });
  return labels;
}
