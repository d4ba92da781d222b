import type { AuthorizedFetch } from "@oauth-helper/client";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

// Both add a field `Authorization` of their own, which an authorized fetch does not
// replace: `null` leaves it out. OpenAI requires a key nevertheless; it is not sent.
const defaultHeaders = { Authorization: null };

export const openaiOf = (api: AuthorizedFetch, baseURL: string) =>
  new OpenAI({ baseURL, fetch: api, defaultHeaders, apiKey: "unused" });

export const anthropicOf = (api: AuthorizedFetch, baseURL: string) =>
  new Anthropic({
    ...{ baseURL, fetch: api, defaultHeaders },
    ...{ apiKey: null, authToken: null },
  });
