/** A sign-in's requests for a report, with secrets hidden. */

import { isMembers, type Members, withoutNulls } from "../../core/_members.ts";
import { isForm, parseJson } from "../../http/_response.ts";
import { secretsOf } from "../../http/_redact.ts";
import { type Facts, shown, shownText, type SignInFacts } from "../_facts.ts";
import type { Exchange } from "../_recorder.ts";
import { STEPS } from "../_step_table.ts";
import type { DiagnosisStepName } from "../diagnosis.ts";

/** Replaces a value that is, or may be, secret. */
const HIDDEN = "[hidden]";

export function isOfSignIn({ name }: Pick<Exchange, "name">): boolean {
  return STEPS[name].part !== undefined;
}

/** Public parameters and response members. All others are hidden. */
const PUBLIC =
  /^(error(_description|_uri)?|grant_types?|response_(type|mode)s?|issued_token_type|token_type(_hint)?|scope|resource|audience|(refresh_)?expires_in|refresh_token_(expires_in|timeout)|authorization_expires_in|interval|iss|prompt|max_age|acr_values|redirect_uris?|client_(id|name|uri|id_issued_at|secret_expires_at)|application_type|token_endpoint_auth_method|code_challenge_method|verification_ur[il])$/;

/** Members of a successful response that errors and findings must not repeat. */
const SECRET = /token$|secret$|code$|assertion$|^request_uri$|_uri_complete$/;

export function lastOf(
  exchanges: readonly Exchange[],
  name: DiagnosisStepName,
): Exchange | undefined {
  return exchanges.filter((exchange) => exchange.name === name).at(-1);
}

/** A response is JSON or a form. */
export function responseMembersOf(
  exchange: Exchange | undefined,
): Members | undefined {
  const { text, name, response } = exchange ?? {};
  if (text === undefined) return undefined;
  const members = name === "authorization" || (response && isForm(response))
    ? Object.fromEntries(new URLSearchParams(text))
    : withoutNulls(parseJson(text));
  return isMembers(members) ? members : undefined;
}

export function sentMembersOf({ sent }: Exchange): Members {
  const { body = "" } = sent ?? {};
  const members = body.startsWith("{")
    ? parseJson(body)
    : Object.fromEntries(new URLSearchParams(body));
  return isMembers(members) ? members : {};
}

/** Copies a public value: strings are cut, and nothing else is nested. */
function publicValue(value: unknown): unknown {
  if (typeof value === "string") return shownText(value, 300);
  if (typeof value === "number" || typeof value === "boolean") return value;
  const isList = Array.isArray(value) &&
    value.every((member) => typeof member === "string");
  return isList ? value.slice(0, 20).map((one) => shownText(one, 300)) : HIDDEN;
}

/** Returns the members of a sign-in's request and response for a report. */
export function publicPartsOf(exchange: Exchange): {
  sent?: Record<string, string>;
  received?: Record<string, unknown>;
} {
  const { name, sent } = exchange;
  if (!isOfSignIn(exchange)) return {};
  const visible = (members: Members) =>
    Object.entries(members).slice(0, 50).map(([member, value]) =>
      [
        shown(member, 100),
        PUBLIC.test(member) ? publicValue(value) : HIDDEN,
      ] as const
    );
  const authorization = Object.entries(sent?.headers ?? {})
    .find(([field]) => /^authorization$/i.test(field))?.[1];
  const isCall = STEPS[name].lane === "resource";
  const parameters = isCall ? {} : sentMembersOf(exchange);
  const received = responseMembersOf(exchange);
  return {
    sent: {
      ...(authorization !== undefined && {
        Authorization: `${authorization.split(" ", 1)[0]} ${HIDDEN}`,
      }),
      ...Object.fromEntries(
        visible(parameters).map(([member, value]) => [
          member,
          Array.isArray(value) ? value.join(" ") : String(value),
        ]),
      ),
    },
    ...(received && { received: Object.fromEntries(visible(received)) }),
  };
}

/** Returns the secret values of sign-ins, which a diagnosis must not contain. */
export function secretsOfSignIn(exchanges: readonly Exchange[]): string[] {
  return exchanges.filter(isOfSignIn)
    .flatMap((exchange) => {
      const { headers = {}, body } = exchange.sent ?? {};
      const received = Object.entries(responseMembersOf(exchange) ?? {})
        .flatMap(([name, value]) =>
          typeof value === "string" &&
            (SECRET.test(name) ||
              (exchange.name === "authorization" && !PUBLIC.test(name)))
            ? [value]
            : []
        );
      // As a form, for its encodings.
      const form = received.map((value, index) => [`${index}`, value]);
      return [
        ...secretsOf(headers, body),
        ...secretsOf({}, `${new URLSearchParams(form)}`),
      ];
    });
}

/** The meaning of a registration's `GET`, by status. */
const CHECKED: Readonly<Record<number, string>> = {
  200: "still there",
  401: "no longer there",
};

/** Describes the response to a sign-in's request; undefined for other steps. */
export function describeSignIn(exchange: Exchange): string | undefined {
  const { name, method, response } = exchange;
  const members = responseMembersOf(exchange);
  const error = typeof members?.error === "string"
    ? shown(members.error, 40)
    : undefined;
  if (name === "authorization") {
    return error ?? (members ? "came back" : "no response");
  }
  const { words: word } = STEPS[name];
  if (!word) return undefined;
  // Whether a registration that the server does not delete is gone anyway.
  const isCheck = name === "deregistration" && method === "GET";
  const checked = isCheck && response && CHECKED[response.status];
  if (checked) return checked;
  if (error) return error;
  if (!response) return "no response";
  const { status } = response;
  const isMissing = STEPS[name].isJson && !members;
  if (status < 300 && isMissing) return isPage(exchange) ? "a page" : "no JSON";
  if (status < 300) return word;
  const isOther = STEPS[name].lane === "resource" &&
    ![401, 403].includes(status);
  return isOther ? "not accepted" : "refused";
}

/** Returns a flow's failure at one of these steps. */
export function failureAt({ signIn }: Facts, ...steps: DiagnosisStepName[]) {
  const { failure } = signIn ?? {};
  return failure && steps.includes(failure.step) ? failure : undefined;
}

/** Checks for an HTML page in place of JSON. */
export function isPage({ response, text = "" }: Exchange): boolean {
  return /^\s*<(!doctype|html)/i.test(text) ||
    /\bhtml\b/i.test(response?.headers?.get("Content-Type") ?? "");
}

/** Checks whether a sign-in failed because the server requires bound tokens. */
export function needsDpop(signIn: SignInFacts | undefined): boolean {
  return !signIn?.hasDpop &&
    ["invalid_dpop_proof", "use_dpop_nonce"].includes(
      signIn?.failure?.error.error ?? "",
    );
}
