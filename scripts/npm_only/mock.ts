/**
 * `@std/testing/mock` for machines where only the npm registry responds. No package
 * there contains that module, so this file implements the functions that the tests
 * use, with the same names, parameters and behaviour.
 */

// deno-lint-ignore no-explicit-any
type Any = any;

/** One recorded call. */
export interface SpyCall {
  args: Any[];
  returned?: Any;
  error?: Error;
  self?: Any;
}

/** A replaced method; disposing or calling `restore()` restores the original. */
export interface Stub extends Disposable {
  (...args: Any[]): Any;
  calls: SpyCall[];
  original: Any;
  restored: boolean;
  restore(): void;
}

/** Replaces `self[property]` until the stub is restored or disposed. */
export function stub<Self extends object, Prop extends keyof Self>(
  self: Self,
  property: Prop,
  func?: Self[Prop] extends (...args: infer Args) => infer Return
    ? (this: Self, ...args: Args) => Return
    : never,
): Stub {
  const descriptor = Object.getOwnPropertyDescriptor(self, property);
  const original = self[property] as Any;
  if (typeof original !== "function") {
    throw new TypeError("Cannot stub: property is not an instance method");
  }
  const calls: SpyCall[] = [];
  const replacement = function (this: Any, ...args: Any[]): Any {
    const call: SpyCall = { args };
    if (this) call.self = this;
    calls.push(call);
    try {
      return call.returned = (func as Any)?.apply(this, args);
    } catch (error) {
      call.error = error as Error;
      throw error;
    }
  } as Stub;
  const restore = () => {
    if (replacement.restored) {
      throw new Error("Cannot restore: instance method already restored");
    }
    if (descriptor) Object.defineProperty(self, property, descriptor);
    else delete self[property];
    replacement.restored = true;
  };
  Object.assign(replacement, { calls, original, restored: false, restore });
  replacement[Symbol.dispose] = () => {
    if (!replacement.restored) restore();
  };
  Object.defineProperty(self, property, {
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
    writable: true,
    value: replacement,
  });
  return replacement;
}

/** Fails unless the stub was called exactly this many times. */
export function assertSpyCalls(spy: Stub, expectedCalls: number): void {
  if (spy.calls.length !== expectedCalls) {
    throw new Error(
      `Spy expected ${expectedCalls} calls, was called ${spy.calls.length} times`,
    );
  }
}
