/** The text of the built `layout-worker.ts`; made by build.mjs. */
declare module "layout-source" {
  const source: string;
  export default source;
}
