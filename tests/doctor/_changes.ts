/** Changes of the server of `_world.ts`, to build its deviations from. */

import {
  type Model,
  RESOURCE_PATH,
  type Served,
  served,
  SERVER_PATH,
} from "./_world.ts";

export type Change = (model: Model) => void;

type Members = Record<string, unknown>;

type At<T> = T | ((origin: string) => T);

const at = <T>(value: At<T>, origin: string): T =>
  typeof value === "function"
    ? (value as (origin: string) => T)(origin)
    : value;

export const all =
  <M = Model>(...changes: ((model: M) => void)[]) => (model: M): void => {
    for (const change of changes) change(model);
  };

/** Replaces members of the metadata of the resource; undefined removes one. */
export const resource = (members: At<Members>): Change => (model) =>
  void Object.assign(model.resourceMetadata, at(members, model.origin));

/** Replaces members of the metadata of the server; undefined removes one. */
export const server = (members: At<Members>): Change => (model) =>
  void Object.assign(model.serverMetadata, at(members, model.origin));

export const challenge =
  (value: At<string> | undefined): Change => ({ origin, resource }) => {
    if (value === undefined) delete resource.headers["WWW-Authenticate"];
    else resource.headers["WWW-Authenticate"] = at(value, origin);
  };

/** Replaces what follows the URL of the metadata in the challenge. */
export const parameters = (value: string): Change =>
  challenge((origin) =>
    `Bearer resource_metadata="${origin}${RESOURCE_PATH}"${value}`
  );

/** A challenge that names another URL of the metadata at the origin. */
export const metadataAt = (path: string): Change =>
  challenge((origin) =>
    `Bearer resource_metadata="${origin}${path}", scope="read"`
  );

/** Has the resource respond with this status, and without a challenge. */
export const status =
  (status: number, headers: Record<string, string> = {}): Change =>
  ({ resource }) => {
    resource.status = status;
    Object.assign(resource.headers, headers);
    delete resource.headers["WWW-Authenticate"];
  };

type Respond = (request: Request) => Response | Promise<Response>;

/** Responds in this way at paths, each with or without a method. */
export const responding =
  (respond: Respond, ...paths: string[]): Change => ({ handlers }) => {
    for (const path of paths) handlers[path] = respond;
  };

/** Has a GET of the resource end with this status, and nothing else. */
export const getStatus = (status: number): Change =>
  responding(() => new Response(null, { status }), "GET /mcp");

type Documents = (model: Model) => Record<string, Served>;

export const documents = (added: Documents): Change => (model) =>
  void Object.assign(model.documents, added(model));

/** Publishes no document but these. */
export const only = (kept: Documents = () => ({})): Change => (model) =>
  void (model.documents = kept(model));

export const removed = (path: string): Change => ({ documents }) =>
  void delete documents[path];

/** Responds in place of the metadata of the server. */
export const inPlace =
  (body: string, init?: Parameters<typeof served>[1]): Change =>
  ({ documents }) => void (documents[SERVER_PATH] = served(body, init));

export const fields =
  (path: string, headers: Record<string, string>): Change => ({ documents }) =>
    void Object.assign(documents[path]?.headers ?? {}, headers);

export const withoutCors = (...paths: string[]): Change => ({ noCors }) => {
  for (const path of paths) noCors.add(path);
};
