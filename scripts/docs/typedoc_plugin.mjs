/**
 * A plugin of TypeDoc: a link in a docstring leads to the export of that name, also where
 * the file does not import it.
 */
export function load(app) {
  app.converter.addUnknownSymbolResolver((reference, { project }) => {
    const path = reference.symbolReference?.path?.map(({ path }) => path);
    for (const page of path ? project.children ?? [] : []) {
      const target = page.getChildByName(path);
      if (target) return { target };
    }
  });
}
