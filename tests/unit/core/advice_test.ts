/**
 * Each error leads to one advice: by its code, its status and the request that failed.
 */

import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { isOutage } from "../../../lib/core/advice.ts";
import {
  type AdviceAction,
  adviceFor,
  createAuthorizedFetch,
  OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorDetails,
  type OAuthClientErrorRequest,
} from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

function actionOf(
  code: OAuthClientErrorCode,
  details?: OAuthClientErrorDetails,
): AdviceAction {
  return adviceFor(new OAuthClientError(code, "Failed", details)).action;
}

Deno.test("adviceFor() decides by the error code of the server", () => {
  const table: Record<AdviceAction, string[]> = {
    retry: [
      "authorization_pending",
      "server_error",
      "slow_down",
      "temporarily_unavailable",
      "use_dpop_nonce",
    ],
    reauthorize: [
      ...["account_selection_required", "expired_token", "invalid_grant"],
      ...["insufficient_user_authentication", "interaction_required"],
      "login_required",
    ],
    reregister: [
      ...["incorrect_client_credentials", "invalid_client"],
      "unauthorized_client",
    ],
    ask_user: [
      ...["access_denied", "consent_required"],
      "unmet_authentication_requirements",
    ],
    give_up: [
      ...["bad_refresh_token", "invalid_refresh_token", "invalid_request"],
      ...["invalid_scope", "invalid_target", "unsupported_grant_type"],
      ...["constructor", "__proto__"],
    ],
  };
  for (const [action, errors] of Object.entries(table)) {
    for (const error of errors) {
      for (const status of [undefined, 200, 400, 401, 403]) {
        const row = `${error} ${status}`;
        assertEquals(actionOf("oauth_error", { error, status }), action, row);
      }
    }
  }
});

Deno.test("adviceFor() retries after a status that may change, whatever the error code and the request", () => {
  const errors = ["invalid_grant", "invalid_client", "access_denied", "x"];
  const requests = [undefined, "refresh", "registration", "assertion"] as const;
  for (const status of [408, 425, 429, 500, 503]) {
    for (const error of [...errors, undefined]) {
      for (const request of requests) {
        const details = { error, status, request };
        const row = `${error} ${status} ${request}`;
        assertEquals(actionOf("oauth_error", details), "retry", row);
      }
    }
  }
});

Deno.test("adviceFor() decides by the request, where an error code means something else after it", () => {
  const rows: [
    request: OAuthClientErrorRequest,
    error: string | undefined,
    status: number | undefined,
    action: AdviceAction,
  ][] = [
    ["refresh", "bad_refresh_token", 200, "reauthorize"],
    ["refresh", "invalid_refresh_token", 401, "reauthorize"],
    ["refresh", "invalid_request", 400, "reauthorize"],
    ["refresh", undefined, 400, "retry"],
    ["refresh", undefined, 401, "retry"],
    ["refresh", undefined, 403, "give_up"],
    ["refresh", undefined, 404, "give_up"],
    ["refresh", "invalid_scope", 400, "give_up"],
    ["refresh", "invalid_client", 401, "reregister"],
    ["refresh", "temporarily_unavailable", 400, "retry"],
    ["registration", "access_denied", 403, "give_up"],
    ["registration", "invalid_client", 401, "give_up"],
    ["registration", "unauthorized_client", 400, "give_up"],
    ["registration", undefined, 401, "give_up"],
    ["registration", "temporarily_unavailable", 400, "retry"],
    ["silent_authorization", "consent_required", undefined, "reauthorize"],
    ["silent_authorization", "login_required", undefined, "reauthorize"],
    ["silent_authorization", "access_denied", undefined, "ask_user"],
    ["authorization", "access_denied", 403, "give_up"],
    ["authorization", "invalid_client", 401, "reregister"],
    ["assertion", "access_denied", 400, "give_up"],
    ["assertion", "consent_required", 400, "give_up"],
    ["assertion", "invalid_client", 401, "give_up"],
    ["assertion", "incorrect_client_credentials", 200, "give_up"],
    ["assertion", "unauthorized_client", 400, "give_up"],
    ["assertion", "invalid_grant", 400, "reauthorize"],
    ["assertion", "insufficient_user_authentication", 400, "reauthorize"],
    ["assertion", undefined, 401, "give_up"],
    [untyped(undefined), undefined, 400, "give_up"],
    [untyped(undefined), undefined, 404, "give_up"],
    [untyped(undefined), undefined, 503, "retry"],
    // Of a later version of this library.
    [untyped("revocation"), "access_denied", 400, "ask_user"],
  ];
  for (const [request, error, status, action] of rows) {
    const code = error ? "oauth_error" : "unexpected_status";
    const row = `${request} ${error} ${status}`;
    assertEquals(actionOf(code, { request, error, status }), action, row);
  }
  const errorResponse = { msg: "Refresh Token Not Found" };
  for (const status of [400, 401]) {
    const details = { request: "refresh", status, errorResponse } as const;
    assertEquals(actionOf("unexpected_status", details), "give_up");
  }
  // With an empty body, or `{}`.
  const bare = { request: "refresh", errorResponse: {} } as const;
  const cases = [
    [400, "reauthorize"],
    [401, "reauthorize"],
    [403, "give_up"],
    [503, "retry"],
  ] as const;
  for (const [status, action] of cases) {
    assertEquals(actionOf("unexpected_status", { ...bare, status }), action);
  }
});

Deno.test("adviceFor() decides by the code of an error without a response", () => {
  const table: Record<OAuthClientErrorCode, AdviceAction> = {
    network_error: "retry",
    // Without a URL, it is that of a user.
    timeout: "ask_user",
    expired: "reauthorize",
    invalid_authorization_response: "reauthorize",
    invalid_id_jag: "reauthorize",
    invalid_session: "reauthorize",
    popup_blocked: "ask_user",
    popup_closed: "ask_user",
    sign_in_required: "ask_user",
    discovery_failed: "give_up",
    identifier_mismatch: "give_up",
    invalid_argument: "give_up",
    invalid_id_token: "give_up",
    invalid_jwt: "give_up",
    invalid_metadata: "give_up",
    invalid_response: "give_up",
    issuer_mismatch: "give_up",
    oauth_error: "give_up",
    redirect_refused: "give_up",
    redirected: "give_up",
    response_too_large: "give_up",
    unexpected_status: "give_up",
    unsupported: "give_up",
    url_refused: "give_up",
  };
  for (const [code, action] of Object.entries(table)) {
    assertEquals(actionOf(code as OAuthClientErrorCode), action, code);
  }
});

Deno.test("adviceFor() retries a request that timed out or got no response, unless a certificate is not trusted", () => {
  const url = "https://as.example/token";
  const table = {
    retry: [undefined, "connection_refused", "host_not_found"],
    give_up: ["certificate", "certificate_expired"],
  } as const;
  for (const [action, reasons] of Object.entries(table)) {
    for (const reason of reasons) {
      const error = new OAuthClientError("network_error", "m", {
        networkReason: reason,
      });
      assertEquals(adviceFor(error), { action: action as AdviceAction });
      const attempts = [{ url, error }];
      assertEquals(actionOf("discovery_failed", { attempts }), action);
      // Whatever the advice, it says nothing about a token.
      assert(isOutage(error));
    }
  }
  const timeout = new OAuthClientError("timeout", "m", { url });
  assertEquals(adviceFor(timeout), { action: "retry" });
  assert(isOutage(timeout));
  for (const error of ["invalid_grant", "invalid_client"]) {
    assertFalse(isOutage(new OAuthClientError("oauth_error", "m", { error })));
  }
});

Deno.test("adviceFor() retries a discovery if one of its attempts may succeed later", () => {
  const attempt = (status: number) => ({
    url: "https://as.example",
    error: new OAuthClientError("unexpected_status", "Failed", { status }),
  });
  const advice = (...statuses: number[]) =>
    actionOf("discovery_failed", { attempts: statuses.map(attempt) });
  assertEquals(advice(404, 404), "give_up");
  assertEquals(advice(503, 404), "retry");
});

Deno.test("adviceFor() returns retryAfterSeconds with retry only", () => {
  const advice = (error: string) =>
    adviceFor(
      new OAuthClientError("oauth_error", "Failed", {
        error,
        retryAfterSeconds: 0,
      }),
    );
  assertEquals(advice("temporarily_unavailable"), {
    action: "retry",
    retryAfterSeconds: 0,
  });
  assertEquals(advice("invalid_grant"), { action: "reauthorize" });
});

Deno.test("adviceFor() advises a retry where the caller's own call got no response", async () => {
  const failed = (code: string, message: string) =>
    new TypeError("fetch failed", {
      cause: Object.assign(new Error(message), { code }),
    });
  // As the runtimes name them; the last three are no lost responses.
  const rows: [thrown: unknown, action: AdviceAction][] = [
    [failed("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9"), "retry"],
    [failed("UND_ERR_SOCKET", "other side closed"), "retry"],
    [
      new TypeError("error sending request for url (http://a.example/)", {
        cause: new Error("client error (Connect): dns error: not known"),
      }),
      "retry",
    ],
    [new TypeError("Failed to fetch"), "retry"],
    [
      new TypeError("NetworkError when attempting to fetch resource."),
      "retry",
    ],
    [new TypeError("Load failed"), "retry"],
    [
      new TypeError("ECONNRESET: The socket connection was closed"),
      "retry",
    ],
    [new Error("Network connection lost."), "retry"],
    [failed("CERT_HAS_EXPIRED", "certificate has expired"), "give_up"],
    [new TypeError("Request with GET/HEAD method has a body"), "give_up"],
    [new TypeError("x is not a function"), "give_up"],
  ];
  for (const [thrown, action] of rows) {
    const api = createAuthorizedFetch("https://api.example", {
      fetch: () => Promise.reject(thrown),
    });
    const error = await assertRejects(() => api("https://api.example/notes"));
    assertEquals([error, adviceFor(error)], [thrown, { action }]);
    assertFalse(isOutage(error));
  }
});

Deno.test("adviceFor() gives up on anything that is no error of this library", () => {
  for (const thrown of [new TypeError("fetch failed"), "timeout", undefined]) {
    assertEquals(adviceFor(thrown), { action: "give_up" });
  }
});
