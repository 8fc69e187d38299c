/* The posture score: its trend over the daily reports, and the findings of a time that is asked for. */

import { Line } from "./charts.js";
import { Button, Choice, Facts, Mark, Note, Panel, Problem, ask, h, number, plural, reason, useAnswer, useState } from "./ui.js";

const SPANS = [["24h", "24 hours"], ["7d", "7 days"], ["30d", "30 days"]];
const TONES = { CRITICAL: "destructive", HIGH: "destructive", MEDIUM: "warning", LOW: "secondary" };

export function Posture() {
  const { data, problem } = useAnswer("/posture", {}, 60);
  if (!data) return problem ? h(Problem, { text: problem }) : h(Note, null, "Loading…");
  return h("div", { className: "al-stack" },
    h(Problem, { text: problem }),
    h(Panel, { title: "Score and trend" }, data.scored ? h(Trend, { days: data.days }) : h(Note, null,
      "Not scored yet. The daily report keeps one score a day; from its first run on the trend stands here.")),
    data.can_score ? h(Now) : null,
    h(Note, null, "The ledger is written by the agent that is graded: 100 means nothing suspicious in what was recorded, not that the agent behaved well."));
}

function Trend({ days }) {
  const last = days.at(-1);
  const before = days.at(-2);
  const same = before && before.rules_version === last.rules_version;
  const rules = Object.entries(last.by_rule).sort(([, one], [, other]) => other - one);
  return h("div", { className: "al-stack" },
    h("p", { className: "al-score" }, h("strong", null, number(last.score)), ` of 100 on ${last.day}`,
      same ? ` (${last.score - before.score >= 0 ? "+" : "−"}${Math.abs(last.score - before.score)} since ${before.day})` : before ? " (the rules have changed since the day before)" : ""),
    h(Line, { title: "Score a day; the line breaks where the rules changed", points: days.map((day) => ({ name: day.day, value: Math.max(0, Math.min(100, day.score)), group: day.rules_version })) }),
    h(Facts, { of: [
      ["Calls", number(last.rows)], ["Penalty", number(last.penalty)], ["New findings", number(last.new)], ["Resolved", number(last.resolved)],
      ["By rule", rules.length ? rules.map(([name, many]) => `${name} ${many}`).join(", ") : "no finding"],
    ] }));
}

function Now() {
  const [span, setSpan] = useState("24h");
  const [state, setState] = useState({ busy: false, problem: "", said: null });
  const score = async () => {
    setState({ busy: true, problem: "", said: null });
    try {
      setState({ busy: false, problem: "", said: await ask("/posture/score", { since: span }) });
    } catch (error) {
      setState({ busy: false, problem: reason(error), said: null });
    }
  };
  const side = [
    h(Choice, { key: "span", label: "Of which time", value: span, of: SPANS, onChange: setSpan }),
    h(Button, { key: "score", type: "button", size: "sm", disabled: state.busy, onClick: score }, state.busy ? "Scoring…" : "Score now"),
  ];
  const said = state.said;
  return h(Panel, { title: "Findings", side },
    h(Problem, { text: state.problem }),
    said ? (said.report ? h(Findings, { report: said.report }) : h(Note, null, said.why))
      : h(Note, null, "Looks through the calls of that time with the rules as they are now."));
}

function Findings({ report }) {
  return h("div", { className: "al-stack" },
    h("p", { className: "al-score" }, h("strong", null, number(report.score)), ` of 100; ${plural(report.found, "finding")} in ${plural(report.coverage.rows, "call")}`),
    report.findings.map((one) => h("div", { key: one.fingerprint, className: "al-finding" },
      h("div", { className: "al-head" }, h("span", { className: "al-what" }, one.rule_id), h("div", { className: "al-side" },
        one.suppressed ? h(Mark, { tone: "outline" }, "accepted") : null,
        h(Mark, { tone: TONES[one.severity] || "outline" }, one.severity))),
      h("p", { className: "al-why" }, one.message),
      h("p", { className: "al-meta" }, `${one.asi}, calls ${one.evidence.rows.slice(0, 8).map((id) => "#" + id).join(" ")}${one.evidence.rows.length > 8 ? " …" : ""}`),
      one.remediation ? h("p", { className: "al-meta" }, one.remediation) : null)),
    report.found > report.findings.length ? h(Note, null, `The first ${report.findings.length} are shown.`) : null);
}
