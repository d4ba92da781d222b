import process from "node:process";
import { setTimeout } from "node:timers/promises";

/** Calls an API as often as the first argument says, in seconds; prints what it got. */
export async function callForSeconds(
  call: () => Promise<Response>,
): Promise<void> {
  const end = performance.now() + Number(process.argv[2]) * 1000;
  let [calls, succeeded, problem] = [0, 0, ""];
  do {
    calls++;
    try {
      const response = await call();
      if (response.ok) succeeded++;
      else problem = String(response.status);
      await response.body?.cancel();
    } catch (error) {
      problem = String(error);
    }
    await setTimeout(50);
  } while (performance.now() < end);
  console.log(JSON.stringify({ calls, succeeded, problem }));
}
