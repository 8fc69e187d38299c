/* One call: its whole life, and the form that settles it. */

import { Button, Facts, Input, Label, Mark, Note, Problem, Status, When, age, duration, h, plural, reason, settle, useAnswer, useState } from "./ui.js";

const STATES = { told: "given", again: "given, and once more since that turn got no answer", read: "answered" };

export function Life({ id, showSession, onSettled }) {
  const { data, problem, again } = useAnswer(`/calls/${id}`, {}, 0);
  if (problem) return h(Problem, { text: problem });
  if (!data) return h(Note, null, "Loading…");
  const call = data.call;
  const running = { true: "running", false: "ended" }[String(data.owner_alive)] || "cannot tell whether it runs";
  return h("div", { className: "al-life" },
    h(Facts, {
      of: [
        ["Status", h("span", null, h(Status, { call }), ` effect ${call.effect}`)],
        ["Why", data.why],
        ["A look now", data.saw ? `${data.saw.saw} (effect ${data.saw.effect})` : ""],
        ["Issued", h(When, { ts: call.ts, seconds: call.age_s })],
        ["Settled", call.settled_ts ? h("span", null, h(When, { ts: call.settled_ts }), call.duration_ms === null ? "" : `, took ${duration(call.duration_ms)}`) : ""],
        ["Grace", call.settled_ts ? "" : `${call.grace_s} s`],
        ["Process", call.owner ? `${call.owner} (${running})` : ""],
        ["Session", call.session_id ? h(SessionLink, { id: call.session_id, showSession }) : ""],
        ["Turn", call.turn_id],
        ["Call id", call.tool_call_id],
        ["Inside", call.outer_id === null ? "" : `#${call.outer_id}`],
        ["Where", [call.cwd, call.platform, call.backend].filter(Boolean).join(", ")],
        ["Looked at", call.reads.join(" ")],
        ["Policy", [call.policy_decision, call.policy_rule].filter(Boolean).join(" ")],
        ["Marks", call.flags.join(" ")],
        ["Error", call.error_message],
        ["Result", call.result_digest],
      ],
    }),
    h("h4", null, `Arguments, ${plural(call.args_len, "character")}`),
    h("pre", { className: "al-args", tabIndex: 0 }, call.args.join("\n")),
    h(List, { title: "Changes", of: data.transitions, line: (one) => h("span", null, h(When, { ts: one.ts }), ` ${one.from_status} to ${one.to_status}: ${one.why}`) }),
    h(List, { title: "Told to the agent", of: data.notices, line: (one) => h("span", null, h(When, { ts: one.ts }), ` session ${one.session_id}, ${STATES[one.state] || one.state}`) }),
    h(List, { title: "The same call again in this conversation", of: data.repeats, line: (one) => h("span", null, `#${one.id} `, h(When, { ts: one.ts }), ` ${one.status}`) }),
    h(List, { title: "Sessions that it launched", of: data.children, line: (one) => `${one.session_id}: ${plural(one.confirmed, "call")} confirmed, ${one.unsettled} open` }),
    h(List, { title: "Calls inside it", of: data.nested, line: (one) => `#${one.id} ${one.summary || one.tool_name}: ${one.status}, effect ${one.effect}` }),
    call.status === "GHOST_REPORTED" || data.open_ghost
      ? h(Settle, { id: call.id, onSettled: () => { again(); if (onSettled) onSettled(); } })
      : null);
}

function List({ title, of, line }) {
  if (!of.length) return null;
  return h("div", null, h("h4", null, title), h("ul", { className: "al-list" }, of.map((one, at) => h("li", { key: at }, line(one)))));
}

export function SessionLink({ id, showSession }) {
  if (!showSession) return id;
  return h("button", { type: "button", className: "al-link", title: "Show the calls of this conversation", onClick: () => showSession(id) }, id);
}

/* Two steps: choose what you saw, then record it, with a note. */
export function Settle({ id, onSettled }) {
  const [effect, setEffect] = useState("");
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const record = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await settle(id, effect, note);
      setEffect("");
      setNote("");
      onSettled();
    } catch (error) {
      setProblem(reason(error));
    }
    setBusy(false);
  };
  if (!effect) {
    return h("div", { className: "al-settle" },
      h("span", { className: "al-label" }, "You looked:"),
      h(Button, { type: "button", size: "sm", outlined: true, onClick: () => setEffect("applied") }, "It took effect"),
      h(Button, { type: "button", size: "sm", outlined: true, onClick: () => setEffect("not_applied") }, "It did not"));
  }
  const field = `al-note-${id}`;
  return h("form", { className: "al-settle", onSubmit: record },
    h(Label, { htmlFor: field }, effect === "applied" ? `#${id} took effect. How do you know?` : `#${id} did not take effect. How do you know?`),
    h(Input, { id: field, value: note, maxLength: 500, autoFocus: true, placeholder: "A note for the record, optional", onChange: (event) => setNote(event.target.value) }),
    h(Button, { type: "submit", size: "sm", disabled: busy }, busy ? "Recording…" : "Record"),
    h(Button, { type: "button", size: "sm", outlined: true, onClick: () => setEffect("") }, "Cancel"),
    h(Problem, { text: problem }));
}

export function Told({ told }) {
  return h(Mark, { tone: told ? "secondary" : "warning" }, told ? "agent told" : "agent not told yet");
}

export const Ago = ({ call }) => h("time", { dateTime: call.ts, title: call.ts }, age(call.age_s));
