/** What the program runs in: lines go out, signals end it. */

/** What the program uses of the process. */
export interface IHost {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Checks whether a person reads the standard error, where the program asks. */
  readonly isTerminal: () => boolean;
  /** Checks whether the standard output is a terminal that shows colours. */
  readonly hasColours: () => boolean;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Prints a line that is no result. */
  readonly printError: (line: string) => void;
  /** Replaces the last line of the standard error, which is a terminal. */
  readonly printProgress: (text: string) => void;
  /** Returns a signal that aborts when the user ends the program; listens from then on. */
  readonly endSignal: () => AbortSignal;
}
