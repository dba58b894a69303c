import type { LoadBalancerIngress } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1123Subdomain,
  isValidIp,
  sloppyFamilyOf,
} from '@tinkernetes/apimachinery';
import { check, eachOf, oneOf } from './rules';
import type { Errors } from './rules';

/** Where a balancer can be reached. Source: core/validation.ValidateLoadBalancerStatus and networking's. */
export const validateIngressPoints = (points: readonly LoadBalancerIngress[] | undefined): Errors =>
  eachOf('status.loadBalancer.ingress', points, ({ ip, hostname, ipMode }, at) => [
    ...(ip ? check(child(at, 'ip'), ip, isValidIp) : []),
    ...(ipMode !== undefined && !ip
      ? [forbidden(child(at, 'ipMode'), 'may not be specified when `ip` is not set')]
      : oneOf(child(at, 'ipMode'), ipMode, ['Proxy', 'VIP'])),
    ...(hostname ? validateHostname(hostname, child(at, 'hostname')) : []),
  ]);

const validateHostname = (name: string, path: string): Errors => [
  ...check(path, name, isDns1123Subdomain),
  ...(sloppyFamilyOf(name) ? [invalid(path, name, 'must be a DNS name, not an IP address')] : []),
];
