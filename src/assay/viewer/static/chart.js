// Charts of lines, as SVG that takes the page's colours; each point tells its value when it is pointed at.

import { h, svg } from "./dom.js";

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 48;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 40;

/** Return round numbers within a range, about four. */
export function ticks(low, high) {
  const rough = (high - low) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from(
    { length: Math.floor(high / step + 1e-9) - first + 1 },
    (_, i) => +((first + i) * step).toFixed(10),
  );
}

/** Return a chart of lines, each `{name, points: [[x, y], …]}`; `at` marks a place on the x axis. */
export function lineChart({ title, across, down, lines, low = null, high = null, at = null }) {
  const places = lines.flatMap(({ points }) => points.filter(([, y]) => y !== null));
  if (!places.length) return null;
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [x0, x1] = range(places.map(([x]) => x));
  const [least, most] = range(places.map(([, y]) => y));
  const [y0, y1] = [low ?? least, high ?? most];
  const x = (value) => LEFT + ((value - x0) / (x1 - x0 || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((value - y0) / (y1 - y0 || 1)) * (HEIGHT - TOP - BOTTOM);
  const drawn = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "chart" },
    axes({ x, y, x0, x1, y0, y1, across, down }),
    at === null ? null : svg("line", { class: "at", x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM }),
    lines.map((line, number) => drawLine(line, number, x, y)),
  );
  const key = lines.map((line, number) => h("li", { class: `line-${number}` }, line.name));
  return h("figure", { class: "plot" }, h("figcaption", {}, title), drawn, h("ul", { class: "key" }, key));
}

function axes({ x, y, x0, x1, y0, y1, across, down }) {
  const bottom = HEIGHT - BOTTOM;
  const rows = ticks(y0, y1).map((value) => [
    svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)),
  ]);
  const columns = ticks(x0, x1)
    .filter((value) => (x1 - x0 < 4 ? Number.isInteger(value) : true))
    .map((value) => svg("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, String(value)));
  return [
    rows,
    columns,
    svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${bottom}H${WIDTH - RIGHT}` }),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, across),
    svg("text", { x: 4, y: TOP, class: "down" }, down ?? ""),
  ];
}

function drawLine({ name, points }, number, x, y) {
  const known = points.filter(([, value]) => value !== null);
  const path = known.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
  const dots = known.map(([a, b]) =>
    svg(
      "circle",
      { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 3.5 },
      svg("title", {}, `${name}: ${+b.toFixed(4)} at ${a}`),
    ),
  );
  return svg("g", { class: `line-${number}` }, svg("polyline", { points: path }), dots);
}

/** Return rows of bars, each `{name, share, text, href, kind}`, as a list. */
export function bars(rows, label) {
  const made = rows.map((row) => {
    const fill = h("span", { class: `fill ${row.kind ?? ""}` });
    fill.style.width = `${100 * Math.min(1, Math.max(0, row.share || 0))}%`;
    const name = row.href ? h("a", { href: row.href }, row.name) : row.name;
    return h(
      "li",
      {},
      h("span", { class: "what" }, name),
      h("span", { class: "bar wide", "aria-hidden": "true" }, fill),
      h("span", { class: "number" }, row.text),
    );
  });
  return h("ul", { class: "bars", "aria-label": label }, made);
}
