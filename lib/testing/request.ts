/** The purpose of a request; `unknown` for an unknown URL. */
export type TestEndpoint =
  | "resource"
  | "resource_metadata"
  | "server_metadata"
  | "authorization"
  | "token"
  | "registration"
  | "revocation"
  | "device_authorization"
  | "backchannel_authentication"
  | "jwks"
  | "unknown";

/** A request that one of the servers received. */
export interface TestRequest {
  /** Its purpose. */
  readonly endpoint: TestEndpoint;
  /** HTTP method. */
  readonly method: string;
  /** URL, with its query. */
  readonly url: URL;
  /** Header fields. */
  readonly headers: Headers;
  /** Body; empty if there was none. */
  readonly body: string;
  /** Parameters of the query, and of a form in the body. */
  readonly params: URLSearchParams;
  /** Status of the response; absent if the client received none. */
  status?: number;
}
