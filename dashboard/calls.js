/* The live feed: newest calls first, filtered and paged by the ledger. */

import { Life } from "./call.js";
import { Button, Input, Label, Note, Problem, Select, SelectOption, Status, When, ask, duration, h, reason, useCallback, useEffect, useEvery, useRef, useState } from "./ui.js";

const LIVE_S = 3;
const MOST_SHOWN = 400;
const MOST_OPEN = 100;
const STATUSES = [
  ["", "Every status"],
  ["CONFIRMED", "Confirmed"],
  ["PENDING", "Pending"],
  ["GHOST_REPORTED", "Ghost"],
  ["ERROR:*", "Any error"],
  ["ERROR:timeout", "Timed out"],
  ["ERROR:cancelled", "Cancelled"],
  ["ERROR:blocked", "Blocked"],
];
const OPEN = ["PENDING", "GHOST_REPORTED", "ERROR:timeout", "ERROR:cancelled"]; // these may still get an outcome
const EMPTY = { calls: [], before: null, whole: true, newest: 0 };

/* `value`, but only when it has not changed for a moment: a question a letter would be too many. */
function useCalm(value) {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(value), 350);
    return () => clearTimeout(timer);
  }, [value]);
  return calm;
}

export function Calls({ session, setSession, showSession, changed }) {
  const [tool, setTool] = useState("");
  const [status, setStatus] = useState("");
  const [page, setPage] = useState(null);
  const [older, setOlder] = useState([]); // where each page behind the newest begins
  const [problem, setProblem] = useState("");
  const [chosen, setChosen] = useState(0);
  const shown = useRef(EMPTY);
  shown.current = page || EMPTY;
  const calmTool = useCalm(tool);
  const calmSession = useCalm(session);
  const filter = { tool: calmTool.trim(), status, session: calmSession.trim() };
  const depends = [filter.tool, filter.status, filter.session, older.length];

  useEffect(() => setOlder([]), depends.slice(0, 3));

  const load = useCallback(async (over) => {
    try {
      const found = await ask("/calls", { ...filter, before: older.at(-1) });
      if (over()) return;
      setPage(found);
      setProblem("");
    } catch (error) {
      if (!over()) setProblem(reason(error));
    }
  }, depends);
  useEvery(0, (over) => {
    setPage(null);
    return load(over);
  }, depends);

  useEvery(LIVE_S, async (over) => {
    const now = shown.current;
    if (older.length || now === EMPTY) return;
    const open = now.calls.filter((call) => OPEN.includes(call.status)).slice(0, MOST_OPEN).map((call) => call.id);
    try {
      const news = await ask("/changes", { ...filter, after: now.newest, open: open.join(",") });
      if (over() || shown.current.newest !== now.newest) return;
      if (!news.whole) await load(over);
      else setPage((was) => was && merged(was, news));
      setProblem("");
    } catch (error) {
      if (!over()) setProblem(reason(error));
    }
  }, depends);

  const data = page || EMPTY;
  return h("div", { className: "al-stack" },
    h("div", { className: "al-filters" },
      h(Field, { label: "Tool", id: "al-tool", value: tool, onChange: setTool, placeholder: "terminal or mcp_*" }),
      h("div", { className: "al-field" }, h(Label, null, "Status"),
        h(Select, { value: status, onValueChange: setStatus }, STATUSES.map(([value, label]) => h(SelectOption, { key: value, value }, label)))),
      h(Field, { label: "Session", id: "al-session", value: session, onChange: setSession, placeholder: "an id: its whole conversation" })),
    h(Problem, { text: problem }),
    h("div", { className: "al-row" },
      h("span", { className: older.length ? "al-live" : "al-live al-on" }, older.length ? "Older calls" : "Live"),
      older.length ? h(Button, { type: "button", size: "sm", outlined: true, onClick: () => setOlder([]) }, "Newest") : null,
      older.length ? h(Button, { type: "button", size: "sm", outlined: true, onClick: () => setOlder(older.slice(0, -1)) }, "Newer") : null,
      data.before ? h(Button, { type: "button", size: "sm", outlined: true, onClick: () => setOlder([...older, data.before]) }, data.whole ? "Older" : "Look further back") : null),
    page === null && !problem ? h(Note, null, "Loading…") : null,
    page && !data.calls.length ? h(Note, null, data.nothing || (data.whole ? "No call is like that." : `No call is like that behind #${data.before}.`)) : null,
    data.calls.length ? h("table", { className: "al-table al-feed" },
      h("thead", null, h("tr", null, ["Call", "Issued", "Status", "Tool", "What", "Took"].map((name) => h("th", { key: name, scope: "col" }, name)))),
      h("tbody", null, data.calls.map((call) => h(Line, {
        key: call.id, call, open: call.id === chosen, toggle: () => setChosen(call.id === chosen ? 0 : call.id),
        showSession, onSettled: () => { changed(); load(() => false); },
      })))) : null,
    page && data.calls.length && !data.whole ? h(Note, null, `Looked through the calls down to #${data.before}.`) : null);
}

/* New calls in front, open ones as they stand by now. */
function merged(was, news) {
  const now = new Map(news.open.map((call) => [call.id, call]));
  const calls = [...news.calls, ...was.calls.map((call) => now.get(call.id) || call)];
  return { ...was, calls: calls.slice(0, MOST_SHOWN), before: calls.length > MOST_SHOWN ? calls[MOST_SHOWN - 1].id : was.before, newest: news.newest };
}

function Field({ label, id, value, onChange, placeholder }) {
  return h("div", { className: "al-field" }, h(Label, { htmlFor: id }, label),
    h(Input, { id, value, placeholder, maxLength: 200, spellCheck: false, autoComplete: "off", onChange: (event) => onChange(event.target.value) }));
}

function Line({ call, open, toggle, showSession, onSettled }) {
  const what = (call.summary || "").startsWith(call.tool_name + " ") ? call.summary.slice(call.tool_name.length + 1) : call.summary;
  return h(window.__HERMES_PLUGIN_SDK__.React.Fragment, null,
    h("tr", { className: open ? "al-open" : "" },
      h("td", { "data-name": "Call" }, h("button", { type: "button", className: "al-link", "aria-expanded": open, onClick: toggle }, `#${call.id}`)),
      h("td", { "data-name": "Issued" }, h(When, { ts: call.ts })),
      h("td", { "data-name": "Status" }, h(Status, { call })),
      h("td", { "data-name": "Tool", className: "al-mono" }, call.tool_name),
      h("td", { "data-name": "What", className: "al-mono al-wide" }, (call.outer_id === null ? "" : "↳ ") + (what || "–")),
      h("td", { "data-name": "Took" }, duration(call.duration_ms))),
    open ? h("tr", { className: "al-detail" }, h("td", { colSpan: 6 }, h(Life, { id: call.id, showSession, onSettled }))) : null);
}
