import type { Release } from './priority-level';
import type { LimitedRequest, RequestLimiter } from './request-limiter';
import { tooManyRequests } from './too-many-requests';
import { isLongRunning, kindOf } from './work-estimate';

const exemptGroup = 'system:masters';
const nothing: Release = () => undefined;

/** So many requests that read and so many that write, without priorities. 0: no limit. */
export class InFlightLimit implements RequestLimiter {
  private readonly running = { readOnly: 0, mutating: 0 };

  constructor(private readonly limits: { readOnly: number; mutating: number }) {}

  admit({ info, user, response }: LimitedRequest): Release | undefined {
    if (isLongRunning(info)) return nothing;
    const kind = kindOf(info);
    const limit = this.limits[kind];
    if (limit !== 0 && this.running[kind] >= limit && !user.groups.includes(exemptGroup)) {
      tooManyRequests(response);
      return undefined;
    }
    this.running[kind]++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.running[kind]--;
    };
  }
}
