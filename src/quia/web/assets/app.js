// The page: a question (model, facts, what is given) in, an answer shown; every settled question is a step of the
// browser's history, so that back and forward work.
import { make, nominalField, numericField, options } from "/assets/fields.js";

const FEW = 30; // so many features are all shown; of more, those that matter
const $ = (id) => document.getElementById(id);

let model = null; // what the server says of the chosen model
let question = null; // { model, instance, against, frozen, costs, without, row }
let kept = null; // the instance to compare with
let fields = new Map();
let answered = null; // the last answer
let running = null; // the request under way
let data = null; // the table, if one was given
let largest = Infinity;
const past = [];

const say = (text) => { $("alert").textContent = text; $("alert").hidden = !text; };

const ask = async (path, options = {}) => {
  const response = await fetch(path, options);
  if (response.ok) return response;
  const fault = await response.json().catch(() => ({}));
  throw new Error(fault.error ?? `The server answered ${response.status}.`);
};
const post = (path, body, signal) => ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
const asked = ({ instance, against, frozen, costs, without }) => ({ instance, against, frozen, costs, without });

// --- the answer

const update = async ({ settled = true, remember = settled } = {}) => {
  running?.abort();
  const mine = running = new AbortController();
  $("explanation").classList.add("waiting");
  try {
    const base = `/api/models/${model.id}`;
    const [answer, comparison] = await Promise.all([
      post(`${base}/explain`, asked(question), mine.signal).then((response) => response.json()),
      kept && post(`${base}/compare`, { one: kept, other: question.instance }, mine.signal).then((response) => response.json()),
    ]);
    if (mine.signal.aborted) return;
    say("");
    question.against = answer.explanation.against; // none, if the edit led to the class that was asked about
    show(answer, comparison);
    if (remember) push();
  } catch (fault) {
    if (mine.signal.aborted) return;
    say(fault.message);
  } finally {
    if (running === mine) { running = null; $("explanation").classList.remove("waiting"); }
  }
};

const parsed = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html; // made by the server, which escapes every text; the page's policy runs no script in it
  return template.content;
};

const show = (answer, comparison) => {
  answered = answer;
  const { explanation } = answer;
  $("decision").textContent = explanation.against === null ? `Decision: ${explanation.decision}` : `Decision: ${explanation.decision}, not ${explanation.against}`;
  document.title = `${explanation.decision} · ${model.name} · quia`;
  showAgainst(explanation);
  showWithout(answer.without);
  replaceFolded($("explanation"), parsed(answer.html));
  $("compared").hidden = !comparison;
  if (comparison) $("comparison").replaceChildren(parsed(comparison.html));
  for (const [name, field] of fields) {
    field.set(question.instance[name]);
    field.place(explanation.states[name], question.instance[name]);
    field.element.classList.toggle("gone", field.options.set(question));
  }
  showFields();
};

// What was unfolded, scrolled or lit stays so when an edit brings a new answer.
const replaceFolded = (place, content) => {
  const key = (details, counts) => {
    const part = details.closest(".part")?.className ?? "";
    counts[part] = (counts[part] ?? -1) + 1;
    return `${part} ${counts[part]}`;
  };
  const folds = new Map();
  const before = {};
  for (const details of place.querySelectorAll("details")) folds.set(key(details, before), details.open);
  const pressed = place.querySelector('.light[aria-pressed="true"]')?.closest(".card").dataset.fs;
  const scrolled = place.querySelector(".drawing")?.scrollLeft;
  place.replaceChildren(content);
  const after = {};
  for (const details of place.querySelectorAll("details")) {
    const open = folds.get(key(details, after));
    if (open !== undefined) details.open = open;
  }
  if (pressed !== undefined) place.querySelector(`.card[data-fs="${pressed}"] .light`)?.click();
  const drawing = place.querySelector(".drawing");
  if (drawing) drawing.scrollLeft = scrolled ?? drawing.dataset.root - drawing.clientWidth / 2;
};

const showAgainst = (explanation) => {
  const others = model.classes.filter((name) => name !== explanation.decision);
  $("against").replaceChildren(make("option", { value: "" }, "…"), ...others.map((name) => make("option", { value: name }, `${name}?`)));
  $("against").value = explanation.against ?? "";
};

const showWithout = (without) => {
  $("without").hidden = !without;
  if (!without) return;
  const names = without.features.join(", ");
  const changed = Object.entries(without.changes).map(([name, state]) => `${name} ${/^[<>(\[]/.test(state) ? state : `= ${state}`}`).join(" and ");
  $("without").textContent = without.holds
    ? `Without ${names} the decision still stands: the other facts force it.`
    : `Without ${names} the decision no longer stands: with ${changed} it would be ${without.decision}.`;
  $("without").className = without.holds ? "without holds" : "without falls";
};

// --- the form

const showFields = () => {
  const wanted = $("filter").value.trim().toLowerCase();
  const many = fields.size > FEW && !$("all").checked;
  const matter = new Set(answered?.mentioned ?? []);
  for (const [name, field] of fields) {
    const mine = question.frozen.includes(name) || question.without.includes(name) || name in question.costs;
    field.element.hidden = wanted ? !name.toLowerCase().includes(wanted) : many && !matter.has(name) && !mine;
  }
};

const build = () => {
  fields = new Map();
  const shown = model.variables.map((variable, number) => {
    const field = (variable.kind === "numeric" ? numericField : nominalField)(variable, number, edit);
    const more = options(variable, number, toggle);
    const element = make("div", { class: "field", role: "group", "aria-label": variable.name },
      make("div", { class: "top" }, make("label", { class: "name", for: field.labelled }, variable.name), more.tags, ...(field.top ? [field.top] : [])),
      make("div", { class: "control" }, ...field.parts),
      ...(variable.tested ? [more.shown] : [make("span", { class: "counts" }, "never tested by the model")]));
    fields.set(variable.name, { ...field, element, options: more });
    return element;
  });
  $("fields").replaceChildren(...shown);
  $("all-label").hidden = fields.size <= FEW;
  $("all-count").textContent = String(fields.size);
  $("filter").value = "";
};

const edit = (name, value, settled) => {
  if (settled && Object.is(question.instance[name], value) && history.state?.question?.instance?.[name] === value) return;
  question = { ...question, instance: { ...question.instance, [name]: value } };
  update({ settled });
};

const toggle = (what, name, value) => {
  if (what === "cost") {
    const { [name]: _, ...costs } = question.costs;
    question = { ...question, costs: value > 0 ? { ...costs, [name]: value } : costs };
  } else {
    const rest = question[what].filter((other) => other !== name);
    question = { ...question, [what]: value ? [...rest, name] : rest };
  }
  update();
};

// --- history

const push = () => {
  const state = { question, kept };
  if (JSON.stringify(history.state) === JSON.stringify(state)) return;
  history[history.state?.question ? "pushState" : "replaceState"](state, "", `#${past.length + 1}`);
  past.unshift({ state, decision: answered.explanation.decision, text: difference(past[0]?.state.question, question) });
  past.length = Math.min(past.length, 30);
  $("history").hidden = past.length < 2;
  $("past").replaceChildren(...past.map((entry) => {
    const button = make("button", { type: "button" }, `${entry.decision} — ${entry.text}`);
    button.addEventListener("click", () => restore(entry.state, { remember: true }));
    return make("li", {}, button);
  }));
};

const difference = (before, now) => {
  if (!before || before.model !== now.model) return "begin";
  const changed = Object.keys(now.instance).filter((name) => before.instance[name] !== now.instance[name]);
  if (changed.length > 2) return now.row ? `row ${now.row}` : `${changed.length} facts changed`;
  if (changed.length) return changed.map((name) => `${name}: ${now.instance[name]}`).join(", ");
  if (before.against !== now.against) return now.against === null ? "why" : `why not ${now.against}`;
  return "what is given changed";
};

const restore = async (state, { remember = false } = {}) => {
  if (!state?.question) return;
  if (state.question.model !== model?.id) await choose(state.question.model, { begin: false });
  ({ question, kept } = state);
  if (question.row) $("row").value = question.row;
  await update({ remember });
};

// --- models and rows

const choose = async (id, { begin = true, described = null } = {}) => {
  try {
    model = described ?? await (await ask(`/api/models/${encodeURIComponent(id)}`)).json();
  } catch (fault) { say(fault.message); return; }
  say("");
  kept = null;
  answered = null;
  $("model").value = model.id;
  $("welcome").hidden = true;
  $("work").hidden = false;
  build();
  if (!begin) return;
  question = { model: model.id, instance: model.example, against: null, frozen: [], costs: {}, without: [], row: null };
  if (data) await pick(1);
  else await update();
};

const pick = async (number) => {
  const wanted = Math.min(Math.max(1, number || 1), data.rows);
  $("row").value = wanted;
  try {
    const { rows: [row] } = await (await ask(`/api/rows?start=${wanted}&count=1`)).json();
    const known = Object.fromEntries(model.variables.filter(({ name }) => name in row).map(({ name }) => [name, row[name]]));
    question = { ...question, instance: { ...model.example, ...known }, against: null, row: wanted };
    await update();
  } catch (fault) { say(fault.message); }
};

const list = (models) => {
  $("model").replaceChildren(...models.map(({ id, name }) => make("option", { value: id }, name)));
  $("model-picker").hidden = models.length < 1;
};

const drop = async (file) => {
  if (!file) return;
  if (file.size > largest) { say(`${file.name} holds ${file.size.toLocaleString("en")} bytes; at most ${largest.toLocaleString("en")} are read.`); return; }
  say(`Reading ${file.name} …`);
  try {
    const described = await (await ask(`/api/models?name=${encodeURIComponent(file.name.slice(0, 200))}`,
      { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file })).json();
    list((await (await ask("/api/models")).json()).models);
    await choose(described.id, { described });
  } catch (fault) { say(fault.message); }
};

const save = (name, blob) => {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

// --- wiring

$("model").addEventListener("change", () => choose($("model").value));
$("file").addEventListener("change", () => { drop($("file").files[0]); $("file").value = ""; });
$("against").addEventListener("change", () => { question = { ...question, against: $("against").value || null }; update(); });
$("filter").addEventListener("input", showFields);
$("all").addEventListener("change", showFields);
$("row").addEventListener("change", () => pick($("row").valueAsNumber));
$("row-before").addEventListener("click", () => pick($("row").valueAsNumber - 1));
$("row-after").addEventListener("click", () => pick($("row").valueAsNumber + 1));
$("keep").addEventListener("click", () => { kept = question.instance; update(); });
$("stop").addEventListener("click", () => { kept = null; update(); });
$("json").addEventListener("click", () => save("quia-explanation.json", new Blob([JSON.stringify(answered.explanation, null, 2)], { type: "application/json" })));
$("report").addEventListener("click", async () => {
  try { save("quia-report.html", await (await post(`/api/models/${model.id}/report`, asked(question))).blob()); } catch (fault) { say(fault.message); }
});
addEventListener("popstate", (event) => restore(event.state));
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dragging"); });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dragging"); });
addEventListener("drop", (event) => { event.preventDefault(); document.body.classList.remove("dragging"); drop(event.dataTransfer?.files[0]); });

const begin = async () => {
  const found = await (await ask("/api/models")).json();
  ({ data, largest } = found);
  list(found.models);
  if (data) {
    $("row-picker").hidden = false;
    $("row-count").textContent = `of ${data.rows.toLocaleString("en")}`;
  }
  if (found.models.some(({ id }) => id === history.state?.question?.model)) await restore(history.state);
  else if (found.models.length) await choose(found.models[0].id);
  else $("welcome").hidden = false;
};
begin().catch((fault) => say(fault.message));
