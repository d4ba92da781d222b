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
  /** The caller's signal. */
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
  /** The body as a stream; closed when it is not going to be read. */
  readonly body?: unknown;
  /** Reads the body as JSON. */
  json(): Promise<unknown>;
  /** Reads the body as text. */
  text(): Promise<string>;
}

/** The part of `fetch` that this library uses. */
export type IFetch = (url: string, init: IFetchInit) => Promise<IFetchResponse>;

/** Options that every network call of this library takes. */
export interface IRequestOptions {
  /** Used in place of the global `fetch`, which is looked up at each call. */
  fetch?: IFetch | undefined;
  /** Ends the whole operation at once, with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /**
   * Header fields to add to the request. They win over the library's own, save
   * for the `Content-Type` and the credentials of a request for a token.
   */
  headers?: Readonly<Record<string, string>> | undefined;
}
