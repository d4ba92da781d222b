import type { OnEvent } from "@oauth-helper/client";
import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";

/** Makes a span of each request, and of all else an event of the active span. */
export const onEvent: OnEvent = ({ type, ...attributes }) => {
  if (!("purpose" in attributes)) {
    return trace.getActiveSpan()?.addEvent(`oauth.${type}`, { ...attributes });
  }
  const { method, purpose, url, status, durationMs, code } = attributes;
  const end = Date.now();
  const span = trace.getTracer("@oauth-helper/client").startSpan(
    `${method} ${purpose}`,
    { kind: SpanKind.CLIENT, startTime: end - durationMs },
  );
  span.setAttributes({ "http.request.method": method, "url.full": url });
  if (status) span.setAttribute("http.response.status_code", status);
  if (code) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  span.end(end);
};
