/** Polling for a device's token in a time that passes in delays only. */

import {
  type DevicePollProgress,
  pollDeviceToken,
  type PollDeviceTokenOptions,
  publicClient,
} from "../../mod.ts";
import { DEVICE_AUTHORIZATION, SERVER, TOKEN_ENDPOINT } from "./fixtures.ts";
import { type Answer, json, stubFetch, text, untyped } from "./stub_fetch.ts";

/** The authorization that is polled for, from the beginning of time. */
export const AUTHORIZATION = { ...DEVICE_AUTHORIZATION, expires_at: 600 };

export const refusal = (error: string, status = 400): Answer =>
  json({ error }, { status });
export const pending = refusal("authorization_pending");
export const slowDown = refusal("slow_down");
export const done = json({ access_token: "t", token_type: "Bearer" });

/** A token endpoint that responds in turn, in a time that passes in delays only. */
export function polled(answers: Answer[]) {
  const left = [...answers];
  const stubbed = stubFetch({
    // A poll too many must end it; a throw would read as a lost connection.
    [TOKEN_ENDPOINT]: (request) => (left.shift() ?? text("", 418))(request),
  });
  const waits: number[] = [];
  let time = 0;
  const options = {
    fetch: stubbed.fetch,
    now: () => time,
    delay(milliseconds: number) {
      waits.push(milliseconds / 1000);
      time += milliseconds;
      return Promise.resolve();
    },
  };
  return { stubbed, waits, left, options };
}

/** Polls with these answers in turn; members of the authorization may be odd. */
export async function poll(
  answers: Answer[],
  authorization: Record<string, unknown> = {},
  options: Partial<PollDeviceTokenOptions> = {},
) {
  const { stubbed, waits, left, options: common } = polled(answers);
  using server = stubbed;
  const progress: DevicePollProgress[] = [];
  const result = await pollDeviceToken(
    SERVER,
    untyped({ ...AUTHORIZATION, ...authorization }),
    {
      ...common,
      client: publicClient("c1"),
      onPending: (one) => progress.push(one),
      ...options,
    },
  ).catch((error) => error);
  return { result, waits, progress, left, requests: server.requests };
}
