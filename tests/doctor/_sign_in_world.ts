/** The server of `_world.ts` with all that a sign-in needs, healthy unless changed. */

import {
  diagnose,
  type DiagnoseSignIn,
  type Diagnosis,
} from "../../lib/doctor/mod.ts";
import { type FetchLike, OAuthClientError } from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { idsOf, type Model, startWorld, type World } from "./_world.ts";

/** The tokens of a server; none of them may be in a report. */
export interface Tokens {
  access(): string[];
  readonly refresh: Set<string>;
  readonly issued: string[];
}

export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

export interface SignInModel extends Model {
  readonly tokens: Tokens;
  /** Changes a response of `/as/...` or of `/mcp` that is about to be sent. */
  changes: Record<string, (members: Record<string, unknown>) => void>;
  readonly forms: URLSearchParams[];
}

export interface SignInWorld extends World {
  readonly model: SignInModel;
}

const SECRETS = [
  ...["code", "access_token", "refresh_token", "device_code", "user_code"],
];

/** Adds the endpoints of the servers for tests, which issue and revoke tokens. */
export function withSignIn(model: Model): SignInModel {
  const { origin, serverMetadata, handlers } = model;
  const redirect_uris = [REDIRECT_URI];
  const servers = createTestServers({
    resource: `${origin}/mcp`,
    issuer: `${origin}/as`,
    resourceParameter: "optional",
    clients: ["client-1", "c1", "c2"]
      .map((client_id) => ({ client_id, redirect_uris })),
  });
  const tokens: Tokens = {
    access: () => servers.accessTokens(),
    refresh: new Set(),
    issued: [],
  };
  const all: SignInModel = Object.assign(model, {
    tokens,
    changes: {},
    forms: [],
  });

  /** Responds as the servers for tests, with the changes. */
  async function forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const form = new URLSearchParams(await request.text());
    if (pathname === "/as/token") all.forms.push(new URLSearchParams(form));
    // Every client is public there: changes can make another one of it.
    const basic = request.headers.get("Authorization")?.replace("Basic ", "");
    if (basic) form.set("client_id", atob(basic).split(":")[0]!);
    form.delete("client_secret");
    const { method } = request;
    const proof = request.headers.get("DPoP");
    const response = await servers.fetch(
      origin + pathname + search,
      method === "GET"
        ? {}
        : { method, body: form, headers: proof ? { DPoP: proof } : {} },
    );
    const { ok, status, headers } = response;
    const location = headers.get("Location");
    const isJson = headers.get("Content-Type")?.includes("json");
    const members = location === null
      ? isJson ? await response.json() : {}
      : Object.fromEntries(new URL(location).searchParams);
    for (const name of SECRETS) {
      if (members[name]) tokens.issued.push(members[name]);
    }
    const used = form.get("refresh_token");
    if (ok) tokens.refresh.delete(used ?? form.get("token") ?? "");
    if (ok && members.refresh_token) tokens.refresh.add(members.refresh_token);
    const kind = ok || location ? used ? " refresh" : "" : " dead";
    all.changes[pathname + kind]?.(members);
    if (location === null) return Response.json(members, { status });
    const callback = new URL(location);
    callback.search = "";
    for (const [name, value] of Object.entries(members)) {
      if (value !== undefined) callback.searchParams.set(name, `${value}`);
    }
    return Response.redirect(callback);
  }

  handlers["GET /as/authorize"] = handlers["POST /as/device"] = forward;
  handlers["POST /as/token"] = handlers["POST /as/revoke"] = forward;
  serverMetadata.revocation_endpoint = `${origin}/as/revoke`;
  serverMetadata.device_authorization_endpoint = `${origin}/as/device`;
  handlers["POST /as/register"] = async (request) => {
    const members = { ...await request.json(), client_id: "client-1" };
    all.changes["/as/register"]?.(members);
    return Response.json(members, { status: 201 });
  };
  handlers["GET /mcp"] = ({ headers }) => {
    const [, token = ""] = headers.get("Authorization")?.split(" ") ?? [];
    const { status, headers: fields } = model.resource;
    return tokens.access().includes(token)
      ? Response.json({})
      : new Response("", { status, headers: fields });
  };
  return all;
}

export const members =
  (path: string, change: Record<string, unknown>) =>
  ({ changes }: SignInModel): void => {
    changes[path] = (response) => Object.assign(response, change);
  };

type Respond = (
  request: Request,
  usual: (request: Request) => Response | Promise<Response>,
) => Response | Promise<Response>;

/** Replaces the handler of a method and path, which may use the usual one. */
export const handler =
  (path: string, respond: Respond) => (model: SignInModel): void => {
    const { [path]: usual } = model.handlers;
    model.handlers[path] = (request) => respond(request, usual!);
  };

export function startSignInWorld(
  change: (model: SignInModel) => void = () => {},
): SignInWorld {
  return startWorld((model) => change(withSignIn(model))) as SignInWorld;
}

export const user = {
  redirectUri: REDIRECT_URI,
  async visit(url: URL): Promise<string> {
    const response = await fetch(url, { redirect: "manual" });
    await response.body?.cancel();
    return response.headers.get("Location") ?? "";
  },
};

/** A user who does not come back. */
export const absent = {
  redirectUri: REDIRECT_URI,
  visit: () =>
    Promise.reject(
      new OAuthClientError("timeout", "No authorization response in time"),
    ),
};

export async function signedIn(
  change: (model: SignInModel) => void = () => {},
  signIn: Partial<DiagnoseSignIn> = {},
  fetch?: FetchLike,
): Promise<Diagnosis & { ids: string[]; model: SignInModel }> {
  await using world = startSignInWorld(change);
  const diagnosis = await diagnose(world.target, {
    signIn: { ...user, ...signIn } as DiagnoseSignIn,
    fetch,
  });
  return { ...diagnosis, ids: idsOf(diagnosis), model: world.model };
}
