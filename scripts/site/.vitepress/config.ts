/** The configuration of VitePress, for `scripts/docs.ts`, which adds the pages. */
import { readFileSync } from "node:fs";
import { fragmentOf } from "./slug.ts";

/** What `scripts/docs.ts` writes for this file. */
export interface Site {
  readonly version: string;
  /** The path of the site on its host, with a slash at both ends. */
  readonly base: string;
  readonly repository?: string;
  readonly sidebar: Readonly<Record<string, readonly MenuItem[]>>;
}

export interface MenuItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly MenuItem[];
}

const site: Site = JSON.parse(readFileSync("site.json", "utf8"));

/** What VitePress knows about a page, as far as it is used here. */
interface PageData {
  readonly frontmatter: { readonly source?: string };
}

/**
 * Returns the words of a page for the search. An identifier such as `HTTPS_PROXY` is one
 * of them, as are its parts. VitePress sends this function to the browser: it stands alone.
 */
function wordsOf(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) =>
    word.includes("_")
      ? [word, ...word.split("_").filter((part) => part !== "")]
      : [word]
  );
}

/**
 * Returns how much a page counts in the search: words are explained in the guide, and a
 * member of the API has few words, for which it would otherwise come first.
 */
const weightOf = (page: string) =>
  /\/(api|examples|changelog)/.test(page) ? 1 : 6;

export default {
  lang: "en",
  title: "@oauth-helper/client",
  base: site.base,
  head: [
    ["link", { rel: "icon", href: `${site.base}icon.svg` }],
    ["link", { rel: "stylesheet", href: `${site.base}style.css` }],
  ],
  // A URL in a text is an example, such as http://127.0.0.1:33418/callback.
  markdown: { anchor: { slugify: fragmentOf }, linkify: false },
  transformPageData: ({ frontmatter }: PageData) => ({
    filePath: frontmatter.source ?? "",
  }),
  themeConfig: {
    logo: "/icon.svg",
    nav: [
      {
        text: "Guide",
        link: "/start",
        activeMatch: "^/(?!api/|examples/|playground).",
      },
      { text: "Playground", link: "/playground" },
      { text: "Examples", link: "/examples/", activeMatch: "^/examples/" },
      { text: "API", link: "/api/", activeMatch: "^/api/" },
      { text: site.version, link: "/changelog" },
    ],
    sidebar: site.sidebar,
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        miniSearch: {
          options: { tokenize: wordsOf },
          searchOptions: { combineWith: "AND", boostDocument: weightOf },
        },
      },
    },
    ...(site.repository === undefined ? {} : {
      socialLinks: [{ icon: "github", link: site.repository }],
      editLink: { pattern: `${site.repository}/edit/main/:path` },
    }),
  },
};
