/**
 * `@std/testing/mock` for machines where only the npm registry responds. No package
 * there contains that module, so this file implements what the tests use, with the
 * same names, parameters and behaviour.
 */

// deno-lint-ignore no-explicit-any
type Any = any;

/** A replaced method; disposing restores the original. */
interface Stub extends Disposable {
  (...args: Any[]): Any;
  calls: { args: Any[] }[];
}

/** Replaces `self[property]` until the stub is disposed. */
export function stub<Self extends object, Prop extends keyof Self>(
  self: Self,
  property: Prop,
  func?: Self[Prop] extends (...args: infer Args) => infer Return
    ? (this: Self, ...args: Args) => Return
    : never,
): Stub {
  const descriptor = Object.getOwnPropertyDescriptor(self, property);
  const calls: Stub["calls"] = [];
  const replacement = function (this: Any, ...args: Any[]): Any {
    calls.push({ args });
    return (func as Any)?.apply(this, args);
  };
  Object.defineProperty(self, property, {
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
    writable: true,
    value: replacement,
  });
  return Object.assign(replacement, {
    calls,
    [Symbol.dispose]() {
      if (descriptor) Object.defineProperty(self, property, descriptor);
      else delete self[property];
    },
  });
}

/** Fails unless the stub was called exactly this many times. */
export function assertSpyCalls(spy: Stub, expectedCalls: number): void {
  if (spy.calls.length !== expectedCalls) {
    throw new Error(
      `Spy expected ${expectedCalls} calls, was called ${spy.calls.length} times`,
    );
  }
}
