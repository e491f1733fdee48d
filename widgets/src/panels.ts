// The screens of the workbench, in the order of their tabs.
import type { Context } from "./actions";
import { AutomatonView } from "./automatonview";
import { DeadEnds } from "./deadends";
import { Editor } from "./editor";
import { Explorer } from "./explorer";
import { Exporter } from "./exporter";
import type { Panel } from "./panel";
import { Profiler } from "./profiler";
import type { StepView } from "./stepview";

export function makePanels(context: Context, step: StepView, go: (cursor: number) => void, show: (tab: string) => void): Panel[] {
  const editor = new Editor(context, show);
  const edited = (text: string, kind: string) => {
    show("grammar");
    editor.put(text, kind);
  };
  const given = () => editor.given;
  return [editor, step, new AutomatonView(context, show, go), new Explorer(context, show), new DeadEnds(context, edited, go, given), new Profiler(context, go), new Exporter(context, given)];
}
