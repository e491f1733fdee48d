// A laid-out graph as an SVG element whose nodes know where they are: nothing has to be measured in the page.
import { svg } from "./dom";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface PictureNode {
  element: SVGElement;
  /** In the units of the picture, from its left upper corner. */
  box: Box;
  text: string;
}

const SCREEN = 4 / 3; // Graphviz counts in points, a page in pixels of 1/96 inch

/** The box of a node's outline, from the numbers that it is drawn with. */
function outline(element: Element): Box | null {
  const ellipse = element.querySelector("ellipse");
  if (ellipse) {
    const [cx, cy, rx, ry] = ["cx", "cy", "rx", "ry"].map((name) => Number(ellipse.getAttribute(name))) as [number, number, number, number];
    return { left: cx - rx, top: cy - ry, right: cx + rx, bottom: cy + ry };
  }
  const shape = element.querySelector("polygon, path");
  const numbers = (shape?.getAttribute("points") ?? shape?.getAttribute("d") ?? "").match(/-?[\d.]+/g)?.map(Number) ?? [];
  if (numbers.length < 4) return null;
  const xs = numbers.filter((_, i) => i % 2 === 0);
  const ys = numbers.filter((_, i) => i % 2 === 1);
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}

export class Picture {
  readonly element: SVGSVGElement;
  /** In pixels at the scale of 1. */
  readonly width: number;
  readonly height: number;
  readonly nodes = new Map<string, PictureNode>();
  private marks = new Map<string, string>();

  constructor(text: string) {
    const parsed = new DOMParser().parseFromString(text.slice(text.indexOf("<svg")), "image/svg+xml").documentElement;
    for (const title of parsed.querySelectorAll("title")) title.remove();
    const view = (parsed.getAttribute("viewBox") ?? "0 0 1 1").split(/\s+/).map(Number);
    this.width = view[2]! * SCREEN;
    this.height = view[3]! * SCREEN;
    parsed.removeAttribute("width");
    parsed.removeAttribute("height");
    this.element = document.importNode(parsed, true) as unknown as SVGSVGElement;
    const shift = /translate\(\s*([-\d.]+)[\s,]+([-\d.]+)/.exec(this.element.querySelector("g.graph")?.getAttribute("transform") ?? "");
    const [x, y] = [Number(shift?.[1] ?? 0), Number(shift?.[2] ?? 0)];
    for (const element of this.element.querySelectorAll<SVGElement>("g.node")) {
      const box = outline(element);
      if (!box) continue;
      const moved = { left: (box.left + x) * SCREEN, top: (box.top + y) * SCREEN, right: (box.right + x) * SCREEN, bottom: (box.bottom + y) * SCREEN };
      this.nodes.set(element.id, { element, box: moved, text: element.querySelector("text")?.textContent ?? "" });
    }
  }

  /** Mark nodes: live ones get a second ring and a triangle, the chosen one and the one peeked at other outlines. */
  mark(lit: string[], chosen: string | null, peeked: string | null): void {
    const live = new Set(lit);
    for (const [id, node] of this.nodes) {
      const on = live.has(id);
      const look = `${on} ${id === chosen} ${id === peeked}`;
      if ((this.marks.get(id) ?? "false false false") === look) continue;
      this.marks.set(id, look);
      const { element } = node;
      element.classList.toggle("wb-live", on);
      element.classList.toggle("wb-chosen-node", id === chosen);
      element.classList.toggle("wb-peeked-node", id === peeked);
      const text = element.querySelector("text");
      if (text) text.textContent = (on ? "▶ " : "") + node.text;
      element.querySelector(".wb-ring")?.remove();
      const ellipse = element.querySelector("ellipse");
      if (!on || !ellipse) continue;
      const [cx, cy, rx, ry] = ["cx", "cy", "rx", "ry"].map((name) => Number(ellipse.getAttribute(name)));
      element.append(svg("ellipse", { class: "wb-ring", cx, cy, rx: rx! + 4, ry: ry! + 4, fill: "none" }));
    }
  }

  /** The boxes of some nodes, those that the picture has. */
  boxes(ids: string[]): Box[] {
    return ids.flatMap((id) => this.nodes.get(id)?.box ?? []);
  }

  place(scale: number, x: number, y: number): void {
    const { style } = this.element;
    style.width = `${this.width * scale}px`;
    style.height = `${this.height * scale}px`;
    style.transform = `translate(${x}px,${y}px)`;
  }
}
