/* What every part of the tab uses: the host's components, questions to the API, and how values look.
   Stored text reaches the page only as React text, never as markup. */

const SDK = window.__HERMES_PLUGIN_SDK__;

export const h = SDK.React.createElement;
export const { useCallback, useEffect, useRef, useState } = SDK.hooks;
export const {
  Badge, Button, Card, CardContent, CardHeader, CardTitle, Input, Label, Select, SelectOption, TabsList, TabsTrigger,
} = SDK.components;

const API = "/api/plugins/agent-ledger";

/* The path of a question: `query` without what is empty. */
export function path(name, query) {
  const given = Object.entries(query || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return API + name + (given.length ? "?" + new URLSearchParams(given) : "");
}

export function ask(name, query) {
  return SDK.fetchJSON(path(name, query));
}

export function settle(id, effect, note) {
  return SDK.fetchJSON(path(`/calls/${id}/settle`), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ effect, note }),
  });
}

/* The host's client throws "503: {"detail": "..."}"; people want the detail. */
export function reason(error) {
  const text = String((error && error.message) || error);
  try {
    const detail = JSON.parse(text.replace(/^\d{3}:\s*/, "")).detail;
    if (typeof detail === "string") return detail;
  } catch {
    /* not of the API: as it is */
  }
  return text;
}

/* Calls `work` now and every `seconds` while the page is visible, and stops with the component. */
export function useEvery(seconds, work, depends) {
  useEffect(() => {
    let over = false;
    let timer = 0;
    const tick = async () => {
      if (document.visibilityState === "visible") await work(() => over);
      if (!over && seconds) timer = setTimeout(tick, seconds * 1000);
    };
    tick();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, depends);
}

/* {data, problem, busy, again} of one question, asked again every `seconds` (0: once). The last answer stays in sight
   while the next one is on its way. */
export function useAnswer(name, query, seconds) {
  const [state, setState] = useState({ data: null, problem: "", busy: true });
  const [turn, setTurn] = useState(0);
  const address = path(name, query);
  useEvery(seconds, async (over) => {
    setState((was) => ({ ...was, busy: true }));
    try {
      const data = await SDK.fetchJSON(address);
      if (!over()) setState({ data, problem: "", busy: false });
    } catch (error) {
      if (!over()) setState((was) => ({ ...was, problem: reason(error), busy: false }));
    }
  }, [address, seconds, turn]);
  return { ...state, again: () => setTurn((was) => was + 1) };
}

const numbers = new Intl.NumberFormat();
export const number = (value) => (typeof value === "number" ? numbers.format(value) : String(value ?? "–"));
export const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

export function age(seconds) {
  if (typeof seconds !== "number") return "";
  const span = Math.abs(seconds);
  const [size, unit] = span < 100 ? [1, "s"] : span < 6000 ? [60, "min"] : span < 172800 ? [3600, "h"] : [86400, "d"];
  return seconds < -1 ? `in ${Math.floor(span / size)} ${unit}` : `${Math.floor(span / size)} ${unit} ago`;
}

/* A ledger time in local time; the time as it is stored stands in the title. */
export function When({ ts, seconds }) {
  if (!ts) return h("span", null, "never");
  const moment = new Date(ts);
  if (Number.isNaN(moment.getTime())) return h("span", null, ts);
  const today = moment.toDateString() === new Date().toDateString();
  const text = today ? moment.toLocaleTimeString() : moment.toLocaleString();
  return h("time", { dateTime: ts, title: ts }, text, seconds === undefined ? null : ` (${age(seconds)})`);
}

export function duration(milliseconds) {
  if (typeof milliseconds !== "number") return "";
  return milliseconds < 1000 ? `${milliseconds} ms` : `${number(Math.round(milliseconds / 100) / 10)} s`;
}

export function size(bytes) {
  let value = bytes;
  for (const unit of ["bytes", "KiB", "MiB"]) {
    if (value < 1024) return `${number(Math.round(value * 10) / 10)} ${unit}`;
    value /= 1024;
  }
  return `${number(Math.round(value * 10) / 10)} GiB`;
}

/* The host's badge; `al-…` makes its words readable in light themes too. */
export function Mark({ tone, children }) {
  return h(Badge, { tone, className: `al-badge al-${tone}` }, children);
}

function tone(status, effect) {
  if (status === "CONFIRMED") return "success";
  if (status === "PENDING") return "secondary";
  if (status === "GHOST_REPORTED") return effect === "unknown" ? "destructive" : "outline";
  return effect === "none" ? "outline" : "warning";
}

export function Status({ call }) {
  return h(Mark, { tone: tone(call.status, call.effect) }, call.status.replace("ERROR:", "error: "));
}

/* A card with a title, and buttons or notes at its right. */
export function Panel({ title, side, children, className }) {
  return h(Card, { className },
    h(CardHeader, null, h("div", { className: "al-head" }, h(CardTitle, null, title), side ? h("div", { className: "al-side" }, side) : null)),
    h(CardContent, null, children));
}

export const Note = ({ children }) => h("p", { className: "al-note" }, children);
export const Problem = ({ text }) => (text ? h("p", { className: "al-problem", role: "alert" }, text) : null);

/* Name and value beside each other, without what is empty. */
export function Facts({ of }) {
  const given = of.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return h("dl", { className: "al-facts" },
    given.map(([name, value]) => h("div", { key: name }, h("dt", null, name), h("dd", null, value))));
}

/* Choices as a row of buttons. `of`: [value, label] pairs. */
export function Choice({ label, value, of, onChange }) {
  return h("div", { className: "al-choice", role: "group", "aria-label": label },
    of.map(([key, text]) => h(Button, {
      key, type: "button", size: "sm", outlined: key !== value, "aria-pressed": key === value, onClick: () => onChange(key),
    }, text)));
}
