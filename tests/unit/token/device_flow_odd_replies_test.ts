import { assertEquals, assertFalse, assertInstanceOf } from "@std/assert";
import { OAuthClientError, pollDeviceToken } from "../../../mod.ts";
import {
  assertInvalidArgument,
  DEVICE_AUTHORIZATION,
} from "../../support/fixtures.ts";
import { minimal, stubFetch, untyped } from "../../support/stub_fetch.ts";
import {
  done,
  pending,
  poll,
  refusal,
  slowDown,
} from "../../support/poll_device_token.ts";

const STATUSES = [429, 500, 503];

Deno.test("pollDeviceToken() ends at once on an error of the grant, whatever the status", async () => {
  for (const error of ["access_denied", "invalid_grant", "invalid_client"]) {
    for (const status of STATUSES) {
      const { result, waits, progress } = await poll([refusal(error, status)]);
      assertInstanceOf(result, OAuthClientError);
      assertEquals(
        [result.code, result.error, result.status],
        ["oauth_error", error, status],
      );
      assertEquals([waits, progress], [[5], []]);
    }
  }
});

Deno.test("pollDeviceToken() takes an expired_token for expired, whatever the status", async () => {
  for (const status of STATUSES) {
    const { result, waits } = await poll([refusal("expired_token", status)]);
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.error], ["expired", "expired_token"]);
    assertEquals(waits, [5]);
  }
});

Deno.test("pollDeviceToken() does not wait longer for a pending reply of 429 or 5xx", async () => {
  for (const status of STATUSES) {
    const waiting = refusal("authorization_pending", status);
    const { result, waits, progress } = await poll([waiting, waiting, done], {
      interval: 7,
    });
    assertEquals(result.access_token, "t");
    assertEquals(waits, [7, 7, 7]);
    // Nothing was lost on the way.
    assertFalse(progress.some((one) => "error" in one));
  }
});

Deno.test("pollDeviceToken() waits 5 seconds more for a slow_down of 429 or 5xx", async () => {
  for (const status of STATUSES) {
    const slower = refusal("slow_down", status);
    const { result, waits, progress } = await poll([
      slower,
      slower,
      pending,
      done,
    ], { interval: 7 });
    assertEquals(result.access_token, "t");
    assertEquals(waits, [7, 12, 17, 17]);
    assertFalse(progress.some((one) => "error" in one));
  }
});

Deno.test("pollDeviceToken() leaves a tenth of a second between polls at least", async () => {
  for (const interval of [1e-9, Number.MIN_VALUE, 0.05, 0.1]) {
    const { result, waits } = await poll([pending, pending, done], {
      interval,
    });
    assertEquals(result.access_token, "t");
    assertEquals(waits, [0.1, 0.1, 0.1]);
  }
});

Deno.test("pollDeviceToken() takes an interval that is no number for none", async () => {
  for (const interval of ["5", "3", [3], {}, true, null, NaN]) {
    const { result, waits } = await poll([pending, slowDown, done], {
      interval,
    });
    assertEquals(result.access_token, "t");
    assertEquals(waits, [5, 5, 10]);
  }
});

Deno.test("pollDeviceToken() goes on after a reply that cannot be read", async () => {
  const unreadable = () => minimal({});
  const { result, waits, progress } = await poll([unreadable, done]);
  assertEquals(result, { access_token: "t", token_type: "Bearer" });
  assertEquals(waits, [5, 10]);
  assertEquals(progress.map(({ error }) => error?.code), ["network_error"]);
});

Deno.test("pollDeviceToken() ends on a reply that is no JSON", async () => {
  const html = () => minimal({ text: () => Promise.resolve("<html>") });
  const { result, waits } = await poll([html]);
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "invalid_response");
  assertEquals(waits, [5]);
});

Deno.test("pollDeviceToken() refuses a server that is none, of expired codes too", async () => {
  for (const serverMetadata of [null, undefined, 7, "x"]) {
    for (const expires_at of [0, 600]) {
      using stubbed = stubFetch({});
      const waits: number[] = [];
      await assertInvalidArgument(
        () =>
          pollDeviceToken(
            untyped(serverMetadata),
            { ...DEVICE_AUTHORIZATION, expires_at },
            {
              fetch: stubbed.fetch,
              now: () => 1_000,
              delay(milliseconds) {
                waits.push(milliseconds);
                return Promise.resolve();
              },
            },
          ),
        "serverMetadata",
      );
      assertEquals([waits, stubbed.urls], [[], []]);
    }
  }
});
