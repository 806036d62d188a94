// A dataset: its rule, how its values are distributed, what an audit found, which shortcuts its labels allow, its runs.

import { onRequest, pending } from "./busy.js";
import { bars } from "./chart.js";
import { crumbs, h, section, select, table } from "./dom.js";
import { strip } from "./home.js";
import { remember, to } from "./router.js";
import { rule } from "./rule.js";
import { runsTable } from "./runs.js";
import { dataset, shelf, source } from "./source.js";
import { typeset } from "./typeset.js";
import { count, percent, prose, taskLink } from "./words.js";

const SHOWN_CONCEPTS = 12;

export async function datasetPage(key, query) {
  const [data, page, { live }] = await Promise.all([dataset(key), source.dataset(key), shelf()]);
  const browse = to(["data", key, data.preview.split]);
  const parts = [
    crumbs(h("a", { href: "#/" }, "Data and runs")),
    h("h1", {}, data.title),
    h("p", {}, taskLink(data), " – ", prose(data.summary)),
    strip(data, browse),
    splits(data),
    rule(data, page.rule),
    section("distribution", "Distribution of labels and concepts", distribution(data, query)),
    section("shortcuts", "Reasoning shortcuts", shortcuts(data, live)),
    section("audit", "Audit", audit(data, page.audit, live)),
    section(
      "runs",
      "Runs",
      runsTable([data], { named: false })?.element ?? h("p", { class: "soft" }, "No runs were given for it."),
    ),
    provenance(data),
  ];
  return { title: data.title, parts };
}

function splits(data) {
  const rows = data.splits.map((one) => [
    h("a", { href: to(["data", data.key, one.name]), id: `split-${one.name}` }, one.name),
    count(one.size),
    one.pool ?? "",
    one.where && one.where !== "True" ? h("div", { class: "where" }, typeset(one.where)) : "all worlds",
  ]);
  return table("Splits; each leads to its samples", ["split", "samples", "source pool", "worlds"], rows);
}

/** Return how often each value occurs, in the split that is chosen. */
function distribution(data, query) {
  const box = h("div", {});
  const show = (split) => {
    box.replaceChildren(pending("Counting", async () => counted(data, await source.distribution(data.key, split))));
  };
  const first = query.get("split") ?? data.splits[0].name;
  const options = data.splits.map((one) => ({ value: one.name, text: one.name }));
  const choose = (split) => {
    query.set("split", split);
    remember(query);
    show(split);
  };
  show(first);
  return [select("Split", "distribution-split", options, first, choose), box];
}

function counted(data, found) {
  const { labels, concepts } = data.knowledge;
  const group = (kind, entries, named) =>
    entries.map((entry, place) => {
      const total = entry.counts.reduce((sum, number) => sum + number, 0) || 1;
      const rows = entry.counts.flatMap((number, code) =>
        number
          ? [
              {
                name: String(named[place].values[code]),
                share: number / Math.max(...entry.counts),
                text: `${count(number)} (${percent(number / total)})`,
                href: to(["data", data.key, found.split], { [kind]: `${entry.name}:${code}` }),
              },
            ]
          : [],
      );
      const never = entry.counts.length - rows.length;
      const rest = never ? h("p", { class: "soft" }, `${count(never)} other values do not occur.`) : null;
      return h("div", { class: "spread" }, h("h3", {}, entry.name), bars(rows, `Values of ${entry.name}`), rest);
    });
  const all = group("concept", found.concepts, concepts);
  const more = all.slice(SHOWN_CONCEPTS);
  return [
    h("h3", { class: "kind" }, "Labels"),
    h("div", { class: "spreads" }, group("label", found.labels, labels)),
    h("h3", { class: "kind" }, "Concepts"),
    h("div", { class: "spreads" }, all.slice(0, SHOWN_CONCEPTS)),
    more.length
      ? h("details", {}, h("summary", {}, `${more.length} more concepts`), h("div", { class: "spreads" }, more))
      : null,
  ];
}

function shortcuts(data, live) {
  const why = "A reasoning shortcut is a wrong reading of the concepts that keeps every training label.";
  const ask = async (tell) => {
    const found = await source.shortcuts(data.key, tell);
    const settle = found.settled_by ?? [];
    const open = Object.entries(found.identified ?? {}).filter(([, fixed]) => !fixed);
    return [
      h("p", { class: "headline" }, found.text),
      settle.length
        ? [
            h("h3", {}, "What to label"),
            h(
              "ul",
              { class: "chips" },
              settle.map((one) => h("li", {}, one)),
            ),
          ]
        : null,
      open.length
        ? h("p", {}, "Not decided by the labels: ", h("strong", {}, open.map(([name]) => name).join(", ")), ".")
        : null,
    ];
  };
  const box = live ? onRequest("Count the shortcuts", "Counting", ask) : pending("Loading", ask);
  return [h("p", { class: "soft" }, why), box];
}

function audit(data, stored, live) {
  const show = (found) =>
    table(
      found.stored ? "The audit stored with the dataset" : "This audit, which was not stored",
      ["check", "outcome", "finding"],
      found.findings.map((one) => [
        one.check,
        h("span", { class: `status ${one.status.replace(" ", "-")}` }, one.status),
        one.text,
      ]),
    );
  const again = live
    ? onRequest(stored ? "Audit again" : "Audit now", "Auditing", async (tell) =>
        show(await source.audit(data.key, tell)),
      )
    : null;
  const none = h("p", { class: "soft" }, "No audit is stored with this dataset. Make one: assay audit DATA.");
  return [stored ? show(stored) : none, again];
}

function provenance(data) {
  const versions = Object.entries(data.versions).map(([name, version]) => `${name} ${version}`);
  const facts = {
    Task: [taskLink(data), `, version ${data.task.version}`],
    Settings: h("code", {}, JSON.stringify(data.task.config)),
    Seed: String(data.seed),
    Fingerprint: h("code", {}, data.fingerprint),
    Folder: data.folder,
    "Made with": versions.join(", "),
  };
  const rows = Object.entries(facts).map(([name, fact]) => [h("dt", {}, name), h("dd", {}, fact)]);
  return h("details", {}, h("summary", {}, "Provenance"), h("dl", {}, rows));
}
