// A text field with line numbers and underlined places; plain textarea, so that every key and tool works in it.
import { fill, h } from "./dom";

export class CodeField {
  private area = h("textarea", { class: "wb-code-area", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", rows: "14" });
  private back = h("pre", { class: "wb-code-back", "aria-hidden": "true" });
  private lines = h("pre", { class: "wb-code-lines", "aria-hidden": "true" });
  readonly element = h("div", { class: "wb-code" }, this.lines, h("div", { class: "wb-code-field" }, this.back, this.area));
  private marks: [number, number][] = [];
  private peeked: [number, number] | null = null;
  private count = 0;

  constructor(name: string, changed: () => void) {
    this.area.setAttribute("aria-label", name);
    this.area.addEventListener("input", () => {
      this.marks = [];
      this.draw();
      changed();
    });
    this.area.addEventListener("scroll", () => this.follow());
    this.draw();
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    if (this.area.value === text) return;
    this.area.value = text;
    this.marks = [];
    this.draw();
  }

  set readonly(on: boolean) {
    this.area.readOnly = on;
  }

  focus(): void {
    this.area.focus();
  }

  select(start: number, end: number): void {
    this.area.focus();
    this.area.setSelectionRange(start, end);
    const line = this.text.slice(0, start).split("\n").length - 1;
    this.area.scrollTop = Math.max(0, line * 18 - 80);
    this.follow();
  }

  underline(marks: [number, number][]): void {
    if (JSON.stringify(marks) === JSON.stringify(this.marks)) return;
    this.marks = marks;
    this.draw();
  }

  /** Outline a stretch of the text in passing, and scroll to it; null takes the outline away. */
  peek(at: [number, number] | null): void {
    if (JSON.stringify(at) === JSON.stringify(this.peeked)) return;
    this.peeked = at;
    this.draw();
    const mark = this.back.querySelector<HTMLElement>(".wb-peek");
    if (!mark) return;
    const { offsetTop: top, offsetHeight: height } = mark;
    if (top < this.area.scrollTop || top + height > this.area.scrollTop + this.area.clientHeight) this.area.scrollTop = Math.max(0, top - 40);
    this.follow();
  }

  private draw(): void {
    const text = this.text;
    const count = text.split("\n").length;
    if (count !== this.count) {
      this.count = count;
      this.lines.textContent = Array.from({ length: count }, (_, i) => String(i + 1)).join("\n");
    }
    const parts: (Node | string)[] = [];
    let at = 0;
    const marks = this.marks.map(([start, end]) => ({ start, end, look: "wb-wrong" }));
    if (this.peeked) marks.push({ start: this.peeked[0], end: this.peeked[1], look: "wb-peek" });
    for (const { start, end, look } of marks.sort((a, b) => a.start - b.start || b.end - a.end)) {
      if (start < at) continue;
      parts.push(text.slice(at, start), h("mark", { class: look }, text.slice(start, Math.max(end, start + 1)) || " "));
      at = Math.max(end, start + 1);
    }
    fill(this.back, ...parts, `${text.slice(at)}\n`);
    this.follow();
  }

  private follow(): void {
    this.back.scrollTop = this.lines.scrollTop = this.area.scrollTop;
    this.back.scrollLeft = this.area.scrollLeft;
  }
}
