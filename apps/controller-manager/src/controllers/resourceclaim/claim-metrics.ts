import type { ResourceV1ResourceClaim as ResourceClaim } from '@tinkernetes/api';
import type { Counter, Metrics } from '@tinkernetes/component-base';
import type { Lister } from '@tinkernetes/informers';
import { entryAnnotation } from './pod-claims';

const extendedResourceAnnotation = 'resource.kubernetes.io/extended-resource-claim';

/** Whether a claim asks for devices that others may have already. */
export const isAdminAccess = ({ spec }: Pick<ResourceClaim, 'spec'>): boolean =>
  spec.devices?.requests?.some((request) => request.exactly?.adminAccess) ?? false;

/** Where a claim comes from; empty: somebody made it by hand. */
function sourceOf({ metadata }: ResourceClaim): string {
  if (metadata.annotations?.[extendedResourceAnnotation]) return 'extended_resource';
  return metadata.annotations?.[entryAnnotation] ? 'resource_claim_template' : '';
}

/** Counts the claims that are there when asked for. Returns the counter of creations. Source: pkg/controller/resourceclaim/metrics. */
export function registerClaimMetrics(metrics: Metrics, claims: Lister<ResourceClaim>): Counter {
  metrics
    .gauge(
      'resourceclaim_controller_resource_claims',
      'Number of ResourceClaims, categorized by allocation status, admin access, and source.',
      ['allocated', 'admin_access', 'source'],
    )
    .collectEach(() => {
      const counts = new Map<string, number>();
      for (const claim of claims.list()) {
        const key = [Boolean(claim.status?.allocation), isAdminAccess(claim), sourceOf(claim)].join();
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      return [...counts].map(([key, count]) => {
        const [allocated = '', admin_access = '', source = ''] = key.split(',');
        return [{ allocated, admin_access, source }, count] as const;
      });
    });
  return metrics.counter(
    'resourceclaim_controller_creates_total',
    'Number of ResourceClaims creation requests, categorized by creation status and admin access',
    ['status', 'admin_access'],
  );
}
