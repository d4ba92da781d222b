/** The recording of three processes that share a session, as arrows. */
import recording from "./recording.json" with { type: "json" };
import type { Arrow } from "./world.ts";

/** Who takes part, from left to right. */
export const LANES = ["Process 1", "Process 2", "Process 3", "Auth server"];
const SERVER = 3;

export interface Recorded {
  readonly program: string;
  readonly calls: number;
  readonly succeeded: number;
  readonly arrows: readonly Arrow[];
}

/** Returns each refresh as two arrows, in the order of time. */
function arrowsOf(
  refreshes: (typeof recording)[number]["refreshes"],
): Arrow[] {
  const all = refreshes.flatMap(
    ({ sentAt, answeredAt, process, token, result }) => {
      const lane = process - 1;
      const isNew = typeof result === "number";
      const answer = isNew ? `200, refresh token ${result}` : String(result);
      const sent: Arrow = {
        ...{ from: lane, to: SERVER, label: `refresh token ${token}` },
        kind: "sent",
        text: `After ${sentAt / 1000} s, process ${process} sends\n` +
          `POST /token\ngrant_type=refresh_token\nrefresh_token=(token ${token})`,
      };
      const answered: Arrow = {
        ...{ from: SERVER, to: lane, label: answer },
        kind: isNew ? "answer" : "failure",
        text: `After ${answeredAt / 1000} s, the server answers\n${
          isNew
            ? `200, with an access token and refresh token ${result}`
            : `400, error: ${result}`
        }`,
      };
      return [
        { at: sentAt, arrow: sent },
        { at: answeredAt, arrow: answered },
      ];
    },
  );
  return all.sort((a, b) => a.at - b.at).map(({ arrow }) => arrow);
}

/** The program with this library, and the program without it. */
export const RECORDED: readonly Recorded[] = recording.map(
  ({ refreshes, program, calls, succeeded }) => ({
    ...{ program, calls, succeeded },
    arrows: arrowsOf(refreshes),
  }),
);
