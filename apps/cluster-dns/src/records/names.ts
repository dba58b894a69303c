/** `10.244.1.2` → `10-244-1-2`: an endpoint without a hostname, and a Pod in the `pod` zone. */
export function dashed(address: string): string {
  return address.replaceAll(/[.:]/g, '-');
}

/** The address that a dashed label stands for, or undefined. IPv6 has eight groups or `--` for a run of zeros. */
export function undashed(label: string): string | undefined {
  if (/^\d{1,3}(-\d{1,3}){3}$/.test(label)) {
    const parts = label.split('-');
    return parts.every((p) => Number(p) <= 255) ? parts.join('.') : undefined;
  }
  return /^[0-9a-f-]+$/.test(label) && label.includes('-') ? label.replaceAll('-', ':') : undefined;
}

/** The address of `5.0.96.10.in-addr.arpa` or `….ip6.arpa` (RFC 1035, 3596), or undefined. */
export function addressOfReverseName(name: string): string | undefined {
  const v4 = /^((?:\d{1,3}\.){4})in-addr\.arpa$/.exec(name);
  if (v4) return (v4[1] ?? '').slice(0, -1).split('.').reverse().join('.');
  const v6 = /^((?:[0-9a-f]\.){32})ip6\.arpa$/.exec(name);
  if (!v6) return undefined;
  const nibbles = (v6[1] ?? '').slice(0, -1).split('.').reverse().join('');
  return canonicalIPv6((nibbles.match(/.{4}/g) ?? []).join(':'));
}

/** One spelling for each address, so that it can be looked up. */
export function canonicalIPv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

export function isIPv6(address: string): boolean {
  return address.includes(':');
}
