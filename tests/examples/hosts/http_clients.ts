import type { IAuthorizedFetch } from "@oauth-helper/client";
import { Octokit } from "@octokit/core";
import axios from "axios";
import ky from "ky";
import { createFetch } from "ofetch";
import createClient from "openapi-fetch";

export const axiosOf = (api: IAuthorizedFetch, baseURL: string) =>
  axios.create({ baseURL, adapter: "fetch", env: { fetch: api } });

export const kyOf = (api: IAuthorizedFetch, prefix: string) =>
  ky.create({ prefix, fetch: api });

export const ofetchOf = (api: IAuthorizedFetch, baseURL: string) =>
  createFetch({ fetch: api, defaults: { baseURL } });

export const openapiFetchOf = <Paths extends object>(
  api: IAuthorizedFetch,
  baseUrl: string,
) => createClient<Paths>({ baseUrl, fetch: api });

export const octokitOf = (api: IAuthorizedFetch, baseUrl: string) =>
  new Octokit({ baseUrl, request: { fetch: api } });
