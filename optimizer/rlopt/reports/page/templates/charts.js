"use strict";
/* Draws the page's charts. A chart names its colours as CSS variables, so that it follows light, dark and print. */
const charts = (() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const config = { displayModeBar: false, scrollZoom: false, doubleClick: false, doubleClickDelay: 1, showTips: false };
  const VARIABLE = /^var\((--[a-z0-9-]+)\)$/;

  /* The library is packed: unpack it into a script whose fingerprint the page's policy knows. */
  async function load() {
    const packed = atob(document.getElementById("library").textContent);
    const bytes = Uint8Array.from(packed, (mark) => mark.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  function resolved(value, styles) {
    if (typeof value === "string") {
      const name = VARIABLE.exec(value);
      return name ? styles.getPropertyValue(name[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map((part) => resolved(part, styles));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolved(part, styles)]));
  }

  function figureOf(plot) {
    const { chart, plan } = plot.dataset;
    return chart === "frontier" ? figures.frontier : figures.plans[plan][chart];
  }

  function draw(plot, width) {
    const styles = getComputedStyle(document.documentElement);
    const figure = resolved(figureOf(plot), styles);
    figure.layout.font.family = getComputedStyle(document.body).fontFamily;
    figure.layout.width = Math.floor(width || plot.clientWidth);
    const drawn = window.Plotly.react(plot, figure.data, figure.layout, config);
    /* A legend of several lines takes its room from below, not from the bars. */
    const legend = plot.querySelector(".legend .scrollbox, .legend");
    const more = legend ? Math.ceil(legend.getBoundingClientRect().height) - figure.layout.margin.t : 0;
    if (more <= 0) return drawn;
    figure.layout.height += more;
    return window.Plotly.react(plot, figure.data, figure.layout, config);
  }

  /* Put the ring around the chosen point. */
  function mark(plot, number) {
    const { data } = figures.frontier;
    const ring = data[data.length - 1];
    for (const { customdata, x, y } of data) {
      const at = customdata ? customdata.indexOf(number) : -1;
      if (at >= 0) [ring.x, ring.y] = [[x[at]], [y[at]]];
    }
    if (window.Plotly && plot.clientWidth) draw(plot);
  }

  const visible = () => [...document.querySelectorAll(".plot")].filter((plot) => plot.closest("[hidden]") === null);
  return { load, draw, figureOf, mark, visible };
})();
