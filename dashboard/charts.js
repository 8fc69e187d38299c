/* Charts out of plain boxes, so that text keeps its size at any width; each has its numbers as a table too. */

import { h, number } from "./ui.js";

/* The top of the scale: a number that people halve in their heads. */
function ceiling(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  const steps = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10, 12].map((step) => Math.round(step * unit));
  return steps.find((value) => value >= most && value % 2 === 0);
}

/* `bars`: [{name, hint, parts: {key: count}}]; `keys`: [{key, label, colour}] from the bottom up. */
export function Bars({ title, bars, keys }) {
  const totals = bars.map((bar) => keys.reduce((sum, { key }) => sum + (bar.parts[key] || 0), 0));
  const top = ceiling(Math.max(...totals, 1));
  const every = Math.ceil(bars.length / 8);
  return h("figure", { className: "al-chart" },
    h("figcaption", null, title),
    h("ul", { className: "al-legend" }, keys.map(({ key, label, colour }) => h("li", { key },
      h("i", { style: { background: colour } }), label))),
    h("div", { className: "al-plot", role: "img", "aria-label": `${title}: ${number(totals.reduce((a, b) => a + b, 0))} calls in ${bars.length} bars; the numbers are in the table below` },
      h("span", { className: "al-top" }, number(top)), h("span", { className: "al-half" }, number(top / 2)),
      h("div", { className: "al-bars" }, bars.map((bar, at) => h("div", { key: bar.name, className: "al-bar", title: hint(bar, keys, totals[at]) },
        h("div", { className: "al-pile" }, keys.filter(({ key }) => bar.parts[key]).map(({ key, colour }) => h("i", {
          key, style: { background: colour, height: `${(100 * bar.parts[key]) / top}%` },
        }))),
        h("span", { className: "al-tick" }, at % every === 0 && (at + 1 < bars.length || every === 1) ? bar.name : "\u00a0"))))),
    h("details", null, h("summary", null, "As a table"),
      h("div", { className: "al-scroll" }, h("table", { className: "al-table" },
        h("thead", null, h("tr", null, h("th", { scope: "col" }, "UTC"), keys.map(({ key, label }) => h("th", { key, scope: "col" }, label)))),
        h("tbody", null, bars.map((bar) => h("tr", { key: bar.name },
          h("th", { scope: "row" }, bar.hint), keys.map(({ key }) => h("td", { key }, number(bar.parts[key] || 0))))))))));
}

function hint(bar, keys, total) {
  const parts = keys.filter(({ key }) => bar.parts[key]).map(({ key, label }) => `${label} ${number(bar.parts[key])}`);
  return [`${bar.hint}: ${number(total)}`, ...parts].join("\n");
}

/* `points`: [{name, value, group}] with values from 0 to 100; the line breaks where the group changes. */
export function Line({ title, points }) {
  const x = (at) => (points.length < 2 ? 50 : (100 * at) / (points.length - 1));
  const pieces = [];
  points.forEach((point, at) => {
    if (!at || points[at - 1].group !== point.group) pieces.push([]);
    pieces.at(-1).push(`${x(at)},${100 - point.value}`);
  });
  return h("figure", { className: "al-chart" },
    h("figcaption", null, title),
    h("div", { className: "al-plot", role: "img", "aria-label": `${title}: ${points.map((point) => `${point.name} ${point.value}`).slice(-10).join(", ")}` },
      h("span", { className: "al-top" }, "100"), h("span", { className: "al-half" }, "50"),
      h("div", { className: "al-lines" },
        h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": true },
          pieces.map((piece, at) => h("polyline", { key: at, points: piece.join(" "), vectorEffect: "non-scaling-stroke" }))),
        points.map((point, at) => h("i", { key: point.name, className: "al-dot", title: `${point.name}: ${point.value}`, style: { left: `${x(at)}%`, top: `${100 - point.value}%` } }))),
      h("div", { className: "al-ends" }, h("span", null, points[0].name), points.length > 1 ? h("span", null, points.at(-1).name) : null)));
}
