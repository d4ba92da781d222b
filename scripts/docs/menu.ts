/** The guide: which pages the site has, where they are, and what the menu calls them. */
import { basename } from "node:path/posix";

interface Entry {
  readonly source: string;
  /** What the menu calls it; without one, its heading. */
  readonly text?: string;
  /** The path on the site, without `.md`; without one, from the file name. */
  readonly path?: string;
}

/** The pages below a heading of the menu. */
interface Section {
  readonly text: string;
  readonly entries: readonly Entry[];
}

/** Returns a page of the folder `.github/docs/`. */
const guide = (name: string, text?: string): Entry => ({
  source: `.github/docs/${name}.md`,
  ...(text === undefined ? {} : { text }),
});

/**
 * The pages in the order of the menu. Pages of `.github/docs/NAME/` come below
 * `.github/docs/NAME.md`; each other page of `.github/docs/` has its line here.
 */
export const MENU: readonly Section[] = [
  {
    text: "Get started",
    entries: [
      { source: "README.md", text: "Overview", path: "overview" },
      guide("quickstart"),
      guide("start", "Which program?"),
      { source: ".github/COMPARISON.md", text: "Comparison" },
    ],
  },
  {
    text: "Guides",
    entries: [
      guide("command-line-tool"),
      guide("mcp-client"),
      guide("host"),
      guide("web"),
      guide("frameworks"),
      guide("forward"),
      guide("agents"),
      guide("worker"),
      guide("web-page"),
      guide("service"),
      guide("device"),
      guide("enterprise"),
      guide("several-apis"),
      guide("on-behalf-of"),
      guide("testing", "Testing"),
    ],
  },
  {
    text: "Concepts",
    entries: [
      guide("sessions"),
      guide("prompts", "Sign-in prompts"),
      guide("stores"),
      guide("three-processes"),
      guide("discovery"),
      guide("glossary"),
    ],
  },
  {
    text: "Servers and APIs",
    entries: [
      guide("providers"),
      guide("diagnose"),
      guide("servers-of-yours", "For server operators"),
      guide("findings"),
    ],
  },
  {
    text: "Reference",
    entries: [
      guide("options"),
      guide("events"),
      guide("errors"),
      guide("command", "Command"),
      guide("runtimes"),
      { source: "tests/examples/README.md", path: "examples/index" },
    ],
  },
  {
    text: "Production",
    entries: [
      guide("production"),
      guide("security", "Security"),
      guide("symptoms", "Troubleshooting"),
      guide("sign-in-problems"),
    ],
  },
  { text: "Migration", entries: [guide("migrating")] },
  {
    text: "Project",
    entries: [
      { source: "CHANGELOG.md", text: "Changelog" },
      guide("versioning"),
      {
        source: ".github/SECURITY.md",
        text: "Security policy",
        path: "promises",
      },
    ],
  },
];

export interface Page extends Entry {
  readonly path: string;
  readonly section: string;
  /** The source of the page above it in the menu. */
  readonly parent?: string;
}

/**
 * Returns the pages of the menu, given the paths of all pages of `.github/docs/`.
 * Throws if one is missing, is not in the menu, or has the path of another.
 */
export function listPages(
  sources: readonly string[],
  menu: readonly Section[] = MENU,
): Page[] {
  const pages = menu.flatMap(({ text, entries }) =>
    entries.flatMap((entry): Page[] => {
      const folder = entry.source.replace(/\.md$/, "/");
      const name = basename(folder).toLowerCase();
      const below = sources.filter((source) => source.startsWith(folder));
      return [
        { path: name, ...entry, section: text },
        ...below.sort().map((source) => ({
          source,
          path: `${name}/${basename(source, ".md")}`,
          section: text,
          parent: entry.source,
        })),
      ];
    })
  );
  const paths = new Map<string, string>();
  for (const { source, path } of pages) {
    // Some file systems and hosts do not tell letters by their case.
    const other = paths.get(path.toLowerCase());
    if (other) throw new Error(`${source} and ${other} are both ${path}.html`);
    paths.set(path.toLowerCase(), source);
    if (source.startsWith(".github/docs/") && !sources.includes(source)) {
      throw new Error(`${source} is in the menu and does not exist`);
    }
  }
  const without = sources.filter((source) =>
    pages.every((page) => page.source !== source)
  );
  if (without.length > 0) {
    throw new Error(`scripts/docs/menu.ts does not list ${without.join(", ")}`);
  }
  return pages;
}
