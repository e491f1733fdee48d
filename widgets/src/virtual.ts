// A list of any length of which only the rows in view exist; all rows are equally high.
import { h, refill } from "./dom";

const HEIGHT = 24;
const SPARE = 6;
let serial = 0;

export class VirtualList<Row> {
  rows: Row[] = [];
  index = -1;
  private version = 0;
  private sheet = h("div", { class: "wb-virtual-sheet" });
  readonly element: HTMLElement;
  private prefix = `wb-list-${++serial}-${Math.random().toString(36).slice(2, 7)}`;

  constructor(
    name: string,
    private draw: (row: Row, index: number) => HTMLElement,
    private chosen: (row: Row) => void,
    /** What else the look of a row depends on. */
    private look: () => string = () => "",
  ) {
    this.element = h("div", { class: "wb-virtual", role: "listbox", tabindex: "0", "aria-label": name }, this.sheet);
    this.element.addEventListener("scroll", () => this.refresh());
    this.element.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-row]");
      if (!row) return;
      this.index = Number(row.dataset["row"]);
      this.chosen(this.rows[this.index]!);
      this.refresh();
    });
    new ResizeObserver(() => this.refresh()).observe(this.element);
  }

  get current(): Row | undefined {
    return this.rows[this.index];
  }

  set(rows: Row[]): void {
    this.rows = rows;
    this.version++;
    if (this.index >= rows.length) this.index = rows.length - 1;
    this.sheet.style.height = `${rows.length * HEIGHT}px`;
    this.refresh();
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
  }

  move(by: number): void {
    if (!this.rows.length) return;
    this.choose(Math.min(this.rows.length - 1, Math.max(0, this.index + by)));
    this.focus();
  }

  choose(index: number): void {
    if (index < 0 || index >= this.rows.length) return;
    this.index = index;
    const top = index * HEIGHT;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + HEIGHT > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = top + HEIGHT - this.element.clientHeight;
    this.refresh();
  }

  /** Draw the rows in view. */
  refresh(): void {
    const first = Math.max(0, Math.floor(this.element.scrollTop / HEIGHT) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / HEIGHT) + SPARE);
    refill(this.sheet, [this.version, first, last, this.index, this.look()], () => this.drawn(first, last));
    if (this.index >= first && this.index < last) this.element.setAttribute("aria-activedescendant", `${this.prefix}-${this.index}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private drawn(first: number, last: number): HTMLElement[] {
    const shown: HTMLElement[] = [];
    for (let i = first; i < last; i++) {
      const element = this.draw(this.rows[i]!, i);
      element.id = `${this.prefix}-${i}`;
      element.dataset["row"] = String(i);
      element.style.top = `${i * HEIGHT}px`;
      element.classList.add("wb-virtual-row");
      element.setAttribute("aria-setsize", String(this.rows.length));
      element.setAttribute("aria-posinset", String(i + 1));
      element.setAttribute("aria-selected", String(i === this.index));
      element.classList.toggle("wb-selected", i === this.index);
      shown.push(element);
    }
    return shown;
  }
}
