// Layouts of graphs, made one after the other off the main thread. What is looked at goes before what may be looked
// at next, and what is no longer wanted is not made.
import source from "layout-source";

type Draw = (dot: string) => Promise<string>;

const KEPT = 120;
const AHEAD = 6;

/** Start the worker; where that is not allowed, the same module draws in the page. */
function start(): Draw {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  let inPage: Promise<{ draw: Draw }> | null = null;
  const drawHere: Draw = async (dot) => (await (inPage ??= import(address) as Promise<{ draw: Draw }>)).draw(dot);
  let worker: Worker | null;
  try {
    worker = new Worker(address, { type: "module" });
  } catch {
    worker = null;
  }
  return (dot) =>
    new Promise((resolve, reject) => {
      if (!worker) return resolve(drawHere(dot));
      worker.onmessage = ({ data }: MessageEvent<{ drawn?: string; problem?: string }>) => (data.drawn === undefined ? reject(new Error(data.problem)) : resolve(data.drawn));
      worker.onerror = (event) => {
        event.preventDefault();
        worker = null;
        resolve(drawHere(dot));
      };
      worker.postMessage(dot);
    });
}

interface Wish {
  dot: string;
  isWanted: () => boolean;
  done: (svg: string | null) => void;
  failed: (error: unknown) => void;
}

export class Layouts {
  private draw: Draw | null = null;
  private known = new Map<string, string>();
  private wishes: Wish[] = [];
  private ahead: string[] = [];
  private busy = false;

  constructor(private begin: () => Draw = start) {}

  /** The SVG text of a graph; null when it is no longer wanted by the time its turn comes. */
  ask(dot: string, isWanted: () => boolean): Promise<string | null> {
    const known = this.known.get(dot);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((done, failed) => {
      this.wishes.push({ dot, isWanted, done, failed });
      void this.work();
    });
  }

  /** Lay out graphs that will be asked for, when nothing else is to be done. */
  expect(dots: string[]): void {
    this.ahead = [...dots, ...this.ahead].filter((dot, i, all) => !this.known.has(dot) && all.indexOf(dot) === i).slice(0, AHEAD);
    void this.work();
  }

  private async work(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    for (;;) {
      const wish = this.wishes.pop(); // the newest first
      const dot = wish?.dot ?? this.ahead.shift();
      if (dot === undefined) break;
      if (wish && !wish.isWanted()) wish.done(null);
      else {
        try {
          this.draw ??= this.begin();
          const svg = this.known.get(dot) ?? (await this.draw(dot));
          this.keep(dot, svg);
          wish?.done(svg);
        } catch (error) {
          wish?.failed(error);
        }
      }
    }
    this.busy = false;
  }

  private keep(dot: string, svg: string): void {
    this.known.delete(dot);
    this.known.set(dot, svg);
    if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value!);
  }
}

/** The layouts of this page. */
export const layouts = new Layouts();
