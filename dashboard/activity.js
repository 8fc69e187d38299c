/* Calls by tool and outcome over time. */

import { Bars } from "./charts.js";
import { Choice, Note, Panel, Problem, When, h, number, plural, useAnswer, useState } from "./ui.js";

const SPANS = [["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"]];
const OUTCOMES = {
  confirmed: ["confirmed", "var(--al-good)"],
  failed: ["failed", "var(--al-warn)"],
  not_run: ["never ran", "var(--al-quiet)"],
  unconfirmed: ["unconfirmed", "var(--al-bad)"],
  settled: ["settled by hand or evidence", "var(--al-info)"],
};

export function Activity() {
  const [span, setSpan] = useState("24h");
  const { data, problem } = useAnswer("/activity", { span }, 30);
  const side = h(Choice, { label: "How far back", value: span, of: SPANS, onChange: setSpan });
  return h(Panel, { title: "Activity", side },
    h(Problem, { text: problem }),
    data ? h(Charts, { data }) : h(Note, null, "Counting…"));
}

function Charts({ data }) {
  if (data.nothing || !data.calls) return h(Note, null, data.nothing || "No call in this time.");
  const hours = data.span === "24h";
  const named = (start) => (hours ? `${start.slice(11, 13)}:00` : start.slice(5));
  const bars = (kind) => data.bars.map((bar) => ({ name: named(bar.start), hint: bar.start.replace("T", " ") + (hours ? ":00" : ""), parts: bar[kind] }));
  const outcomes = data.outcomes.map((key) => ({ key, label: OUTCOMES[key][0], colour: OUTCOMES[key][1] }));
  const tools = data.tools.map(({ tool, calls }, at) => ({ key: tool, label: `${tool} (${number(calls)})`, colour: `var(--al-tool-${at})` }));
  if (data.other_tools) tools.push({ key: "", label: plural(data.other_tools, "other tool"), colour: "var(--al-quiet)" });
  return h("div", { className: "al-stack" },
    h(Note, null, `${plural(data.calls, "call")}${hours ? " by the hour" : " by the day"}, UTC.`,
      data.whole ? null : h("span", null, " Counting took too long: only calls since ", h(When, { ts: data.reached }), " are in these charts.")),
    h("div", { className: "al-charts" },
      h(Bars, { title: "By outcome", bars: bars("outcomes"), keys: outcomes }),
      h(Bars, { title: "By tool", bars: bars("tools"), keys: tools })));
}
