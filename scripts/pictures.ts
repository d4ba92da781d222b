/**
 * Draws the pictures of the documents into `.github/docs/`, as SVG for light and dark
 * pages: sequence diagrams, and boxes side by side. As a program, it writes the files.
 */
import { root } from "./support/deno.ts";

/** A message from one lane to another; to the same lane it is a note. */
type Message = readonly [from: number, to: number, text: string];

/** A box with a heading and lines. */
type Box = readonly [heading: string, ...lines: string[]];

interface Picture {
  /** What it shows, for who does not see it. */
  readonly description: string;
  readonly svg: string;
}

const STYLE = `text{font:14px system-ui,sans-serif;fill:#1f2328}
.h{font-weight:600}.n{fill:#59636e}
line,path{stroke:#59636e;fill:none}rect{fill:#f6f8fa;stroke:#d1d9e0}
.lane{stroke:#d1d9e0}.tip{fill:#59636e;stroke:none}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.n{fill:#9198a1}
line,path{stroke:#9198a1}rect{fill:#151b23;stroke:#3d444d}
.lane{stroke:#3d444d}.tip{fill:#9198a1}}`;

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function svgOf(
  { width, height, description, parts }: {
    width: number;
    height: number;
    description: string;
    parts: readonly string[];
  },
): Picture {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ` +
    `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `role="img">\n<title>${escape(description)}</title>\n` +
    `<style>${STYLE}</style>\n${parts.join("\n")}\n</svg>\n`;
  return { description, svg };
}

const textAt = (x: number, y: number, text: string, more = "") =>
  `<text x="${x}" y="${y}" ${more}>${escape(text)}</text>`;

const LANE = 190;
const ROW = 40;

/** Draws a sequence diagram. */
function sequence(
  description: string,
  lanes: readonly string[],
  messages: readonly Message[],
): Picture {
  const x = (lane: number) => LANE * (lane + 0.5);
  const height = 60 + ROW * messages.length;
  const middle = 'text-anchor="middle"';
  const heads = lanes.flatMap((name, lane) => [
    `<line class="lane" x1="${x(lane)}" x2="${x(lane)}" y1="44" y2="${
      height - 8
    }"/>`,
    `<rect x="${x(lane) - 84}" y="8" width="168" height="32" rx="6"/>`,
    textAt(x(lane), 29, name, `${middle} class="h"`),
  ]);
  const arrows = messages.flatMap(([from, to, text], index) => {
    const y = 74 + ROW * index;
    if (from === to) {
      const box = `<rect x="${x(from) - 92}" y="${
        y - 18
      }" width="184" height="26" rx="13"/>`;
      return [box, textAt(x(from), y, text, `${middle} class="n"`)];
    }
    const tip = to > from ? -8 : 8;
    return [
      textAt((x(from) + x(to)) / 2, y - 6, text, middle),
      `<line x1="${x(from)}" x2="${x(to)}" y1="${y}" y2="${y}"/>`,
      `<path class="tip" d="M${x(to)} ${y}l${tip} -5v10z"/>`,
    ];
  });
  const width = LANE * lanes.length;
  return svgOf({ width, height, description, parts: [...heads, ...arrows] });
}

const BOX = 236;

/** Draws boxes side by side; arrows lead from each to the next if they are steps. */
function boxes(
  description: string,
  all: readonly Box[],
  isSteps = false,
): Picture {
  const gap = isSteps ? 30 : 14;
  const lines = Math.max(...all.map((box) => box.length));
  const height = 30 + 23 * lines;
  const parts = all.flatMap(([heading, ...rest], index) => {
    const x = 8 + index * (BOX + gap);
    const y = height / 2;
    return [
      `<rect x="${x}" y="8" width="${BOX}" height="${height - 16}" rx="6"/>`,
      textAt(x + 12, 32, heading, 'class="h"'),
      ...rest.map((line, row) => textAt(x + 12, 56 + 22 * row, line)),
      ...isSteps && index > 0
        ? [
          `<line x1="${x - gap}" x2="${x}" y1="${y}" y2="${y}"/>`,
          `<path class="tip" d="M${x} ${y}l-8 -5v10z"/>`,
        ]
        : [],
    ];
  });
  const width = 16 + all.length * BOX + (all.length - 1) * gap;
  return svgOf({ width, height, description, parts });
}

/** The pictures, by the names of their files. */
export const PICTURES: Readonly<Record<string, Picture>> = {
  "picture-first-call.svg": sequence(
    "From a 401 to a 200: the API answers 401, the library finds the server and " +
      "registers a client, the user signs in, and the call is sent again with the token.",
    ["Your program", "The library", "The API", "Authorization server"],
    [
      [0, 1, "api(url)"],
      [1, 2, "request without a token"],
      [2, 1, "401, metadata URL"],
      [1, 2, "GET metadata"],
      [1, 3, "GET metadata, register"],
      [1, 3, "the user signs in"],
      [3, 1, "code, then tokens"],
      [1, 1, "saves the session"],
      [1, 2, "request with the token"],
      [2, 1, "200"],
      [1, 0, "the response"],
    ],
  ),
  "picture-web-routes.svg": sequence(
    "The routes of ./web: login redirects the browser to the server, callback " +
      "exchanges the code and sets the session's cookie, logout revokes the tokens.",
    ["Browser", "Your site, ./web", "Authorization server", "Your store"],
    [
      [0, 1, "GET /login"],
      [1, 0, "303, login cookie"],
      [0, 2, "the user signs in"],
      [2, 0, "303 to /callback"],
      [0, 1, "GET /callback"],
      [1, 2, "code"],
      [2, 1, "tokens"],
      [1, 3, "saves the session"],
      [1, 0, "303, session cookie"],
      [0, 1, "POST /logout"],
      [1, 3, "deletes the session"],
      [1, 2, "revokes the tokens"],
    ],
  ),
  "picture-session.svg": boxes(
    "The life of a session: a sign-in creates it, each refresh saves it again, and it " +
      "ends when the server rejects the refresh token or the program revokes it.",
    [
      ["No session", "the call returns 401,", "or prompts the user"],
      ["Valid token", "each call sends it;", "no other request"],
      [
        "Token about to expire",
        "one refresh for all calls",
        "and all processes",
      ],
      [
        "Over",
        "refresh token rejected:",
        "the user signs in again;",
        "or revoke()",
      ],
    ],
    true,
  ),
  "picture-parts.svg": boxes(
    "Which part is whose: the API answers 401 and names its server, the " +
      "authorization server signs users in and issues tokens, you choose the store and the flow.",
    [
      ["The API", "answers 401", "names its server", "accepts the token"],
      [
        "Authorization server",
        "registers clients",
        "signs users in",
        "issues and rotates tokens",
      ],
      [
        "You",
        "the API's URL",
        "where the session is kept",
        "how the user signs in",
      ],
    ],
  ),
};

if (import.meta.main) {
  for (const [name, { svg }] of Object.entries(PICTURES)) {
    await Deno.writeTextFile(new URL(`.github/docs/${name}`, root), svg);
  }
}
