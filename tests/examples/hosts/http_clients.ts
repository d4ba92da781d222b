import type { AuthorizedFetch } from "@oauth-helper/client";
import { Octokit } from "@octokit/core";
import axios from "axios";
import ky from "ky";
import { createFetch } from "ofetch";
import createClient from "openapi-fetch";

export const axiosOf = (api: AuthorizedFetch, baseURL: string) =>
  axios.create({ baseURL, adapter: "fetch", env: { fetch: api } });

export const kyOf = (api: AuthorizedFetch, prefix: string) =>
  ky.create({ prefix, fetch: api });

export const ofetchOf = (api: AuthorizedFetch, baseURL: string) =>
  createFetch({ fetch: api, defaults: { baseURL } });

export const openapiFetchOf = <Paths extends object>(
  api: AuthorizedFetch,
  baseUrl: string,
) => createClient<Paths>({ baseUrl, fetch: api });

export const octokitOf = (api: AuthorizedFetch, baseUrl: string) =>
  new Octokit({ baseUrl, request: { fetch: api } });
