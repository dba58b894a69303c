import { X509Certificate } from 'node:crypto';

/** The certificates of a PEM bundle. */
export const certificatesIn = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

/** Whether one of these authorities, and none between, vouches for the certificate. */
export const issuedBy = (certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean =>
  authorities.some((ca) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey));

/** When a certificate is valid. Reading it takes far longer than comparing. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export const periodOf = ({ validFrom, validTo }: X509Certificate): Period => ({
  from: Date.parse(validFrom),
  to: Date.parse(validTo),
});

export const isWithin = (now: number, { from, to }: Period): boolean => from <= now && now <= to;
