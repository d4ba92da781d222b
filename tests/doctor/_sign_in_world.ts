/** The server of `_world.ts` with all that a sign-in needs, healthy unless changed. */

import {
  diagnose,
  type DiagnoseSignIn,
  type IDiagnosis,
  type IFetch,
} from "../../lib/doctor/mod.ts";
import { idsOf, type IModel, type IWorld, startWorld } from "./_world.ts";

/** The tokens of a server; none of them may be in a report. */
export interface ITokens {
  readonly access: Set<string>;
  readonly refresh: Set<string>;
  /** Everything secret that was issued. */
  readonly issued: string[];
}

export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

export interface ISignInModel extends IModel {
  readonly tokens: ITokens;
  /** Changes a response of `/as/...` or of `/mcp` that is about to be sent. */
  changes: Record<string, (members: Record<string, unknown>) => void>;
  /** The forms that the token endpoint has received. */
  readonly forms: URLSearchParams[];
}

/** A server that users can sign in to. */
export interface ISignInWorld extends IWorld {
  readonly model: ISignInModel;
}

/** Adds endpoints that issue, refresh and revoke tokens. */
export function withSignIn(model: IModel): ISignInModel {
  const { origin, serverMetadata, handlers } = model;
  const tokens: ITokens = {
    access: new Set(),
    refresh: new Set(),
    issued: [],
  };
  const all: ISignInModel = Object.assign(model, {
    tokens,
    changes: {},
    forms: [],
  });
  const create = (kind: string) => {
    const value = `${kind}-${crypto.randomUUID()}`;
    tokens.issued.push(value);
    return value;
  };
  const codes = new Set<string>();
  const json = (
    path: string,
    members: Record<string, unknown>,
    status = 200,
  ) => {
    all.changes[path]?.(members);
    return Response.json(members, { status });
  };
  serverMetadata.revocation_endpoint = `${origin}/as/revoke`;
  serverMetadata.device_authorization_endpoint = `${origin}/as/device`;
  handlers["POST /as/register"] = async (request) => {
    const members = await request.json();
    return json("/as/register", { ...members, client_id: "client-1" }, 201);
  };
  handlers["GET /as/authorize"] = ({ url }) => {
    const { searchParams: query } = new URL(url);
    const code = create("code");
    codes.add(code);
    const callback = new URL(query.get("redirect_uri") ?? "");
    const members: Record<string, unknown> = {
      code,
      state: query.get("state"),
      iss: `${origin}/as`,
    };
    all.changes["/as/authorize"]?.(members);
    for (const [name, value] of Object.entries(members)) {
      if (value !== undefined) callback.searchParams.set(name, `${value}`);
    }
    return Response.redirect(callback);
  };
  handlers["POST /as/device"] = () => {
    const code = create("device-code");
    codes.add(code);
    return json("/as/device", {
      device_code: code,
      user_code: create("user-code"),
      verification_uri: `${origin}/as/activate`,
      expires_in: 600,
    });
  };
  handlers["POST /as/token"] = async (request) => {
    const form = new URLSearchParams(await request.text());
    all.forms.push(form);
    const isRefresh = form.get("grant_type") === "refresh_token";
    const grant = form.get("code") ?? form.get("device_code") ??
      form.get("refresh_token") ?? "";
    if (!(isRefresh ? tokens.refresh : codes).delete(grant)) {
      return json("/as/token dead", { error: "invalid_grant" }, 400);
    }
    const [access_token, refresh_token] = [create("access"), create("refresh")];
    tokens.access.add(access_token);
    tokens.refresh.add(refresh_token);
    const members = {
      access_token,
      refresh_token,
      token_type: "Bearer",
      expires_in: 3600,
      scope: "read",
    };
    return json(isRefresh ? "/as/token refresh" : "/as/token", members);
  };
  handlers["POST /as/revoke"] = async (request) => {
    const token = new URLSearchParams(await request.text()).get("token") ?? "";
    tokens.access.delete(token);
    tokens.refresh.delete(token);
    return new Response();
  };
  handlers["GET /mcp"] = ({ headers }) => {
    const [, token = ""] = headers.get("Authorization")?.split(" ") ?? [];
    const { status, headers: fields } = model.resource;
    return tokens.access.has(token)
      ? Response.json({})
      : new Response("", { status, headers: fields });
  };
  return all;
}

/** Changes the members of a response. */
export const members =
  (path: string, change: Record<string, unknown>) =>
  ({ changes }: ISignInModel): void => {
    changes[path] = (response) => Object.assign(response, change);
  };

type Respond = (
  request: Request,
  usual: (request: Request) => Response | Promise<Response>,
) => Response | Promise<Response>;

/** Replaces the handler of a method and path, which may use the usual one. */
export const handler =
  (path: string, respond: Respond) => (model: ISignInModel): void => {
    const { [path]: usual } = model.handlers;
    model.handlers[path] = (request) => respond(request, usual!);
  };

/** Starts a server that users can sign in to. */
export function startSignInWorld(
  change: (model: ISignInModel) => void = () => {},
): ISignInWorld {
  return startWorld((model) => change(withSignIn(model))) as ISignInWorld;
}

/** A user who consents at once. */
export const user = {
  redirectUri: REDIRECT_URI,
  async visit(url: URL): Promise<string> {
    const response = await fetch(url, { redirect: "manual" });
    await response.body?.cancel();
    return response.headers.get("Location") ?? "";
  },
};

/** Diagnoses a server to the end. */
export async function signedIn(
  change: (model: ISignInModel) => void = () => {},
  signIn: Partial<DiagnoseSignIn> = {},
  fetch?: IFetch,
): Promise<IDiagnosis & { ids: string[]; model: ISignInModel }> {
  await using world = startSignInWorld(change);
  const diagnosis = await diagnose(world.target, {
    signIn: { ...user, ...signIn } as DiagnoseSignIn,
    fetch,
  });
  return { ...diagnosis, ids: idsOf(diagnosis), model: world.model };
}
