"use strict";
/* Choosing a plan, light and dark, saving, printing. Without this script the page shows the plan asked for, in tables. */
(() => {
  const root = document.documentElement;
  const all = (query) => [...document.querySelectorAll(query)];
  const PRINT_WIDTH = 660; /* pixels of a page's text column */
  let printing = false;

  const redraw = () => Promise.all(charts.visible().map((plot) => charts.draw(plot, printing ? PRINT_WIDTH : 0)));

  function choose(number) {
    for (const part of all("[data-plan]:is(section, article, nav)")) part.hidden = Number(part.dataset.plan) !== number;
    for (const input of all("input[name=speed]")) input.checked = Number(input.value) === number;
    const frontier = document.querySelector("[data-chart=frontier]");
    if (frontier) charts.mark(frontier, number);
    if (window.Plotly) redraw();
  }

  /* On paper everything is unfolded, light, and as wide as the column. */
  function print(now) {
    if (printing === now) return;
    printing = now;
    root.toggleAttribute("data-print", now);
    for (const part of all("details")) {
      if (now) part.dataset.was = part.open ? "open" : "";
      part.open = now || part.dataset.was === "open";
    }
    redraw();
  }

  function save(number) {
    const text = document.querySelector(`script.document[data-plan="${number}"]`).textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `plan-${number}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  function listen() {
    for (const input of all("input[name=speed]")) input.addEventListener("change", () => choose(Number(input.value)));
    for (const link of all("nav a")) {
      link.addEventListener("click", () => {
        const folded = document.querySelector(`${link.hash} details`);
        if (folded) folded.open = true;
      });
    }
    for (const button of all("button.back")) button.addEventListener("click", () => choose(0));
    for (const button of all("button.save")) {
      button.hidden = false;
      button.addEventListener("click", () => save(button.dataset.plan));
    }
    const theme = document.getElementById("theme");
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const dark = getComputedStyle(root).getPropertyValue("--dark").trim() === "1";
      root.dataset.theme = dark ? "light" : "dark";
      redraw();
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    window.addEventListener("beforeprint", () => print(true));
    window.addEventListener("afterprint", () => print(false));
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (printing || root.clientWidth === width) return;
      width = root.clientWidth;
      redraw();
    }).observe(root);
  }

  async function start() {
    root.classList.add("scripted");
    listen();
    try {
      await charts.load();
      await redraw();
    } catch (error) {
      root.classList.remove("scripted"); /* an old browser: the tables say the same */
      return;
    }
    const frontier = document.querySelector("[data-chart=frontier]");
    if (frontier) {
      frontier.on("plotly_click", ({ points }) => {
        const point = points.find(({ customdata }) => customdata !== undefined);
        if (point) choose(point.customdata);
      });
    }
    root.dataset.ready = "";
  }

  start();
})();
