// Lays out DOT text by Graphviz (WebAssembly). Built by itself and started as a worker, so that a layout never
// holds up the page; where no worker can be started, the page imports this very text instead.
import { Graphviz } from "@hpcc-js/wasm-graphviz";

const ready = Graphviz.load();

/** The SVG text of a graph. */
export async function draw(dot: string): Promise<string> {
  return (await ready).dot(dot);
}

if (typeof document === "undefined") {
  self.onmessage = async ({ data }: MessageEvent<string>) => {
    try {
      self.postMessage({ drawn: await draw(data) });
    } catch (error) {
      self.postMessage({ problem: String(error) });
    }
  };
}
