// A small helper to build elements. Text always goes in as text nodes, never as markup.

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";

function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  fill(element, ...children);
  return element;
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  apply(element, props);
  fill(element, ...children);
  return element;
}

/** Replace an element's content. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(
    ...children
      .filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : String(child))),
  );
}

const keys = new WeakMap<Element, string>();

/** Replace an element's content unless it was made for the same key: a button that is drawn anew between press and release loses its click. */
export function refill(element: Element, key: unknown, make: () => Child[]): void {
  const text = JSON.stringify(key);
  if (keys.get(element) === text) return;
  keys.set(element, text);
  fill(element, ...make());
}

/** Once everything of this turn is written, just before it is painted: reading sizes earlier would lay out the page several times. */
export function beforePaint(read: () => void): void {
  if (document.hidden) window.setTimeout(read, 0);
  else requestAnimationFrame(read);
}
