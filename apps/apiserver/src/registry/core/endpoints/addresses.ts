import { canonicalIp, cidrContains, invalid, sloppyFamilyOf } from '@tinkernetes/apimachinery';
import type { Errors } from '../../rules';

/** Addresses that no endpoint and no external IP may have. Source: core/validation.ValidateNonSpecialIP. */
export function nonSpecialIp(path: string, given: string): Errors {
  const address = canonicalIp(given);
  const refuse = (detail: string) => [invalid(path, given, detail)];
  if (!sloppyFamilyOf(given)) return refuse('must be a valid IP address');
  if (address === '0.0.0.0' || address === '::') return refuse(`may not be unspecified (${address})`);
  if (cidrContains('127.0.0.0/8', address) || address === '::1') {
    return refuse('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (cidrContains('169.254.0.0/16', address) || cidrContains('fe80::/10', address)) {
    return refuse('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (cidrContains('224.0.0.0/24', address) || cidrContains('ff02::/16', address)) {
    return refuse('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return [];
}
