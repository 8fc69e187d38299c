/* Health: what status says all the time, and what doctor proves when asked. */

import { Button, Facts, Mark, Note, Panel, Problem, When, ask, h, number, plural, reason, size, useState } from "./ui.js";

const TONES = { ok: "success", warn: "warning", fail: "destructive" };

export function Health({ overview }) {
  return h("div", { className: "al-stack" }, overview ? h(Now, { said: overview }) : h(Note, null, "Loading…"), h(Doctor));
}

function Now({ said }) {
  const { calls, health, spool } = said;
  return h(Panel, { title: "Recording", side: h(Mark, { tone: health.state === "ok" ? "success" : "destructive" }, health.state) },
    h(Facts, { of: [
      ["Ledger", said.exists ? `${said.ledger} (${size(said.bytes)}, schema ${said.schema})` : `${said.ledger}: nothing was recorded yet`],
      ["Plugin", said.version],
      ["Calls", calls ? `${number(calls.total)}, ${number(calls.running)} running, ${plural(calls.open_ghosts, "open ghost")}` : ""],
      ["First call", calls && calls.first_ts ? h(When, { ts: calls.first_ts }) : ""],
      ["Last call", calls && calls.last_ts ? h(When, { ts: calls.last_ts }) : ""],
      ["In the spool", spool.lines ? `${plural(spool.lines, "record")} (${size(spool.bytes)}) wait for the ledger${spool.not_replayed ? ": " + spool.not_replayed : ""}` : "nothing waits"],
      ["Lost", health.lost_writes ? `${plural(health.lost_writes, "record")} fitted neither the ledger nor the spool` : "nothing"],
      ["Last trouble", health.last_error ? h("span", null, `${health.last_error}, `, h(When, { ts: health.last_error_ts }), health.healed_ts ? ", healed since" : "") : ""],
      ["Set aside", health.set_aside.join(", ")],
      ["Settings", said.settings_problems.join("; ")],
    ] }));
}

function Doctor() {
  const [state, setState] = useState({ busy: false, problem: "", said: null });
  const run = async () => {
    setState({ busy: true, problem: "", said: null });
    try {
      setState({ busy: false, problem: "", said: await ask("/doctor") });
    } catch (error) {
      setState({ busy: false, problem: reason(error), said: null });
    }
  };
  const side = h(Button, { type: "button", size: "sm", disabled: state.busy, onClick: run }, state.busy ? "Checking…" : "Run the checks");
  return h(Panel, { title: "Doctor", side },
    h(Problem, { text: state.problem }),
    state.said
      ? h("ul", { className: "al-checks" }, state.said.checks.map((check) => h("li", { key: check.name },
        h(Mark, { tone: TONES[check.state] || "outline" }, check.state),
        h("div", null, h("strong", null, check.name), h("p", { className: "al-detail-text" }, check.detail), check.next ? h("p", { className: "al-meta" }, `Next: ${check.next}`) : null))))
      : h(Note, null, "Proves a round trip in a throw-away ledger on this disk, and shows all that recording depends on. Takes a second or two."));
}
