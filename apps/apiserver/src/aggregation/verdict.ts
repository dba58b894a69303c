import type { APIService, APIServiceCondition } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';

/** What is found of an APIService: its Available condition. */
export type Verdict = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

export const localVerdict: Verdict = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

/** The object with its Available condition as found; the same object where nothing has changed. */
export function withVerdict(service: APIService, verdict: Verdict, now: string): APIService {
  const before = findCondition(service.status?.conditions, 'Available');
  if (
    before?.status === verdict.status &&
    before.reason === verdict.reason &&
    before.message === verdict.message
  ) {
    return service;
  }
  const condition: APIServiceCondition = {
    lastTransitionTime: before?.status === verdict.status ? before.lastTransitionTime : now,
    message: verdict.message,
    reason: verdict.reason,
    status: verdict.status,
    type: 'Available',
  };
  const others = (service.status?.conditions ?? []).filter(({ type }) => type !== 'Available');
  return { ...service, status: { ...service.status, conditions: [...others, condition] } };
}
