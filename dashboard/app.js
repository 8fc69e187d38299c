/* The tab: numbers above, six parts below. */

import { Activity } from "./activity.js";
import { Calls } from "./calls.js";
import { Ghosts } from "./ghosts.js";
import { Health } from "./health.js";
import { Policy } from "./policy.js";
import { Posture } from "./posture.js";
import { Problem, TabsList, TabsTrigger, h, number, useAnswer, useState } from "./ui.js";

const PARTS = [
  ["ghosts", "Ghosts", Ghosts],
  ["calls", "Calls", Calls],
  ["activity", "Activity", Activity],
  ["posture", "Posture", Posture],
  ["policy", "Policy", Policy],
  ["health", "Health", Health],
];

export function App() {
  const [part, setPart] = useState("ghosts");
  const [session, setSession] = useState("");
  const overview = useAnswer("/overview", {}, 5);
  const Part = PARTS.find(([name]) => name === part)[2];
  const showSession = (id) => {
    setSession(id);
    setPart("calls");
  };
  return h("div", { className: "al-page" },
    h(Problem, { text: overview.problem }),
    overview.data ? h(Numbers, { said: overview.data, go: setPart }) : null,
    h("div", { className: "al-tabs" },
      h(TabsList, { role: "tablist", "aria-label": "Parts of the ledger" },
        PARTS.map(([name, label]) => h(TabsTrigger, {
          key: name, value: name, active: name === part, role: "tab", "aria-selected": name === part,
          onClick: () => setPart(name),
        }, label)))),
    h("div", { role: "tabpanel", "aria-label": part },
      h(Part, { session, setSession, showSession, overview: overview.data, changed: overview.again })));
}

function Numbers({ said, go }) {
  const calls = said.calls;
  const ghosts = calls ? calls.open_ghosts : null;
  const recording = said.health.state;
  const tiles = [
    ["Calls", calls ? number(calls.total) : "–", "", "calls"],
    ["Open ghosts", number(ghosts), ghosts ? "al-bad" : "", "ghosts"],
    ["Running", calls ? number(calls.running) : "–", "", "calls"],
    ["Posture", said.posture ? number(said.posture.score) : "–", "", "posture", said.posture ? said.posture.day : "not scored yet"],
    ["Policy", said.policy.mode.replace("_", " "), said.policy.problems.length || said.policy.not_honoured ? "al-bad" : "", "policy"],
    ["Recording", said.exists || recording !== "ok" ? recording : "nothing yet", recording === "ok" ? "" : "al-bad", "health"],
  ];
  return h("div", { className: "al-tiles" },
    tiles.map(([label, value, mark, part, hint]) =>
      h("button", { key: label, type: "button", className: "al-tile", onClick: () => go(part) },
        h("span", { className: "al-label" }, label),
        h("span", { className: "al-value " + mark }, value),
        hint ? h("span", { className: "al-hint" }, hint) : null)));
}
