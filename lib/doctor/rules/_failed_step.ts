/** The error of a sign-in's request, with the advice for its step. */

import type { OAuthClientError } from "../../core/errors.ts";
import { parseHttpUrl, parseUrl } from "../../core/_url.ts";
import { type Facts, sentence, shown } from "../_facts.ts";
import type { Exchange } from "../_recorder.ts";
import { REGISTERED_CLIENT, type Sighting } from "./_rule.ts";
import { isPage, lastOf } from "../sign_in/_steps.ts";
import type { DiagnosisStepName, FindingHint } from "../diagnosis.ts";

export const IN_LOG = "Look for the reason in the log of the server.";

/** By step: the standard, and the advice for operator and client. */
const ADVICE: Partial<
  Record<
    DiagnosisStepName,
    [
      standard: string,
      operator: string,
      client?: string | undefined,
      ...FindingHint[],
    ]
  >
> = {
  registration: [
    "RFC 7591, section 3.2",
    "Accept a native client with a loopback redirect URI.",
    undefined,
    REGISTERED_CLIENT,
  ],
  pushed_authorization: [
    "RFC 9126, section 2.3",
    "Accept the authorization request as it would be in the browser.",
  ],
  authorization: [
    "RFC 6749, section 4.1.2; RFC 8707, section 2",
    "Accept the parameters of the request, or list what is supported; send " +
    "`code` and the `state` of the request, each once.",
    "See the server's error for what to change.",
    { option: "scopes", text: "set scopes" },
    { option: "parameters", text: "set parameters" },
    {
      option: "resourceIndicator",
      value: false,
      text: "set resourceIndicator: false",
    },
  ],
  device_authorization: [
    "RFC 8628, section 3.2",
    "Accept the device flow of every client that may sign in.",
  ],
  token: [
    "RFC 6749, section 5.2",
    IN_LOG,
    "See the server's error for the cause.",
  ],
  refresh: [
    "RFC 6749, section 6",
    "Accept each refresh token that was issued, from the same client.",
    "The user signs in again whenever the token expires.",
    {
      option: "sendScopeOnRefresh",
      value: true,
      text: "set sendScopeOnRefresh: true if the server wants the scopes",
    },
  ],
  revocation: [
    "RFC 7009, section 2.2",
    "Respond to a revocation with status 200.",
    "The tokens of this diagnosis may stay valid until they expire.",
  ],
  deregistration: [
    "RFC 7592, section 2.3",
    "Respond to the deletion of a registration with status 204.",
    "The client of this diagnosis stays registered.",
  ],
};

/** Returns a redirect's origin and path, because its query may repeat sent values. */
function targetOf({ url, response }: Exchange): string | undefined {
  const location = response?.headers?.get("Location") ?? undefined;
  const target = location && parseHttpUrl(parseUrl(location, url));
  return target ? shown(target.origin + target.pathname, 300) : undefined;
}

/** Describes a step's response, and how its operator can fix it. */
function receivedAt(
  step: DiagnosisStepName,
  error: OAuthClientError,
  exchange: Exchange | undefined,
): [message: string, operator?: string] {
  const { status, headers } = exchange?.response ?? {};
  const endpoint = `The ${step.replace("_", " ")} endpoint`;
  if (error.code === "redirect_refused" && exchange) {
    const target = targetOf(exchange);
    return [
      target ? `${endpoint} redirects to ${target}.` : sentence(error),
      "List the final URL in the metadata. Clients follow no redirect of such " +
      "a request.",
    ];
  }
  if (step !== "authorization" && exchange && isPage(exchange)) {
    const type = shown(headers?.get("Content-Type") ?? "no type", 60);
    return [
      `${endpoint} returns a page: status ${status}, ${type}.`,
      "Respond with JSON, errors included.",
    ];
  }
  return [sentence(error)];
}

/** Describes that a flow made no request, because the server lacks its endpoint. */
function unsupported(
  { signIn, context }: Facts,
  error: OAuthClientError,
): Sighting {
  return {
    message: sentence(error),
    standard: "RFC 8414, section 2",
    operator: "Publish the endpoint, if users can sign in with this flow.",
    url: context?.serverMetadataUrl ?? error.url ?? "",
    shows: [
      signIn?.flow === "device"
        ? "device_authorization_endpoint"
        : "authorization_endpoint",
    ],
  };
}

export function failed(
  facts: Facts,
  step: DiagnosisStepName,
  error: OAuthClientError,
): Sighting {
  const { exchanges } = facts;
  if (error.code === "unsupported" && !lastOf(exchanges, step)) {
    return unsupported(facts, error);
  }
  const [standard, general, client, ...hints] = ADVICE[step] ??
    ["RFC 6749, section 4", IN_LOG];
  const [message, operator = general] = receivedAt(
    step,
    error,
    lastOf(exchanges, step),
  );
  // Only an error code tells a client how to continue.
  const isSaid = step !== "token" || error.error !== undefined;
  return {
    message,
    standard,
    operator,
    ...(isSaid && client !== undefined && { client }),
    hints: error.hints ?? hints,
    at: step,
  };
}
