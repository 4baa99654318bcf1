// One field of the form for each of the model's variables: a slider with the cuts marked, or a choice.

const STEPS = 20; // places of the slider in each interval
const PLACES = 400; // places of the slider of a number that has a range and no cuts

export const make = (tag, attributes = {}, ...children) => {
  const made = tag === "svg" || tag === "path" || tag === "rect"
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

// Each interval between two cuts has the same room on the slider, however wide it is: cuts that lie close
// together could not be told apart otherwise.
const ends = (cuts, state) => {
  const finite = cuts.map((cut) => cut ?? 0);
  const span = finite.length > 1 ? (finite.at(-1) - finite[0]) / (finite.length - 1) : Math.abs(finite[0] ?? 0) / 2;
  const room = span > 0 ? span : 1;
  const low = state > 0 ? finite[state - 1] : finite.length ? finite[0] - room : -1;
  const high = state < finite.length ? finite[state] : finite.length ? finite.at(-1) + room : 1;
  return [low, high];
};

// The number with the fewest digits near a share of the way between two others, and truly between them.
const between = (low, high, share, near = (high - low) / 4) => {
  const exact = low + (high - low) * share;
  for (let digits = 1; digits < 17; digits += 1) {
    const tried = Number(exact.toPrecision(digits));
    if (tried > low && tried < high && Math.abs(tried - exact) <= near) return tried;
  }
  return exact;
};

// Where on its slider a number is, and back: among cuts, or on the way from one end of its range to the other.
const scale = ({ cuts, range, states }) => {
  if (!range) {
    return { last: (cuts.length + 1) * STEPS - 1, value: (place) => valueAt(cuts, place),
      place: (value, text) => placeOf(cuts, value, states.indexOf(text)) };
  }
  const [low, high] = range;
  const value = (place) => place <= 0 ? low : place >= PLACES ? high
    : between(low, high, place / PLACES, (high - low) / PLACES / 2);
  const place = (number) => high > low ? Math.round(((number - low) / (high - low)) * PLACES) : 0;
  return { last: PLACES, value, place };
};

const valueAt = (cuts, place) => {
  const state = Math.min(Math.floor(place / STEPS), cuts.length);
  const [low, high] = ends(cuts, state);
  return between(low, high, (place - state * STEPS + 0.5) / (STEPS + 1));
};

const placeOf = (cuts, value, state) => {
  const [low, high] = ends(cuts, state);
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return state * STEPS + Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS + 1) - 0.5)));
};

// As the server has it, for values that are no state's own name.
export const isMissing = (value) => value === null || value === undefined || ["", "?"].includes(String(value).trim());

// A state as people read it: the server says so, beside the name that the state goes by.
export const readable = ({ states, signs }, state) => signs[states.indexOf(state)];

const cutStrip = (count) => {
  const marks = Array.from({ length: count }, (_, n) => `M${((n + 1) * 100) / (count + 1)} 0v10`).join("");
  const here = make("rect", { class: "here", y: "3", height: "4", width: String(100 / (count + 1)) });
  const strip = make("svg", { class: "cuts", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("rect", { class: "track", y: "3", height: "4", width: "100" }), here, make("path", { class: "ticks", d: marks }));
  return { strip, show: (state) => here.setAttribute("x", String((state * 100) / (count + 1))) };
};

// `changed(name, value, settled)` is called while a slider moves, and once more, settled, when it rests.
export const numericField = (variable, number, changed) => {
  const { name, cuts, range } = variable;
  const along = scale(variable);
  const box = make("input", { type: "number", step: "any", class: "number", id: `value-${number}` });
  const slider = make("input", { type: "range", min: "0", max: String(along.last), step: "1", "aria-label": `${name}, slider` });
  const { strip, show } = cutStrip(cuts.length);
  const counts = make("span", { class: "counts" });
  const missing = make("input", { type: "checkbox" });
  const label = make("label", { class: "counts" }, " ", missing, variable.missing ? " missing" : " not known");
  label.hidden = !variable.missing;

  slider.addEventListener("input", () => { box.value = String(along.value(slider.valueAsNumber)); changed(name, box.valueAsNumber, false); });
  slider.addEventListener("change", () => changed(name, box.valueAsNumber, true));
  box.addEventListener("input", () => { if (!Number.isNaN(box.valueAsNumber)) changed(name, box.valueAsNumber, false); });
  let last = "";
  box.addEventListener("change", () => { if (Number.isNaN(box.valueAsNumber)) box.value = last; else changed(name, box.valueAsNumber, true); });
  missing.addEventListener("change", () => changed(name, missing.checked ? null : along.value(slider.valueAsNumber), true));

  const set = (value) => {
    const gone = isMissing(value);
    missing.checked = gone;
    if (gone) label.hidden = false; // a value can be given again, and taken away again
    box.disabled = slider.disabled = gone;
    last = gone ? "" : String(value);
    if (!gone && document.activeElement !== box) box.value = last;
    if (gone) box.value = "";
  };
  // The server says which state a value is in: it alone compares as the model does.
  const place = (text, value) => {
    if (range) {
      counts.textContent = `from ${range[0]} to ${range[1]}`;
      if (isMissing(value)) return;
      slider.setAttribute("aria-valuetext", `${value}, from ${range[0]} to ${range[1]}`);
      if (document.activeElement !== slider) slider.value = String(along.place(Number(value)));
      return;
    }
    const state = variable.states.indexOf(text);
    counts.textContent = text === undefined ? "" : `counts as ${readable(variable, text)}`;
    if (state < 0 || state > cuts.length) return;
    show(state);
    slider.setAttribute("aria-valuetext", `${value}, ${readable(variable, text)}`);
    if (document.activeElement !== slider) slider.value = String(along.place(Number(value), text));
  };
  const parts = [slider, ...(cuts.length ? [strip] : []), counts];
  parts.push(label);
  return { top: box, labelled: `value-${number}`, parts, set, place };
};

export const nominalField = (variable, number, changed) => {
  const select = make("select", { id: `value-${number}` }, ...variable.states.map((state) => make("option", { value: state }, readable(variable, state))));
  const unknown = make("option", { value: "" }, "not known");
  const isUnknown = () => select.selectedOptions[0] === unknown;
  select.addEventListener("change", () => changed(variable.name, isUnknown() ? null : select.value, true));
  return { top: null, labelled: `value-${number}`, parts: [select], set: (value) => {
    if (isMissing(value) && !variable.states.includes(String(value))) {
      select.append(unknown);
      unknown.selected = true;
    }
    // A value may be spelled otherwise, 1 for "1"; the server says which state it is.
    if (variable.states.includes(String(value))) select.value = String(value);
  }, place: (text) => { if (text !== undefined) select.value = text; } };
};
