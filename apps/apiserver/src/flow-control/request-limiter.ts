import type { ServerResponse } from 'node:http';
import type { RequestInfo, UserInfo } from '../contracts';
import type { Release } from './priority-level';

export interface LimitedRequest {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly response: ServerResponse;
}

/** Decides when a request may be served. */
export interface RequestLimiter {
  /** Resolves when it may; undefined: never, it has been answered. What comes back ends it. */
  admit(request: LimitedRequest): Release | Promise<Release | undefined> | undefined;
}
