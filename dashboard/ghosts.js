/* Open ghosts: issued, and never confirmed. */

import { Ago, Life, SessionLink, Settle, Told } from "./call.js";
import { Button, Card, CardContent, Note, Problem, ask, h, plural, reason, useAnswer, useState } from "./ui.js";

export function Ghosts({ showSession, changed }) {
  const first = useAnswer("/ghosts", {}, 5);
  const [more, setMore] = useState({ ghosts: [], before: undefined });
  const [problem, setProblem] = useState("");
  if (!first.data) return first.problem ? h(Problem, { text: first.problem }) : h(Note, null, "Loading…");
  const { data } = first;
  const settled = () => {
    setMore({ ghosts: [], before: undefined });
    first.again();
    changed();
  };
  const known = new Set(data.ghosts.map((call) => call.id));
  const listed = [...data.ghosts, ...more.ghosts.filter((call) => !known.has(call.id))];
  const before = more.before === undefined ? data.before : more.before;
  const older = async () => {
    try {
      const page = await ask("/ghosts", { before });
      setMore((was) => ({ ghosts: [...was.ghosts, ...page.ghosts], before: page.before }));
      setProblem("");
    } catch (error) {
      setProblem(reason(error));
    }
  };
  return h("div", { className: "al-stack" },
    h(Problem, { text: first.problem || problem }),
    h(Note, null, data.nothing || (data.open
      ? `${plural(data.open, "call")} issued and never confirmed. Whether the effect happened is unknown, unless it says otherwise below.`
      : `No open ghosts: every call has its outcome, or is still within its time (${data.running}).`)),
    listed.map((call) => h(Ghost, { key: call.id, call, showSession, onSettled: settled })),
    before ? h(Button, { type: "button", outlined: true, className: "al-more", onClick: older }, "Older ghosts") : null);
}

function Ghost({ call, showSession, onSettled }) {
  const [open, setOpen] = useState(false);
  return h(Card, { className: "al-ghost" }, h(CardContent, null,
    h("div", { className: "al-head" },
      h("div", { className: "al-what" }, h("span", { className: "al-id" }, `#${call.id}`), " ", call.summary || call.tool_name),
      h("div", { className: "al-side" }, h(Told, { told: call.told }))),
    h("p", { className: "al-why" }, call.why),
    call.saw ? h("p", { className: "al-why" }, `A look now: ${call.saw.saw} (effect ${call.saw.effect}).`) : null,
    h("p", { className: "al-meta" },
      "issued ", h(Ago, { call }),
      call.session_id ? h("span", null, " in ", h(SessionLink, { id: call.session_id, showSession })) : null,
      call.nested ? `, ${plural(call.nested, "call")} inside it` : null),
    h("div", { className: "al-row" },
      open ? null : h(Settle, { id: call.id, onSettled }),
      h(Button, { type: "button", size: "sm", ghost: true, "aria-expanded": open, onClick: () => setOpen(!open) }, open ? "Close" : "The record")),
    open ? h(Life, { id: call.id, showSession, onSettled }) : null));
}
