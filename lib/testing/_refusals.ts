/** Returns an error response (RFC 6749, section 5.2), to be thrown. */
export function refusal(
  error: string,
  error_description: string,
  status = 400,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error, error_description }, {
    status,
    headers: { "Cache-Control": "no-store", ...headers },
  });
}

/** Returns the response that an endpoint returns or throws. */
export async function settle(
  endpoint: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await endpoint();
  } catch (thrown) {
    if (thrown instanceof Response) return thrown;
    throw thrown;
  }
}
