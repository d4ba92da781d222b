/** A clock that a test moves. */
export class ServersClock {
  readonly #clock: () => number;
  #movedMs = 0;
  readonly #moved: (() => void)[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** A property, so that it can be passed on. */
  readonly now = (): number => this.#clock() + this.#movedMs;

  advance(seconds: number): void {
    this.#movedMs += seconds * 1000;
    for (const look of this.#moved.splice(0)) look();
  }

  /** Resolves when the clock has been moved to a time. */
  async reach(time: number): Promise<void> {
    while (this.now() < time) {
      await new Promise<void>((end) => this.#moved.push(end));
    }
  }
}
