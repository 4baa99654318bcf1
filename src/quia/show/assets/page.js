// Selecting a reason lights its features wherever they are on the page; Escape, or selecting it again, puts them out.
(() => {
  if (window.quiaLights) return; // a notebook may show many explanations, each with this script
  window.quiaLights = true;

  const light = (article, features) => {
    for (const shown of article.querySelectorAll("[data-f]"))
      shown.classList.toggle("lit-now", features.has(shown.dataset.f));
  };

  const clear = (article) => {
    for (const pressed of article.querySelectorAll('.light[aria-pressed="true"]')) pressed.setAttribute("aria-pressed", "false");
    light(article, new Set());
  };

  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target?.closest(".quia .try")) return; // what is tried is made anew
    const button = target?.closest(".quia .light") ?? target?.closest(".quia .card")?.querySelector(".light");
    if (button) {
      const article = button.closest(".quia");
      const wasPressed = button.getAttribute("aria-pressed") === "true";
      clear(article);
      if (!wasPressed) {
        button.setAttribute("aria-pressed", "true");
        light(article, new Set(button.closest(".card").dataset.fs.split(" ")));
      }
      return;
    }
    const stub = target?.closest(".quia .drawing a");
    if (stub) {
      const step = document.getElementById(stub.getAttribute("href").slice(1));
      const folded = step?.querySelector("details");
      if (folded) {
        event.preventDefault();
        folded.open = true;
        folded.querySelector("summary").focus();
      }
    }
  });

  // A drawing that is wider than the page is seen from its root on, when it is unfolded.
  const centred = new WeakSet();
  document.addEventListener("toggle", ({ target }) => {
    for (const drawing of target.open ? target.querySelectorAll(".quia .drawing") : []) {
      if (centred.has(drawing)) continue;
      centred.add(drawing);
      drawing.scrollLeft = drawing.dataset.root - drawing.clientWidth / 2;
    }
  }, true);

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const article of document.querySelectorAll(".quia")) clear(article);
  });
})();
