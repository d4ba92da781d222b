/**
 * Second argument of a call to {@linkcode FetchLike}.
 *
 * @category Messages of the protocol
 */
export interface FetchInit {
  /** `GET`, `POST` or `DELETE`. */
  method: string;
  /** Header fields by name. */
  headers: Record<string, string>;
  /** Body of a `POST`. */
  body?: string;
  /** Always `manual`: each redirect is checked before it is followed. */
  redirect?: "manual";
  /** Aborts on timeout and when the caller's signal aborts. */
  signal?: AbortSignal;
}

/**
 * The response of a fetch function; a `Response` satisfies it. Optional members are
 * used if present.
 *
 * @category Messages of the protocol
 */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number;
  /** Reason phrase. */
  readonly statusText: string;
  /** Whether the status is 2xx. */
  readonly ok?: boolean;
  /** URL of the response, after redirects. */
  readonly url?: string;
  /** `opaqueredirect` where a browser hides a redirect. */
  readonly type?: string;
  /** Header fields. */
  readonly headers?: { get(name: string): string | null };
  /** The body; a stream is read up to the limit. */
  readonly body?: unknown;
  /** Whether the body has been read already. */
  readonly bodyUsed?: boolean;
  /** Reads the body as JSON. */
  json(): Promise<unknown>;
  /** Reads the body as text. */
  text(): Promise<string>;
}

/**
 * The part of `fetch` that this library uses.
 *
 * @category Messages of the protocol
 */
export type FetchLike = (
  url: string,
  init: FetchInit,
) => Promise<FetchResponse>;

/**
 * The purpose of a request, for {@linkcode RequestOptions.allowUrl}.
 *
 * - `client_metadata`: `diagnoseClientMetadata` requests a document or its keys.
 * - `resource`: {@linkcode createAuthorizedFetch} requests the resource's challenge, or
 *   follows its redirect to another origin.
 *
 * @category Messages of the protocol
 */
export type RequestPurpose =
  | "resource_metadata"
  | "authorization_server_metadata"
  | "client_metadata"
  | "registration"
  | "pushed_authorization"
  | "device_authorization"
  | "backchannel_authentication"
  | "token"
  | "revocation"
  | "resource";

/** Options of every network call of this library. */
export interface RequestOptions {
  /** Replaces the global `fetch`, which is looked up at each call. */
  fetch?: FetchLike | undefined;
  /** Aborts the whole operation at once, with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for each request with its redirects and its response body. `Infinity`
   * means no limit. After a timeout, the whole operation fails with `timeout`.
   *
   * @default {10_000}
   */
  timeoutMs?: number | undefined;
  /**
   * Maximum size of a response body in bytes, after decompression. A larger body fails
   * with `response_too_large`.
   *
   * @default {1_048_576}
   */
  maxBytes?: number | undefined;
  /**
   * Called before every request and redirect, for example to check the host. Any result
   * except `true` prevents the request, which fails with `url_refused`.
   */
  allowUrl?:
    | ((url: URL, purpose: RequestPurpose) => boolean | Promise<boolean>)
    | undefined;
  /**
   * Header fields to add. They replace the library's own, except the `Content-Type` and
   * the credentials of a token request.
   */
  headers?: Readonly<Record<string, string>> | undefined;
}
