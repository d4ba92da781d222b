/** What the fuzzer feeds to the parsers, the claims decoder and the builders. */
import fc from "fast-check";
import { hostile, structured } from "../support/challenge_texts.ts";
import { encodeBase64Url } from "../support/base64url.ts";

/** A string with one character removed, inserted or replaced, or cut after it. */
function mutated(texts: fc.Arbitrary<string>, characters: string[]) {
  return fc.tuple(
    texts,
    fc.constantFrom("delete", "insert", "replace", "cut", "twice"),
    fc.nat(),
    fc.constantFrom(...characters),
  ).map(([text, edit, number, character]) => {
    const at = number % (text.length + 1);
    const before = text.slice(0, at);
    if (edit === "cut") return before;
    if (edit === "twice") return text + text.slice(at);
    const after = text.slice(edit === "insert" ? at : at + 1);
    return before + (edit === "delete" ? "" : character) + after;
  });
}

const fragments = fc.array(
  fc.constantFrom(
    ...["Bearer ", "DPoP", "A", " ", "\t", ",", ", ", "=", '="', '"', '\\"'],
    ...["realm=", "x=y", 'x="y"', "YII=", "a==", "\\", "\u00e9", "\u00a0"],
    ...[
      "__proto__=1",
      "constructor=",
      "https://x/?a=b",
      "\n",
      "\ud800",
      "\x7f",
      ";",
    ],
  ),
  { maxLength: 8 },
).map((texts) => texts.join(""));

/** Strings to be parsed as `WWW-Authenticate`. */
export const headerTexts = fc.oneof(
  { arbitrary: hostile, weight: 3 },
  { arbitrary: structured, weight: 2 },
  { arbitrary: fragments, weight: 3 },
  {
    arbitrary: mutated(structured, [...'a =,"\\\t\u00e9\0\x7f\u0100']),
    weight: 2,
  },
  { arbitrary: fc.string({ unit: "binary", maxLength: 12 }), weight: 1 },
);

const TCHARS = "!#$%&'*+-.^_`|~azAZ09";
const token = fc.string({
  unit: fc.constantFrom(...TCHARS),
  minLength: 1,
  maxLength: 4,
});
const whitespace = fc.constantFrom("", "", " ", "\t", " \t ");
const quotable = fc.string({
  unit: fc.constantFrom(...'ab ,="\\\t\u0080\u00ff'),
  maxLength: 6,
});

/** A parameter of a challenge, and one way to write it. */
const writtenParameter = fc.tuple(
  fc.oneof(token, fc.constantFrom("a", "A", "b", "__proto__")),
  fc.oneof(
    token.map((value) => ({ value, text: value })),
    quotable.map((value) => ({
      value,
      text: `"${value.replaceAll(/["\\]/g, "\\$&")}"`,
    })),
    quotable.map((value) => ({
      value,
      // Any character may be written behind a backslash.
      text: `"${value.replaceAll(/[^]/g, "\\$&")}"`,
    })),
  ),
  whitespace,
  whitespace,
).map(([name, { value, text }, before, after]) => ({
  name: name.toLowerCase(),
  value,
  text: `${name}${before}=${after}${text}`,
}));

const comma = fc.tuple(
  whitespace,
  fc.constantFrom(",", ",,", ", ,"),
  whitespace,
)
  .map((texts) => texts.join(""));

/** Challenges, and one way to write them; parameters may come twice. */
export const writtenChallenges = fc.array(
  fc.tuple(
    token,
    fc.constantFrom(" ", "  "),
    fc.array(writtenParameter, { maxLength: 4 }),
    fc.option(fc.constantFrom("YII=", "a", "-._~+/09", "a==")),
  ),
  { maxLength: 3 },
).chain((challenges) =>
  comma.map((separator) => ({
    challenges: challenges.map(([scheme, , parameters, token68]) =>
      token68 === null
        ? { scheme, parameters }
        : { scheme, parameters: [], token68 }
    ),
    text: challenges.map(([scheme, space, parameters, token68]) => {
      const rest = token68 ??
        parameters.map(({ text }) => text).join(separator);
      return rest === "" ? scheme : `${scheme}${space}${rest}`;
    }).join(separator),
  }))
);

const jsonString = fc.string({ unit: "binary", maxLength: 4 })
  .map((text) => JSON.stringify(text));
const jsonMember = fc.tuple(
  fc.oneof(
    fc.constantFrom('"sub"', '"exp"', '"__proto__"', '"0"', '""', '"\\u0061"'),
    jsonString,
  ),
  fc.oneof(
    fc.constantFrom("1", "-0", "1e400", "1.5", "true", "null", "[]", "{}"),
    fc.constantFrom('{"__proto__":{"a":1}}', '"\\ud800"', '["a",{"b":[]}]'),
    jsonString,
    jsonString,
  ),
).map(([name, value]) => `${name}:${value}`);
/** JSON objects and what comes close; a name may come twice. */
const json = fc.oneof(
  {
    arbitrary: fc.array(jsonMember, { maxLength: 4 })
      .map((members) => `{${members.join()}}`),
    weight: 6,
  },
  {
    arbitrary: fc.constantFrom(
      ...["01", "+1", "NaN", "'a'", "", '"\n"', "[,]", "//", "0x1", "1."],
    ).map((value) => `{"sub":${value}}`),
    weight: 1,
  },
  {
    arbitrary: fc.constantFrom(
      ...["[]", "null", "1", '"{}"', "", " {} ", "{}{}", "\ufeff{}", "{}\0"],
    ),
    weight: 1,
  },
);

const octets = fc.tuple(json, fc.nat(), fc.nat(255), fc.nat(9)).map(
  ([text, at, octet, chance]) => {
    const bytes = new TextEncoder().encode(text);
    if (chance === 0 && bytes.length > 0) bytes[at % bytes.length] = octet;
    return bytes;
  },
);

const FORMS: ((text: string) => string)[] = [
  (text) => text,
  (text) => text + "=".repeat((4 - text.length % 4) % 4),
  (text) => text.replaceAll("-", "+").replaceAll("_", "/"),
  (text) => text.replace("-", "+").replace("/", "_"),
  (text) => text + "=",
  // Other bits left over, which a decoder may ignore.
  (text) => text.replace(/[AQgw]$/, (end) => end === "w" ? "x" : end + "B"),
  (text) => text.replace(/[AQgw]$/, "B"),
];

const part = fc.tuple(octets, fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 4, 5, 6))
  .map(([bytes, form]) => FORMS[form]!(encodeBase64Url(bytes)));
const plainPart = fc.constantFrom(
  encodeBase64Url('{"alg":"none"}'),
  encodeBase64Url("{}"),
);
const signature = fc.constantFrom("", "c2ln", "!", "=", " ", "\u00e4", "s_-");

const validTokens = fc.tuple(fc.oneof(plainPart, part), part, signature)
  .map((parts) => parts.join("."));
const BASE64 = [..."AQgwz09+/-_=. \n\t.\u00e4\0{"];

export const tokens = fc.oneof(
  { arbitrary: validTokens, weight: 5 },
  { arbitrary: mutated(validTokens, BASE64), weight: 5 },
  {
    arbitrary: fc.string({
      unit: fc.constantFrom(..."ey0J9.-_+/= {}"),
      maxLength: 16,
    }),
    weight: 1,
  },
);

/** One string of each class of characters, and some that look encoded. */
const CLASSES = [
  ...["\0", "\t", "\n", "\r", "\r\n", "\x1b", " ", "\x7f", "\x80", "\u00a0"],
  ..."aZ09&=+%;?#/:@\"'\\<>[]{}|^`~*-._,!$()",
  ...["%41", "%00", "%ZZ", "%C3%A9", "&amp;", "a=b&c=d", "+ +", "\u00e9"],
  ...["e\u0301", "\u2028", "\u2029", "\u200d", "\u202e", "\ufeff", "\ufffd"],
  ...["\uffff", "\u{1f600}", "\u{10ffff}", "\ud800", "\udc00", "\u65e5"],
];

/** Strings of every character class, lone surrogates included. */
export const values = fc.oneof(
  fc.array(fc.constantFrom(...CLASSES), { minLength: 1, maxLength: 6 })
    .map((texts) => texts.join("")),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
);
