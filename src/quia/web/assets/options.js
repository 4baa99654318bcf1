// What can be said of each feature beside its value: what it can be, which way it can go and how far, what a change of
// it costs, whether it is protected; and all that was said, as a list that can be taken back one by one.
import { isMissing, make, readable } from "/assets/fields.js";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const REACH = /^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*%?$/i; // a number from 0 on, or a share of its range
const LARGEST_COST = 1e9;
const MANY = 6; // with so many states, one click leaves only the present one
const WAYS = [["any", "either way"], ["only_up", "only up"], ["only_down", "only down"], ["frozen", "not at all"]];

// What a question says when nothing was set.
export const NOTHING = { within: {}, only_up: [], only_down: [], near: {}, given: "", frozen: [], costs: {}, protected: [], without: [] };

export const wayOf = (question, name) => ["frozen", "only_up", "only_down"].find((way) => question[way].includes(name)) ?? "any";

// A condition as the server reads it. What was typed is kept as { from, to, missing }; what the page began with is text.
export const condition = (said) => {
  if (typeof said === "string" || Array.isArray(said)) return said;
  const { from = "", to = "", missing = false } = said;
  const bounds = from && to ? `[${from}, ${to}]` : from ? `>= ${from}` : to ? `<= ${to}` : "not missing";
  return missing ? `${bounds} or missing` : bounds;
};

const bounded = ({ from, to, missing }) => `${from ? `from ${from}` : ""}${from && to ? " " : ""}${to ? `to ${to}` : ""}${missing ? " or missing" : ""}`;
const worded = (said) => typeof said === "string" ? said : Array.isArray(said) ? `is ${said.join(" or ")}` : bounded(said);

// The question with something else said of a feature; `undefined` takes it back.
export const saying = (question, what, name, value) => {
  if (what === "way") {
    const ways = ["frozen", "only_up", "only_down"].map((way) => {
      const rest = question[way].filter((other) => other !== name);
      return [way, way === value ? [...rest, name] : rest];
    });
    return { ...question, ...Object.fromEntries(ways) };
  }
  if (Array.isArray(question[what])) {
    const rest = question[what].filter((other) => other !== name);
    return { ...question, [what]: value ? [...rest, name] : rest };
  }
  const { [name]: _, ...rest } = question[what];
  return { ...question, [what]: value === undefined ? rest : { ...rest, [name]: value } };
};

// All that was said of single features: { text, what, name }.
export const allSaid = (question) => [
  ...question.protected.map((name) => ({ name, what: "protected", text: `${name} protected` })),
  ...question.frozen.map((name) => ({ name, what: "way", text: `${name} cannot change` })),
  ...question.only_up.map((name) => ({ name, what: "way", text: `${name} only up` })),
  ...question.only_down.map((name) => ({ name, what: "way", text: `${name} only down` })),
  ...Object.entries(question.near).map(([name, reach]) => ({ name, what: "near", text: `${name} by at most ${reach}` })),
  ...Object.entries(question.within).map(([name, said]) => ({ name, what: "within", text: `${name} ${worded(said)}` })),
  ...Object.entries(question.costs).map(([name, cost]) => ({ name, what: "costs", text: `${name} costs ${cost}` })),
  ...question.without.map((name) => ({ name, what: "without", text: `${name} taken away` })),
];

// A place for what is wrong with an input, which keeps what was typed.
const faultOf = (inputs, number, what) => {
  const place = make("p", { class: "fault", role: "alert", id: `fault-${what}-${number}` });
  place.hidden = true;
  const tell = (text) => {
    if (place.textContent !== text) place.textContent = text;
    place.hidden = !text;
    for (const input of inputs) {
      if (text) { input.setAttribute("aria-invalid", "true"); input.setAttribute("aria-describedby", place.id); }
      else { input.removeAttribute("aria-invalid"); input.removeAttribute("aria-describedby"); }
    }
  };
  return { place, tell, own: "" };
};

const small = (what, attributes = {}) => make("input", { type: "text", class: "small", "data-do": what, autocomplete: "off", ...attributes });
const row = (said, control, tag = "label") => make(tag, { class: "row" }, make("span", { class: "what" }, said), control);

// A text that must be of some form before it is said; it stays as it was typed until it is.
const checked = (input, fault, isRight, complaint, said) => input.addEventListener("change", () => {
  const text = input.value.trim();
  fault.own = text === "" || isRight(text) ? "" : complaint(text);
  fault.tell(fault.own);
  if (!fault.own) said(text);
});
const show = (input, fault, value) => { if (document.activeElement !== input && !fault.own) input.value = value; };

const direction = (variable, number, toggled) => {
  const { name } = variable;
  if (variable.kind === "nominal") {
    const frozen = make("input", { type: "checkbox", "data-do": "freeze" });
    frozen.addEventListener("change", () => toggled("way", name, frozen.checked ? "frozen" : "any"));
    return { parts: [make("label", {}, frozen, " cannot change")], set: (question) => { frozen.checked = wayOf(question, name) === "frozen"; } };
  }
  const ways = make("select", { "data-do": "way" }, ...WAYS.map(([way, said]) => make("option", { value: way }, said)));
  const near = small("near", { placeholder: "any" });
  const fault = faultOf([near], number, "near");
  ways.addEventListener("change", () => toggled("way", name, ways.value));
  checked(near, fault, (text) => REACH.test(text), (text) => `${text} is no distance; write a number from 0 on, or a share of its range such as 10%.`,
    (text) => toggled("near", name, text === "" ? undefined : text.endsWith("%") ? text : Number(text)));
  return { parts: [row("Can change", ways), row("by at most", near), fault.place], faults: { near: fault }, set: (question) => {
    ways.value = wayOf(question, name);
    show(near, fault, question.near[name] ?? "");
  } };
};

// What a number can be: between two others, or what a text says, if the page began with one.
const numbers = (variable, number, toggled) => {
  const { name } = variable;
  const from = small("from", { placeholder: "any", "aria-label": "can be from" });
  const to = small("to", { placeholder: "any", "aria-label": "can be to" });
  const missing = make("input", { type: "checkbox", "data-do": "missing" });
  const orMissing = make("label", { class: "or" }, missing, " or missing");
  const text = small("within");
  const fault = faultOf([from, to, text], number, "within");
  const between = row("Can be", make("span", {}, "from ", from, " to ", to, " ", orMissing), "div");
  const only = row("Can be only", text);
  const say = () => {
    const said = { from: from.value.trim(), to: to.value.trim(), missing: missing.checked };
    const wrong = [said.from, said.to].find((one) => one !== "" && !NUMBER.test(one));
    fault.own = wrong === undefined ? "" : `${wrong} is no number; write one such as 52, or nothing where there is no bound.`;
    fault.tell(fault.own);
    if (!fault.own) toggled("within", name, said.from || said.to ? said : undefined);
  };
  for (const input of [from, to, missing]) input.addEventListener("change", say);
  text.addEventListener("change", () => toggled("within", name, text.value.trim() || undefined));
  return { parts: [between, only, fault.place], faults: { within: fault }, set: (question) => {
    const said = question.within[name];
    const typed = said === undefined || !(typeof said === "string" || Array.isArray(said));
    between.hidden = !typed;
    only.hidden = typed;
    orMissing.hidden = !variable.missing || said === undefined;
    if (typed) {
      show(from, fault, said?.from ?? "");
      show(to, fault, said?.to ?? "");
      if (!fault.own) missing.checked = said?.missing ?? false;
    } else show(text, fault, [said].flat().join(" or "));
  } };
};

// Which states a name can be in: all, unless some are unticked.
const names = (variable, number, toggled) => {
  const { name, states } = variable;
  const boxes = states.map((state) => {
    const box = make("input", { type: "checkbox", "data-do": "state", value: state });
    return { state, box, label: make("label", {}, box, ` ${readable(variable, state)}`) };
  });
  let present;
  const fault = faultOf(boxes.map(({ box }) => box), number, "within");
  const said = (left) => toggled("within", name, left.length === states.length ? undefined : left);
  for (const { box } of boxes) box.addEventListener("change", () => said(boxes.filter((one) => one.box.checked).map(({ state }) => state)));
  const all = make("button", { type: "button", class: "plain" }, "all");
  const only = make("button", { type: "button", class: "plain" }, "only the present one");
  all.addEventListener("click", () => said(states));
  only.addEventListener("click", () => said(states.filter((state) => state === present)));
  const quick = states.length < MANY ? [] : [make("span", { class: "quick" }, all, " ", only)];
  const group = make("fieldset", { class: "states-possible" }, make("legend", {}, "Can be"), ...quick, make("div", { class: "ticks-list" }, ...boxes.map(({ label }) => label)));
  return { parts: states.length > 1 ? [group, fault.place] : [], faults: { within: fault }, set: (question, state) => {
    present = state ?? String(question.instance[name]);
    const left = question.within[name];
    for (const { state: one, box } of boxes) {
      box.checked = left === undefined || left.includes(one);
      box.disabled = one === present && box.checked; // the instance itself must stay possible
    }
  } };
};

// `toggled(what, name, value)` is called when something is said of the feature; undefined takes it back.
export const options = (variable, number, toggled) => {
  const { name } = variable;
  const change = direction(variable, number, toggled);
  const possible = (variable.kind === "nominal" ? names : numbers)(variable, number, toggled);
  const gone = make("input", { type: "checkbox", "data-do": "without" });
  const guarded = make("input", { type: "checkbox", "data-do": "protected" });
  const cost = small("cost", { placeholder: "1", inputmode: "decimal" });
  const fault = faultOf([cost], number, "cost");
  gone.addEventListener("change", () => toggled("without", name, gone.checked));
  guarded.addEventListener("change", () => toggled("protected", name, guarded.checked));
  checked(cost, fault, (text) => NUMBER.test(text) && Number(text) > 0 && Number(text) <= LARGEST_COST,
    (text) => `${text} is no cost; write a number above 0, such as 3 for what is three times as hard as the others.`,
    (text) => toggled("costs", name, text === "" ? undefined : Number(text)));
  const tags = make("span", { class: "tags" });
  const shown = make("details", { class: "more" }, make("summary", { "aria-label": `Options for ${name}` }, "Options"),
    make("div", { class: "options" },
      ...change.parts,
      ...possible.parts,
      make("div", { class: "with-hint" }, row("A change costs", cost), make("span", { class: "hint" }, "others cost 1")),
      fault.place,
      make("label", {}, guarded, " protected: does the decision hang on it?"),
      make("label", {}, gone, " take this fact away")));
  const places = { ...change.faults, ...possible.faults, costs: fault };
  const set = (question, state) => {
    change.set(question);
    possible.set(question, state);
    gone.checked = question.without.includes(name);
    guarded.checked = question.protected.includes(name);
    show(cost, fault, question.costs[name] ?? "");
    const { instance, begun } = question;
    const named = variable.kind === "nominal" && variable.states.includes(String(begun[name]).trim());
    const before = isMissing(begun[name]) && !named ? "missing" : String(begun[name]).trim() || "''";
    const was = instance[name] === begun[name] ? "" : `was ${before}`;
    const way = wayOf(question, name), reach = question.near[name], said = question.within[name];
    tags.textContent = [was, { frozen: "given", only_up: "only up", only_down: "only down" }[way], reach !== undefined && `within ${reach}`,
      said !== undefined && (Array.isArray(said) && variable.kind === "nominal" ? `${said.length} of ${variable.states.length} possible` : worded(said)),
      question.costs[name] && `cost ${question.costs[name]}`, guarded.checked && "protected", gone.checked && "taken away"]
      .filter(Boolean).join(", ");
    return gone.checked;
  };
  // What the server says cannot be is told beside what says it; gives whether it can be seen.
  const tell = (faults) => {
    for (const [option, place] of Object.entries(places)) {
      const found = faults.find((one) => one.option === option);
      place.tell(found ? `${found.error}.` : place.own);
    }
    if (faults.length) shown.open = true;
    return shown.offsetParent !== null;
  };
  const forget = () => { for (const place of Object.values(places)) place.own = ""; };
  return { shown, tags, set, tell, forget };
};
