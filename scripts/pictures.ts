/**
 * Draws the pictures of the documents into `.github/docs/`, as SVG for light and dark
 * pages: sequence diagrams, and boxes side by side. As a program, it writes the files.
 */
import { root } from "./support/deno.ts";

/** A message from one lane to another; to the same lane it is a note. */
type Message = readonly [from: number, to: number, text: string];

type Box = readonly [heading: string, ...lines: string[]];

interface Picture {
  /** What it shows, for who does not see it. */
  readonly description: string;
  readonly svg: string;
}

// A page may be light where the system is dark: each picture has its background.
const STYLE = `text{font:14px system-ui,sans-serif;fill:#1f2328;
stroke:#fff;stroke-width:4px;paint-order:stroke;stroke-linejoin:round}
.h{font-weight:600}.n{fill:#59636e}
line,path{stroke:#59636e;fill:none}rect{fill:#f6f8fa;stroke:#d1d9e0}
.page{fill:#fff;stroke:none}.b{stroke:none}
.lane{stroke:#d1d9e0}.tip{fill:#59636e;stroke:none}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc;stroke:#0d1117}.n{fill:#9198a1}
line,path{stroke:#9198a1}rect{fill:#151b23;stroke:#3d444d}.page{fill:#0d1117}
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
    `<style>${STYLE}</style>\n<rect class="page" width="100%" height="100%" rx="8"/>\n` +
    `${parts.join("\n")}\n</svg>\n`;
  return { description, svg };
}

const textAt = (x: number, y: number, text: string, more = "") =>
  `<text x="${x}" y="${y}" ${more}>${escape(text)}</text>`;

const LANE = 190;
const ROW = 40;

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
    textAt(x(lane), 29, name, `${middle} class="h b"`),
  ]);
  const arrows = messages.flatMap(([from, to, text], index) => {
    const y = 74 + ROW * index;
    if (from === to) {
      const box = `<rect x="${x(from) - 92}" y="${
        y - 18
      }" width="184" height="26" rx="13"/>`;
      return [box, textAt(x(from), y, text, `${middle} class="n b"`)];
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

/**
 * Draws boxes side by side. If they are steps, an arrow leads from each to the next, and
 * one `back` to an earlier one.
 */
function boxes(
  description: string,
  all: readonly Box[],
  back?: Message,
): Picture {
  const isSteps = back !== undefined;
  const gap = isSteps ? 30 : 14;
  const lines = Math.max(...all.map((box) => box.length));
  const height = 30 + 23 * lines;
  const middleOf = (index: number) => 8 + index * (BOX + gap) + BOX / 2;
  const arrowsBack = back
    ? [
      `<path d="M${middleOf(back[0])} ${height - 8}v20H${
        middleOf(back[1])
      }v-14"/>`,
      `<path class="tip" d="M${middleOf(back[1])} ${height - 7}l-5 8h10z"/>`,
      textAt(
        (middleOf(back[0]) + middleOf(back[1])) / 2,
        height + 17,
        back[2],
        'text-anchor="middle"',
      ),
    ]
    : [];
  const parts = all.flatMap(([heading, ...rest], index) => {
    const x = 8 + index * (BOX + gap);
    const y = height / 2;
    return [
      `<rect x="${x}" y="8" width="${BOX}" height="${height - 16}" rx="6"/>`,
      textAt(x + 12, 32, heading, 'class="h b"'),
      ...rest.map((line, row) =>
        textAt(x + 12, 56 + 22 * row, line, 'class="b"')
      ),
      ...isSteps && index > 0
        ? [
          `<line x1="${x - gap}" x2="${x}" y1="${y}" y2="${y}"/>`,
          `<path class="tip" d="M${x} ${y}l-8 -5v10z"/>`,
        ]
        : [],
    ];
  });
  const width = 16 + all.length * BOX + (all.length - 1) * gap;
  return svgOf({
    ...{ width, description },
    height: isSteps ? height + 24 : height,
    parts: [...parts, ...arrowsBack],
  });
}

export const PICTURES: Readonly<Record<string, Picture>> = {
  "picture-first-call.svg": sequence(
    "From a 401 to a 200: the API answers 401, the library finds the server and " +
      "registers a client, the user signs in with the browser, and the call is sent " +
      "again with the token.",
    [
      "Your program",
      "The library",
      "The API",
      "Authorization server",
      "The user's browser",
    ],
    [
      [0, 1, "api(url)"],
      [1, 2, "request without a token"],
      [2, 1, "401, metadata URL"],
      [1, 2, "GET metadata"],
      [1, 3, "GET metadata, register"],
      [1, 4, "opens the sign-in page"],
      [4, 3, "the user signs in"],
      [4, 1, "code"],
      [1, 3, "code"],
      [3, 1, "tokens"],
      [1, 1, "saves the session"],
      [1, 2, "request with the token"],
      [2, 1, "200"],
      [1, 0, "the response"],
    ],
  ),
  "picture-web-routes.svg": sequence(
    "The routes of ./web: a page redirects the browser to the server, callback " +
      "exchanges the code and sets the session's cookie, the page calls the API with " +
      "the user's token, logout revokes the tokens.",
    [
      "Browser",
      "Your site, ./web",
      "Authorization server",
      "Your store",
      "The API",
    ],
    [
      [0, 1, "GET /notes, or /login"],
      [1, 0, "303, login cookie"],
      [0, 2, "the user signs in"],
      [2, 0, "303 to /callback"],
      [0, 1, "GET /callback"],
      [1, 2, "code"],
      [2, 1, "tokens"],
      [1, 3, "saves the session"],
      [1, 0, "303, session cookie"],
      [0, 1, "GET /notes"],
      [1, 3, "loads the session"],
      [1, 4, "request with the token"],
      [4, 1, "200"],
      [1, 0, "200"],
      [0, 1, "POST /logout"],
      [1, 3, "deletes the session"],
      [1, 2, "revokes the tokens"],
    ],
  ),
  "picture-session.svg": boxes(
    "The life of a session: a sign-in creates it, each refresh saves a new token, and it " +
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
    [2, 1, "new token"],
  ),
  "picture-parts.svg": boxes(
    "Which part is whose: you choose the URL, the store and the flow, the library finds " +
      "the server, refreshes and repeats calls, the API answers 401 and names its " +
      "server, the authorization server signs users in and issues tokens.",
    [
      [
        "Your program",
        "the API's URL",
        "where the session is kept",
        "how the user signs in",
      ],
      [
        "This library",
        "finds the server, registers",
        "refreshes, repeats the call",
        "locks the store",
      ],
      ["The API", "answers 401", "names its server", "accepts the token"],
      [
        "Authorization server",
        "registers clients",
        "signs users in",
        "issues and rotates tokens",
      ],
    ],
  ),
};

if (import.meta.main) {
  for (const [name, { svg }] of Object.entries(PICTURES)) {
    await Deno.writeTextFile(new URL(`.github/docs/${name}`, root), svg);
  }
}
