/** Goes on with a value, now or when it is known: what asks the authorizer takes time. */
export const whenKnown = <T, R>(value: T | Promise<T>, next: (value: T) => R): R | Promise<Awaited<R>> =>
  value instanceof Promise ? (value.then(next) as Promise<Awaited<R>>) : next(value);
