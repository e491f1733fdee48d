// The screens of the workbench, in the order of their tabs.
import type { Context } from "./actions";
import type { Panel } from "./panel";
import type { StepView } from "./stepview";
import { AutomatonView } from "./automatonview";
import { Explorer } from "./explorer";
import { Profiler } from "./profiler";

export function makePanels(context: Context, step: StepView, go: (cursor: number) => void, show: (tab: string) => void): Panel[] {
  return [step, new AutomatonView(context, show), new Explorer(context, show), new Profiler(context, go)];
}
