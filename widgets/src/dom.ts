// A small helper to build elements. Text always goes in as text nodes, never as markup.

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";
/** Elements that were made with a listener: their look cannot be given to another element. */
const listening = new WeakSet<Node>();

function apply(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
      listening.add(element);
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
  if (tag === "button" && props["aria-label"]) name(element, String(props["aria-label"]));
  return element;
}

/** What is said of a text: its words, without signs. */
const words = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");

/** A name that holds what is seen, so that who says what they see is understood; signs alone need not be in it. */
export function nameFor(seen: string, wanted: string): string {
  const text = words(seen);
  return !text || ` ${words(wanted)} `.includes(` ${text} `) ? wanted : `${seen.trim()}: ${wanted}`;
}

/** Give a control its accessible name; of one whose text changes, again after each change. */
export function name(element: HTMLElement, wanted: string): void {
  element.setAttribute("aria-label", nameFor(element.textContent ?? "", wanted));
}

/** A name of a rule, a pointer or a path that breaks into lines where its parts end, not in the middle of a word. */
export function breakable(text: string): (string | HTMLElement)[] {
  const parts = text.split(/(?<=[/._:·|~-])(?=[^/._:·|~-])|(?<=[a-z0-9])(?=[A-Z][a-z])/u);
  return parts.flatMap((part, i) => (i ? [h("wbr"), part] : [part]));
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  apply(element, props);
  fill(element, ...children);
  return element;
}

/** Replace an element's content. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...nodes(children));
}

function nodes(children: Child[]): Node[] {
  return children
    .filter((child): child is Node | string | number => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** Elements whose state is more than their attributes. */
const FIELDS = /^(INPUT|SELECT|TEXTAREA|OPTION|DETAILS)$/;

/** Whether an element can take on the look of another one. */
function isAlike(old: Node, made: Node): boolean {
  if (old.nodeType !== made.nodeType || old.nodeName !== made.nodeName) return false;
  return !listening.has(old) && !listening.has(made) && !FIELDS.test(old.nodeName);
}

function become(old: Node, made: Node): void {
  if (!(old instanceof Element) || !(made instanceof Element)) {
    if (old.nodeValue !== made.nodeValue) old.nodeValue = made.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) if (!made.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of made.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  becomeContent(old, [...made.childNodes]);
}

function becomeContent(element: Element, made: Node[]): void {
  const old = [...element.childNodes];
  // Nodes that are kept and only change places are put where they belong.
  if (made.some((node, i) => node.parentNode === element && node !== old[i])) return element.replaceChildren(...made);
  made.forEach((node, i) => {
    const before = old[i];
    if (before === node) return;
    if (!before) element.append(node);
    else if (isAlike(before, node)) become(before, node);
    else element.replaceChild(node, before);
  });
  for (const node of old.slice(made.length)) node.remove();
}

/** Bring an element's content to the look of `children`, touching only what differs: what stays needs no new layout. */
export function patch(element: Element, ...children: Child[]): void {
  becomeContent(element, nodes(children));
}

const keys = new WeakMap<Element, string>();

/** Patch an element's content unless it was made for the same key: a button that is drawn anew between press and release loses its click. */
export function refill(element: Element, key: unknown, make: () => Child[]): void {
  const text = JSON.stringify(key);
  if (keys.get(element) === text) return;
  keys.set(element, text);
  patch(element, ...make());
}

/** Once everything of this turn is written, just before it is painted: reading sizes earlier would lay out the page several times. */
export function beforePaint(read: () => void): void {
  if (document.hidden) window.setTimeout(read, 0);
  else requestAnimationFrame(read);
}
