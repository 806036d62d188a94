// A decision diagram: a layer for each concept, a node for each case that is left, at the bottom the outcomes.

import { h, svg } from "./dom.js";

const STEP = 74;
const GAP = 96;
const SIZE = 17;

/** Return the diagram as a picture; edges to the same node are one, with all of their values. */
export function diagram(concepts, { layers, outcomes }) {
  const widths = [...layers.map((layer) => layer.next.length), outcomes.length];
  const width = Math.max(...widths) * GAP + 60;
  const height = layers.length * STEP + 60;
  const x = (layer, node) => width / 2 + (node - (widths[layer] - 1) / 2) * GAP;
  const y = (layer) => 30 + layer * STEP;
  const edges = layers.flatMap((layer, depth) =>
    layer.next.flatMap((next, node) => [...joined(next)].map(([target, codes]) => ({ depth, node, target, codes }))),
  );
  const drawn = [
    edges.map((edge) => arrow(edge, concepts[layers[edge.depth].concept], x, y)),
    layers.flatMap((layer, depth) =>
      layer.next.map((_, node) => box(x(depth, node), y(depth), concepts[layer.concept].name, "node")),
    ),
    outcomes.map((outcome, node) => box(x(layers.length, node), y(layers.length), outcome.join(", "), "outcome")),
  ];
  const label = `Decision diagram with ${widths.reduce((sum, one) => sum + one, 0)} nodes`;
  const made = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "diagram" },
    drawn,
  );
  made.style.maxWidth = `${width}px`;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, made);
}

/** Return for each next node the values that lead to it. */
function joined(next) {
  const targets = new Map();
  next.forEach((target, code) => targets.set(target, [...(targets.get(target) ?? []), code]));
  return targets;
}

function arrow({ depth, node, target, codes }, concept, x, y) {
  const [x1, y1, x2, y2] = [x(depth, node), y(depth) + SIZE, x(depth + 1, target), y(depth + 1) - SIZE];
  const all = codes.length === concept.values.length && codes.length > 1;
  const values = codes.map((code) => String(concept.values[code]));
  const text = all ? "any" : values.length > 3 ? `${values.slice(0, 3).join(",")}…` : values.join(",");
  return svg(
    "g",
    {},
    svg("line", { x1, y1, x2, y2 }, svg("title", {}, `${concept.name} = ${values.join(", ")}`)),
    svg("text", { x: x1 + (x2 - x1) * 0.4, y: y1 + (y2 - y1) * 0.4 + 4, "text-anchor": "middle" }, text),
  );
}

function box(x, y, text, kind) {
  const width = Math.max(34, 8 * text.length + 12);
  return svg(
    "g",
    { class: kind },
    svg("rect", { x: x - width / 2, y: y - SIZE, width, height: 2 * SIZE, rx: kind === "node" ? SIZE : 4 }),
    svg("text", { x, y: y + 5, "text-anchor": "middle" }, text),
  );
}
