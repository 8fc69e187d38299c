/* The dry-run report: what policy would have refused, and what it refused. Switching the mode is for the command line. */

import { Choice, Facts, Mark, Note, Panel, Problem, When, h, number, plural, useAnswer, useState } from "./ui.js";

const SPANS = [["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"], ["all", "All"]];

export function Policy({ overview }) {
  const [since, setSince] = useState("7d");
  const { data, problem, busy } = useAnswer("/policy", { since }, 0);
  const side = h(Choice, { label: "How far back", value: since, of: SPANS, onChange: setSince });
  const policy = overview && overview.policy;
  return h("div", { className: "al-stack" },
    policy ? h(Panel, { title: "In force" },
      h(Facts, { of: [["Mode", policy.mode], ["Rules", policy.rules ? number(policy.rules) : "none"], ["File", policy.path], ["SHA-256", policy.sha256 && policy.sha256.slice(0, 12)], ["Last error", policy.last_error]] }),
      policy.problems.map((text, at) => h(Problem, { key: at, text })),
      h(Problem, { text: policy.not_honoured ? `${plural(policy.not_honoured, "refused call")} ran all the same: the host did not honour the refusal` : "" })) : null,
    h(Panel, { title: "What would have been refused", side },
      h(Problem, { text: problem }),
      data ? h(Report, { data, busy }) : problem ? null : h(Note, null, "Reading the ledger…")));
}

function Report({ data, busy }) {
  if (data.nothing) return h(Note, null, data.nothing);
  const quiet = !data.by_rule.length;
  return h("div", { className: "al-stack", "aria-busy": busy },
    h(Note, null, `${plural(data.judged, "call")} judged; ${number(data.would_block)} would have been refused, ${number(data.blocked)} refused.`,
      quiet ? (data.judged ? " Nothing was against the policy." : " See what a policy would have refused of the record with: hermes ledger policy replay") : ""),
    quiet ? null : h("div", { className: "al-charts" },
      h(Counts, { title: "Tool", of: data.by_tool.map((one) => ({ ...one, name: one.tool })) }),
      h(Counts, { title: "Day (UTC)", of: data.by_day.slice(-14).map((one) => ({ ...one, name: one.day })) })),
    data.by_rule.map((rule) => h("div", { key: rule.rule, className: "al-finding" },
      h("div", { className: "al-head" }, h("span", { className: "al-what" }, rule.rule), h("div", { className: "al-side" },
        rule.would_block ? h(Mark, { tone: "warning" }, `${number(rule.would_block)} would be refused`) : null,
        rule.blocked ? h(Mark, { tone: "destructive" }, `${number(rule.blocked)} refused`) : null)),
      h("ul", { className: "al-list" }, rule.examples.map((one) => h("li", { key: one.id },
        h("span", { className: "al-mono" }, `#${one.id} ${one.summary}`), " ", h(When, { ts: one.ts }),
        one.reason ? h("p", { className: "al-meta" }, one.reason) : null))))));
}

function Counts({ title, of }) {
  return h("table", { className: "al-table" },
    h("thead", null, h("tr", null, [title, "Would", "Refused"].map((name) => h("th", { key: name, scope: "col" }, name)))),
    h("tbody", null, of.map((one) => h("tr", { key: one.name },
      h("td", { className: "al-mono" }, one.name), h("td", null, number(one.would_block)), h("td", null, number(one.blocked))))));
}
