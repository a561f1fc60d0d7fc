// Zoom, values under the cursor, and values as a table. The page is complete without it.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200];
  const HOUR = 3600, DAY = 86400;

  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return parent.appendChild(made);
  };
  const html = (name, properties, parent) => parent.appendChild(Object.assign(document.createElement(name), properties));
  const between = (value, low, high) => Math.min(Math.max(value, low), high);
  const figure = value => value === null ? "–" : value.toLocaleString("en", { maximumSignificantDigits: 5 });

  const roundStep = least => {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map(digit => digit * power).find(step => step >= least * (1 - 1e-9));
  };
  const clock = (seconds, long, exact) => {
    const whole = Math.round(seconds), two = n => String(n).padStart(2, "0");
    if (!long) return Math.floor(whole / 60) + ":" + two(whole % 60);
    return Math.floor(whole / HOUR) + ":" + two(Math.floor(whole / 60) % 60) + (exact ? ":" + two(whole % 60) : "");
  };

  class Chart {
    constructor(box) {
      this.box = box;
      this.svg = box.querySelector("svg");
      this.plot = box.querySelector(".plot");
      this.data = JSON.parse(box.querySelector("script").textContent);
      [this.left, this.top, this.width, this.height] = this.data.box;
      this.from = this.data.from;
      this.to = this.data.to;
      this.at = -1;
      if (!this.data.x.length) return;
      // The title would come up beside the values; it goes on as a label.
      this.svg.setAttribute("aria-label", this.data.title);
      this.svg.removeAttribute("aria-labelledby");
      this.svg.setAttribute("aria-describedby", this.svg.querySelector("desc").id);
      this.svg.querySelector("title").remove();
      box.classList.add("lively");
      this.hair = element("line", { class: "hair", y1: this.top, y2: this.top + this.height, visibility: "hidden" }, this.svg);
      this.pick = element("rect", { class: "pick", y: this.top, height: this.height, visibility: "hidden" }, this.svg);
      this.reading = html("div", { className: "reading", hidden: true }, box);
      this.whole = html("button", { className: "whole", type: "button", textContent: "Show all", hidden: true }, box);
      this.whole.onclick = () => this.zoom(this.data.from, this.data.to);
      this.slider();
      this.pointer();
      this.table();
    }

    place(value) { return this.left + (value - this.from) / (this.to - this.from) * this.width; }

    /** The pointer's place in the picture's own units. */
    spot(event) {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      return { x: between(point.x, this.left, this.left + this.width), y: point.y };
    }

    value(x) { return this.from + (x - this.left) / this.width * (this.to - this.from); }

    nearest(value) {
      let best = 0;
      this.data.x.forEach((x, i) => { if (Math.abs(x - value) < Math.abs(this.data.x[best] - value)) best = i; });
      return best;
    }

    name(i) {
      if (this.data.names.length) return this.data.names[i];
      const x = this.data.x[i];
      return this.data.scale === "time" ? clock(x, this.data.to >= HOUR, true) : figure(x) + " " + this.data.xTitle;
    }

    show(i) {
      this.at = i;
      const x = this.place(this.data.x[i]);
      const inside = x >= this.left - 1 && x <= this.left + this.width + 1;
      this.hair.setAttribute("visibility", inside ? "visible" : "hidden");
      this.reading.hidden = !inside;
      this.hair.setAttribute("x1", x);
      this.hair.setAttribute("x2", x);
      this.reading.replaceChildren();
      html("b", { textContent: this.name(i) }, this.reading);
      for (const column of this.data.columns) html("div", { textContent: column.name + ": " + figure(column.y[i]) }, this.reading);
      const scale = this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
      const room = this.svg.getBoundingClientRect().width - this.reading.offsetWidth;
      const beside = x * scale + 12;
      this.reading.style.left = Math.max(beside > room ? x * scale - this.reading.offsetWidth - 12 : beside, 0) + "px";
      this.reading.style.top = this.top * scale + "px";
      this.cursor.value = i;
      this.cursor.setAttribute("aria-valuetext", this.reading.innerText.replaceAll("\n", ", "));
    }

    hide() {
      this.hair.setAttribute("visibility", "hidden");
      this.reading.hidden = true;
    }

    zoom(from, to) {
      const least = (this.data.to - this.data.from) / 1000;
      if (to - from < least) return;
      this.from = Math.max(from, this.data.from);
      this.to = Math.min(to, this.data.to);
      const whole = this.data.to - this.data.from, unit = this.width / whole;
      this.plot.setAttribute("viewBox", [(this.from - this.data.from) * unit, 0, (this.to - this.from) * unit, this.height].join(" "));
      this.whole.hidden = this.from === this.data.from && this.to === this.data.to;
      this.plot.classList.toggle("zoomed", !this.whole.hidden);
      for (const label of this.svg.querySelectorAll(".at")) {
        const value = Number(label.dataset.x);
        label.setAttribute("transform", `translate(${this.place(value)},0)`);
        label.setAttribute("visibility", value >= this.from && value <= this.to ? "visible" : "hidden");
      }
      this.ticks();
      this.hide();
    }

    ticks() {
      const group = this.svg.querySelector(".x-ticks"), bottom = this.top + this.height, span = this.to - this.from;
      const time = this.data.scale === "time", long = this.data.to >= HOUR;
      const step = time
        ? TIME_STEPS.find(step => step >= span / 7) ?? Math.ceil(span / 7 / DAY) * DAY
        : roundStep(span / 5);
      const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      group.replaceChildren();
      for (let n = Math.ceil(this.from / step - 1e-9); n * step <= this.to + step * 1e-9; n++) {
        const x = this.place(n * step);
        element("line", { class: "notch", x1: x, x2: x, y1: bottom, y2: bottom + 4 }, group);
        const label = element("text", { class: "tick", x, y: bottom + 17, "text-anchor": "middle" }, group);
        label.textContent = time ? clock(n * step, long, step < 60)
          : (n * step).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
      }
    }

    pointer() {
      let start = null;
      const svg = this.svg;
      svg.addEventListener("pointermove", event => {
        const { x, y } = this.spot(event);
        if (start !== null) {
          this.pick.setAttribute("x", Math.min(start, x));
          this.pick.setAttribute("width", Math.abs(x - start));
          this.pick.setAttribute("visibility", "visible");
        }
        if (y < this.top || y > this.top + this.height) return this.hide();
        this.show(this.nearest(this.value(x)));
      });
      svg.addEventListener("pointerleave", () => this.hide());
      svg.addEventListener("pointerdown", event => {
        if (event.button !== 0) return;
        start = this.spot(event).x;
        svg.setPointerCapture(event.pointerId);
        event.preventDefault();
      });
      const stop = zooms => event => {
        if (start === null) return;
        const ends = [start, this.spot(event).x].sort((a, b) => a - b);
        start = null;
        this.pick.setAttribute("visibility", "hidden");
        if (zooms && ends[1] - ends[0] > 6) this.zoom(this.value(ends[0]), this.value(ends[1]));
      };
      svg.addEventListener("pointerup", stop(true));
      svg.addEventListener("pointercancel", stop(false));
      svg.addEventListener("dblclick", () => this.zoom(this.data.from, this.data.to));
    }

    /** The cursor of the keyboard: arrows move it, + and - zoom around it, 0 shows all. */
    slider() {
      this.cursor = html("input", { className: "cursor", type: "range", min: 0, max: this.data.x.length - 1, step: 1, value: 0 }, this.box);
      this.cursor.setAttribute("aria-label", "Values of the chart: " + this.data.title);
      this.cursor.setAttribute("aria-keyshortcuts", "+ - 0");
      this.cursor.oninput = () => this.show(Number(this.cursor.value));
      this.cursor.onfocus = () => { if (this.cursor.matches(":focus-visible")) this.show(Number(this.cursor.value)); };
      this.cursor.onblur = () => this.hide();
      this.cursor.onkeydown = event => {
        const factor = { "+": 0.5, "=": 0.5, "-": 2, "0": Infinity }[event.key];
        if (factor === undefined) return;
        event.preventDefault();
        const at = Number(this.cursor.value), middle = this.data.x[at], half = (this.to - this.from) * factor / 2;
        this.zoom(middle - half, middle + half);
        this.show(at);
      };
    }

    /** The values as a table, made when it is asked for. */
    table() {
      const details = document.createElement("details");
      html("summary", { textContent: "Values as a table" }, details);
      details.addEventListener("toggle", () => {
        if (details.childElementCount > 1) return;
        const region = html("div", { className: "scroll", tabIndex: 0 }, details);
        region.setAttribute("role", "region");
        region.setAttribute("aria-label", "Values of " + this.data.title);
        const table = html("table", {}, region);
        html("caption", { textContent: this.data.title }, table);
        const head = html("tr", {}, html("thead", {}, table)), body = html("tbody", {}, table);
        for (const name of [this.data.xTitle, ...this.data.columns.map(column => column.name)]) {
          html("th", { textContent: name, scope: "col", className: "figure" }, head);
        }
        this.data.x.forEach((_, i) => {
          const row = html("tr", {}, body);
          html("th", { textContent: this.name(i), scope: "row", className: "figure" }, row);
          for (const column of this.data.columns) html("td", { textContent: figure(column.y[i]), className: "figure" }, row);
        });
      });
      this.box.after(details);
    }
  }

  const enliven = () => document.querySelectorAll(".chart:not(.lively)").forEach(box => new Chart(box));
  enliven();
  document.addEventListener("drawn", enliven);
})();
