import { assertEquals } from "@std/assert";
import {
  type AdviceAction,
  adviceFor,
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../../../mod.ts";

function actionOf(
  code: OAuthClientErrorCode,
  details?: IOAuthClientErrorDetails,
): AdviceAction {
  return adviceFor(new OAuthClientError(code, "Failed", details)).action;
}

Deno.test("adviceFor() decides by the error code of the server, at any status", () => {
  const table: Record<AdviceAction, string[]> = {
    retry: [
      "authorization_pending",
      "server_error",
      "slow_down",
      "temporarily_unavailable",
      "use_dpop_nonce",
    ],
    reauthorize: [
      "account_selection_required",
      "consent_required",
      "expired_token",
      "insufficient_user_authentication",
      "interaction_required",
      "invalid_grant",
      "login_required",
    ],
    reregister: ["invalid_client", "unauthorized_client"],
    ask_user: ["access_denied", "unmet_authentication_requirements"],
    give_up: [],
  };
  for (const [action, errors] of Object.entries(table)) {
    for (const error of errors) {
      for (const status of [undefined, 200, 400, 401, 429, 500]) {
        const row = `${error} ${status}`;
        assertEquals(actionOf("oauth_error", { error, status }), action, row);
      }
    }
  }
});

Deno.test("adviceFor() gives up on other error codes, unless the status is temporary", () => {
  for (
    const error of [
      "invalid_request",
      "invalid_scope",
      "invalid_target",
      "unsupported_grant_type",
      "constructor",
      "__proto__",
      undefined,
    ]
  ) {
    assertEquals(actionOf("oauth_error", { error, status: 400 }), "give_up");
    assertEquals(actionOf("oauth_error", { error, status: 503 }), "retry");
  }
});

Deno.test("adviceFor() decides by the status of a response without an error code", () => {
  const rows: [status: number, action: AdviceAction][] = [
    [400, "give_up"],
    [401, "give_up"],
    [404, "give_up"],
    [408, "retry"],
    [425, "retry"],
    [429, "retry"],
    [500, "retry"],
    [503, "retry"],
  ];
  for (const [status, action] of rows) {
    assertEquals(
      actionOf("unexpected_status", { status }),
      action,
      `${status}`,
    );
  }
});

Deno.test("adviceFor() decides by the code of an error without a response", () => {
  const table: Record<OAuthClientErrorCode, AdviceAction> = {
    network_error: "retry",
    timeout: "retry",
    expired: "reauthorize",
    invalid_authorization_response: "reauthorize",
    invalid_id_jag: "reauthorize",
    invalid_session: "reauthorize",
    discovery_failed: "give_up",
    identifier_mismatch: "give_up",
    invalid_argument: "give_up",
    invalid_challenge: "give_up",
    invalid_id_token: "give_up",
    invalid_jwt: "give_up",
    invalid_metadata: "give_up",
    invalid_response: "give_up",
    issuer_mismatch: "give_up",
    oauth_error: "give_up",
    redirect_refused: "give_up",
    response_too_large: "give_up",
    unexpected_status: "give_up",
    unsupported: "give_up",
    url_refused: "give_up",
  };
  for (const [code, action] of Object.entries(table)) {
    assertEquals(actionOf(code as OAuthClientErrorCode), action, code);
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

Deno.test("adviceFor() returns retryAfter with retry only", () => {
  const advice = (error: string) =>
    adviceFor(
      new OAuthClientError("oauth_error", "Failed", { error, retryAfter: 0 }),
    );
  assertEquals(advice("temporarily_unavailable"), {
    action: "retry",
    retryAfter: 0,
  });
  assertEquals(advice("invalid_grant"), { action: "reauthorize" });
});

Deno.test("adviceFor() gives up on anything that is no error of this library", () => {
  for (const thrown of [new TypeError("fetch failed"), "timeout", undefined]) {
    assertEquals(adviceFor(thrown), { action: "give_up" });
  }
});
