/**
 * What a caller can set on every network call, and the little that is asked of
 * a fetch function.
 *
 * @module
 */

/** Second argument of a call to {@linkcode IFetch}. */
export interface IFetchInit {
  /** `GET` or `POST`. */
  method: string;
  /** Header fields by name. */
  headers: Record<string, string>;
  /** Body of a `POST`. */
  body?: string;
  /** Always `manual`: redirects are judged one by one. */
  redirect?: "manual";
  /** Aborts on time-out and when the caller's signal does. */
  signal?: AbortSignal;
}

/**
 * What a fetch function must answer with; a `Response` will do. The optional
 * members are used where they are present.
 */
export interface IFetchResponse {
  /** HTTP status. */
  readonly status: number;
  /** Reason phrase. */
  readonly statusText: string;
  /** Whether the status is 2xx. */
  readonly ok?: boolean;
  /** Address of the reply, after redirects. */
  readonly url?: string;
  /** `opaqueredirect` where a browser hides a redirect. */
  readonly type?: string;
  /** Header fields. */
  readonly headers?: { get(name: string): string | null };
  /** The body; read as a stream where it is one, up to the limit. */
  readonly body?: unknown;
  /** Whether somebody has read from the body. */
  readonly bodyUsed?: boolean;
  /** Reads the body as JSON. */
  json(): Promise<unknown>;
  /** Reads the body as text. */
  text(): Promise<string>;
}

/** The part of `fetch` that this library uses. */
export type IFetch = (url: string, init: IFetchInit) => Promise<IFetchResponse>;

/** What a request is for, as told to {@linkcode IRequestOptions.allowUrl}. */
export type RequestPurpose =
  | "resource_metadata"
  | "authorization_server_metadata"
  | "registration"
  | "device_authorization"
  | "token";

/** Options that every network call of this library takes. */
export interface IRequestOptions {
  /** Used in place of the global `fetch`, which is looked up at each call. */
  fetch?: IFetch | undefined;
  /** Ends the whole operation at once, with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for one request, its redirects and its body together, however
   * busy it is; 10,000 when absent, `Infinity` for no limit. A time-out ends the
   * whole operation with `timeout`.
   */
  timeoutMs?: number | undefined;
  /**
   * Most bytes of a body, after decompression; 1,048,576 when absent. A larger
   * one is not read on and fails with `response_too_large`.
   */
  maxBytes?: number | undefined;
  /**
   * Asked before every request and every redirect hop: the place for a list of
   * allowed hosts, or for a look at where a name resolves to. An answer other
   * than true keeps the request from being made, which then fails with
   * `url_refused`.
   */
  allowUrl?:
    | ((url: URL, purpose: RequestPurpose) => boolean | Promise<boolean>)
    | undefined;
  /**
   * Header fields to add to the request. They win over the library's own, save
   * for the `Content-Type` and the credentials of a request for a token.
   */
  headers?: Readonly<Record<string, string>> | undefined;
}
