// Where data comes from: a running `assay view`, or the files of a bundle. Both answer the same questions.

import { bundle } from "./bundle.js";
import { awaited, fetched, posted } from "./fetched.js";

const at = (...parts) => ["api", ...parts.map((part) => encodeURIComponent(part))].join("/");
const asking = (address, query) => `${address}?${new URLSearchParams(query)}`;

const live = {
  shelf: () => fetched(at("shelf.json")),
  samples: (key, split, query) => fetched(asking(at("data", key, `${split}.json`), query)),
  sample: (key, split, row, query) => fetched(asking(at("data", key, split, `${row}.json`), query)),
  picture: (key, split, row, column) => at("data", key, split, row, `${column}.png`),
  edit: (key, split, row, changes) => posted(at("data", key, split, row, "edit"), { changes }),
  ask: (key, split, row, run, changes) => posted(at("data", key, split, row, "ask", run), { changes }),
  compare: (key, split, runs) =>
    fetched(
      asking(
        at("data", key, split, "compare.json"),
        runs.map((run) => ["run", run]),
      ),
    ),
  run: (key, run) => fetched(at("runs", key, `${run}.json`)),
  verdict: (key, run, tell) => awaited(at("runs", key, run, "verdict.json"), tell),
  pairs: (key, run, kind, page) => fetched(asking(at("runs", key, run, "pairs.json"), { kind, page })),
  reading: (key, run, split) => fetched(at("runs", key, run, split, "reading.json")),
  interventions: (key, run, split, policy, tell) =>
    awaited(asking(at("runs", key, run, split, "interventions.json"), { policy }), tell),
  layers: (key, run, split, tell) => awaited(at("runs", key, run, split, "layers.json"), tell),
  map: (key, run, split, layer, tell) => awaited(asking(at("runs", key, run, split, "map.json"), { layer }), tell),
  dataset: (key) => fetched(at("datasets", `${key}.json`)),
  distribution: (key, split) => fetched(at("datasets", key, split, "distribution.json")),
  audit: (key, tell) => awaited(at("datasets", key, "audit.json"), tell),
  shortcuts: (key, tell) => awaited(at("datasets", key, "shortcuts.json"), tell),
  tasks: () => fetched(at("tasks.json")),
  task: (name) => fetched(at("tasks", `${name}.json`)),
  taskPicture: (name, tell) => awaited(at("tasks", name, "picture.json"), tell),
};

export const source = document.documentElement.dataset.source === "bundle" ? bundle : live;

let kept = null;
const verdicts = new Map();

/** Return all that is served, asked for once. */
export function shelf() {
  kept ??= source.shelf();
  return kept;
}

/** Return a dataset of the shelf. */
export async function dataset(key) {
  const found = (await shelf()).datasets.find((one) => one.key === key);
  if (!found) throw new Error(`There is no dataset “${key}” here.`);
  return found;
}

/** Return a run of a dataset. */
export function runOf(data, key) {
  const found = data.runs.find((run) => run.key === key);
  if (!found) throw new Error(`There is no run “${key}” of “${data.key}” here.`);
  return found;
}

/** Return the verdict on a run; one that was given is kept. */
export async function verdictOn(key, run, tell) {
  const name = `${key}/${run}`;
  if (!verdicts.has(name)) verdicts.set(name, await source.verdict(key, run, tell));
  return verdicts.get(name);
}

/** Return the verdict on a run if it is known already. */
export function knownVerdict(key, run) {
  return verdicts.get(`${key}/${run}`) ?? null;
}
