import { requireFault } from "./_arguments.ts";
import type { TestEndpoint } from "./request.ts";
import type { TestFault } from "./switches.ts";

/** The faults that have not happened yet. */
export class Faults {
  readonly #faults: [TestEndpoint, TestFault][] = [];

  /** Adds a fault for an endpoint's next request without one. */
  add(endpoint: TestEndpoint, fault: TestFault): void {
    requireFault(endpoint, fault);
    // A test may pass one response several times.
    const copy = fault instanceof Response ? fault.clone() : fault;
    this.#faults.push([endpoint, copy]);
  }

  /** Responds with, or fails by, the endpoint's next fault. */
  async respond(
    endpoint: TestEndpoint,
    act: () => Promise<Response>,
  ): Promise<Response | undefined> {
    const index = this.#faults.findIndex(([name]) => name === endpoint);
    const fault = index < 0 ? undefined : this.#faults.splice(index, 1)[0]![1];
    if (fault === "lose_request") return undefined;
    if (fault === "hang") return await new Promise(() => {});
    if (fault instanceof Response) return fault;
    if (typeof fault === "number") {
      return Response.json({ error: "temporarily_unavailable" }, {
        status: fault,
        headers: { "Retry-After": "1" },
      });
    }
    const response = await act();
    return fault === "lose_response" ? undefined : response;
  }
}
