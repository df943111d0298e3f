// ---- What users call.

import { labelsOf, spansOf } from "./labels.mjs";

// A model as data, ready to label sentences.
export class Tagger {
  constructor(data, model) {
    this.data = data;
    this.model = model;
  }

  // A label for each token: of the columns by name, or of the tokens if there is but one column.
  tag(columns) {
    const { needed, labels, encoding, scheme } = this.data;
    if (typeof columns === "string") throw new TypeError("found a string, expected a list of tokens");
    const given = Array.isArray(columns) ? { [needed[0]]: columns } : columns;
    const missing = needed.filter((name) => !Array.isArray(given[name]));
    if (missing.length > 0) {
      throw new TypeError(`found columns ${Object.keys(given)}, expected also lists of ${missing}`);
    }
    const length = given[needed[0]].length;
    if (needed.some((name) => given[name].length !== length)) {
      throw new RangeError("found columns of different lengths, expected one value per token in each");
    }
    const found = this.model.best(given, length).map((id) => labels[id]);
    return encoding === scheme ? found : labelsOf(spansOf(found, encoding), length, scheme);
  }
}
