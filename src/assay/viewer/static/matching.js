// Filters the samples of a bundle as the server does.

import { runsOf } from "./router.js";

const FEW_READ = 4;

const same = (codes, answers) => answers.every((answer, place) => answer.code === codes[place]);

/** Return which concepts a run misreads in a sample: place, true code, predicted code. */
function misread(sample, said) {
  return said.concepts.flatMap(({ code }, place) => {
    const truth = sample.concepts[place];
    return code >= 0 && truth >= 0 && code !== truth ? [[place, truth, code]] : [];
  });
}

/** Say how a run did on a sample; null where it did not answer. */
export function done(sample, run) {
  const said = sample.answers[run];
  if (!said) return null;
  const wrong = misread(sample, said);
  return {
    labels: said.labels.map((one) => one.code),
    concepts: said.concepts.map((one) => one.code),
    right: same(sample.labels, said.labels),
    misread: wrong.length,
    reads: wrong.slice(0, FEW_READ),
    violated: said.violated,
  };
}

const OF_ONE = {
  right: (one) => one.right,
  wrong: (one) => !one.right,
  misread: (one) => one.misread > 0,
  hidden: (one) => one.misread > 0 && one.right,
  violating: (one) => one.violated.length > 0,
};
const OF_TWO = {
  only_first: ([one, two]) => one.right && !two.right,
  only_second: ([one, two]) => !one.right && two.right,
};
const OF_SEVERAL = {
  differ: ([one, ...others]) => others.some((two) => one.labels.some((code, i) => code !== two.labels[i])),
  all_right: (all) => all.every((one) => one.right),
  all_wrong: (all) => all.every((one) => !one.right),
};

/** Return whether runs did so on a sample. */
function turnedOut(outcome, answers) {
  if (outcome in OF_ONE) return Boolean(answers[0] && OF_ONE[outcome](answers[0]));
  if (outcome in OF_TWO) return Boolean(answers[0] && answers[1] && OF_TWO[outcome](answers));
  return answers.every(Boolean) && OF_SEVERAL[outcome](answers);
}

/** Return whether a sample has the tag, or with `*near` and `*holds` any tag of that kind. */
function tagged(sample, kinds, label, tag) {
  const wanted = { "*near": ["just misses", "changes"], "*holds": ["holds"] }[tag];
  return sample.tags[label].some((name) => (wanted ? wanted.includes(kinds[label][name]) : name === tag));
}

const pairsOf = (query, key) =>
  query.getAll(key).map((text) => [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)]);
const codeOf = (text) => (text === "none" ? -1 : Number(text));

/** Return whether the first run predicts these labels, reads concepts so, and breaks these constraints. */
function predicted(sample, first, query, knowledge, names) {
  const groups = Object.fromEntries((knowledge.encoders ?? []).map((one) => [one.name, one.concepts]));
  const reads = query.getAll("reads").map((text) => text.match(/^(.*):([^:]*):([^:]*)$/).slice(1));
  return (
    pairsOf(query, "predicts").every(([name, code]) => first?.labels[names.labels.indexOf(name)] === codeOf(code)) &&
    reads.every(([name, truth, said]) =>
      (groups[name] ?? [name])
        .map((concept) => names.concepts.indexOf(concept))
        .some((place) => first && sample.concepts[place] === codeOf(truth) && first.concepts[place] === codeOf(said)),
    ) &&
    query.getAll("violates").every((name) => first?.violated.includes(name))
  );
}

/** Return the samples that a query asks for. */
export function matching(held, query, knowledge) {
  const names = {
    labels: knowledge.labels.map((one) => one.name),
    concepts: knowledge.concepts.map((one) => one.name),
  };
  const runs = runsOf(query);
  const outcome = query.get("outcome");
  const has =
    (codes, among) =>
    ([name, code]) =>
      codes[among.indexOf(name)] === Number(code);
  return held.samples.filter((sample) => {
    const answers = runs.map((run) => done(sample, run));
    return (
      pairsOf(query, "label").every(has(sample.labels, names.labels)) &&
      pairsOf(query, "concept").every(has(sample.concepts, names.concepts)) &&
      pairsOf(query, "tag").every(([label, tag]) => tagged(sample, held.kinds, label, tag)) &&
      predicted(sample, answers[0], query, knowledge, names) &&
      (!outcome || turnedOut(outcome, answers))
    );
  });
}
