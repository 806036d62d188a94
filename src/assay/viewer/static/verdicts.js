// The verdict on each run, asked for when it is opened: it takes a moment.

import { h, table } from "./dom.js";
import { source } from "./source.js";

/** Return a closed list of the runs of a dataset; opening one asks for its verdict. */
export function verdicts(data) {
  if (!data.runs.length) return null;
  return h(
    "section",
    { class: "verdicts", "aria-label": "Verdicts" },
    data.runs.map((run) => closed(data, run)),
  );
}

function closed(data, run) {
  const body = h("div", { role: "status" }, "Diagnosing …");
  const open = async (event) => {
    if (!event.target.open || body.dataset.asked) return;
    body.dataset.asked = "yes";
    try {
      body.replaceChildren(...told(await source.verdict(data.key, run.key)));
    } catch (error) {
      body.replaceChildren(String(error.message));
    }
  };
  return h("details", { ontoggle: open }, h("summary", {}, `Verdict on ${run.name} (${run.model})`), body);
}

function told(found) {
  const findings = found.findings.map((one, place) =>
    h("li", {}, place ? [h("strong", {}, one.kind), `: ${one.meaning} `] : null, one.text),
  );
  const notes = found.notes.map((text) => h("li", { class: "soft" }, text));
  const rows = found.concepts.map((one) => [
    one.name,
    one.state,
    one.answered ? `${one.right} of ${one.answered}` : "–",
    one.used ? "yes" : "no",
  ]);
  return [
    h("p", {}, h("strong", { class: "word" }, found.verdict), `: ${found.meaning}`),
    h("ul", {}, findings, notes),
    table(`How each concept is read (${found.split})`, ["concept", "state", "right", "used by the rule"], rows),
  ];
}
