// The source of a bundle: files beside the page, filtered here. It answers as the server does.

import { fetched } from "./fetched.js";

const splits = new Map();

function at(...parts) {
  return parts.map((part) => encodeURIComponent(part)).join("/");
}

function splitOf(key, split) {
  const address = at("data", key, `${split}.json`);
  if (!splits.has(address)) splits.set(address, fetched(address));
  return splits.get(address);
}

async function about(key) {
  const shelf = await fetched("shelf.json");
  return { ...shelf.datasets.find((one) => one.key === key), page: shelf.page };
}

const same = (codes, answers) => answers.every((answer, place) => answer.code === codes[place]);
const misread = (sample, said) => said.concepts.some((one, i) => one.code >= 0 && one.code !== sample.concepts[i]);

/** Say how a run did on a sample; null where it did not answer. */
function done(sample, run) {
  const said = sample.answers[run];
  if (!said) return null;
  const labels = said.labels.map((one) => one.code);
  return {
    labels,
    right: same(sample.labels, said.labels),
    misread: misread(sample, said),
    violating: said.violated.length > 0,
  };
}

const OUTCOMES = {
  right: (one) => one.right,
  wrong: (one) => !one.right,
  misread: (one) => one.misread,
  hidden: (one) => one.misread && one.right,
  violating: (one) => one.violating,
  differ: (one, two) => one.labels.some((code, place) => code !== two.labels[place]),
  only_first: (one, two) => one.right && !two.right,
  only_second: (one, two) => !one.right && two.right,
  both_wrong: (one, two) => !one.right && !two.right,
};

/** Return whether a sample has the tag, or with `*near` and `*holds` any tag of that kind. */
function tagged(sample, kinds, label, tag) {
  const wanted = { "*near": ["just misses", "changes"], "*holds": ["holds"] }[tag];
  return sample.tags[label].some((name) => (wanted ? wanted.includes(kinds[label][name]) : name === tag));
}

function matching(held, query, names) {
  const pairs = (key) =>
    query.getAll(key).map((text) => [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)]);
  const outcome = OUTCOMES[query.get("outcome")];
  const has =
    (codes, among) =>
    ([name, code]) =>
      codes[among.indexOf(name)] === Number(code);
  return held.samples.filter((sample) => {
    const one = done(sample, query.get("run"));
    const two = query.get("versus") ? done(sample, query.get("versus")) : one;
    return (
      pairs("label").every(has(sample.labels, names.labels)) &&
      pairs("concept").every(has(sample.concepts, names.concepts)) &&
      pairs("tag").every(([label, tag]) => tagged(sample, held.kinds, label, tag)) &&
      (!outcome || (one && two && outcome(one, two)))
    );
  });
}

function counts(samples, held, knowledge) {
  const labels = knowledge.labels.map((label, place) => [
    label.name,
    label.values.map((_, code) => samples.filter((sample) => sample.labels[place] === code).length),
  ]);
  const tags = Object.entries(held.kinds).map(([label, kinds]) => [
    label,
    Object.entries(kinds).map(([name, kind]) => {
      return { name, kind, count: samples.filter((sample) => sample.tags[label].includes(name)).length };
    }),
  ]);
  return { labels: Object.fromEntries(labels), tags: Object.fromEntries(tags) };
}

async function found(key, split, query) {
  const [held, { knowledge, page }] = await Promise.all([splitOf(key, split), about(key)]);
  const names = {
    labels: knowledge.labels.map((one) => one.name),
    concepts: knowledge.concepts.map((one) => one.name),
  };
  return { held, knowledge, size: page, samples: matching(held, new URLSearchParams(query), names) };
}

async function samples(key, split, query) {
  const { held, knowledge, size, samples } = await found(key, split, query);
  const pages = Math.max(1, Math.ceil(samples.length / size));
  const page = Math.min(Number(query.get("page") ?? 0), pages - 1);
  const runs = ["run", "versus"].map((name) => query.get(name)).filter(Boolean);
  const rows = samples.slice(page * size, (page + 1) * size).map((sample) => {
    const said = Object.fromEntries(runs.map((run) => [run, done(sample, run)]));
    const text = sample.has.includes("image") ? undefined : (sample.text ?? "");
    return { row: sample.row, index: sample.index, labels: sample.labels, said, text };
  });
  const kept = { kept: held.samples.length, whole: held.whole };
  return { total: samples.length, ...kept, page, pages, rows, ...counts(samples, held, knowledge) };
}

async function sample(key, split, row, query) {
  const { held, samples } = await found(key, split, query);
  const wanted = held.samples.find((one) => one.row === Number(row));
  if (!wanted) throw new Error(`This bundle does not hold sample ${row} of ${split}.`);
  const before = samples.filter((one) => one.row < wanted.row).at(-1)?.row ?? null;
  const after = samples.find((one) => one.row > wanted.row)?.row ?? null;
  return { ...wanted, before, after };
}

export const bundle = {
  shelf: () => fetched("shelf.json"),
  samples,
  sample,
  picture: (key, split, row, column) => at("data", key, split, row, `${column}.png`),
  edit: null,
  ask: null,
  compare: (key, split, run, versus) => fetched(at("data", key, split, `compare-${run}-vs-${versus}.json`)),
  verdict: (key, run) => fetched(at("verdicts", key, `${run}.json`)),
  tasks: () => fetched("tasks.json"),
  task: (name) => fetched(at("tasks", `${name}.json`)),
};
