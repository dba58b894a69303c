import { realClock, withDeadline } from '@tinkernetes/component-base';

/**
 * `withDeadline` in real time, whatever clock the component runs on: a peer on a real connection answers no faster when
 * the cluster's clock does.
 */
export const withRealDeadline = <T>(ms: number, work: (late: AbortSignal) => Promise<T>): Promise<T> =>
  withDeadline(realClock, ms, work);
