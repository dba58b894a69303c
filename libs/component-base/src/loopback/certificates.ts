import { X509Certificate } from 'node:crypto';

/** The certificates of a PEM bundle. */
export const certificatesIn = (bundle: string): X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );

/** Whether one of these authorities, and none between, vouches for the certificate. */
export const issuedBy = (certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean =>
  authorities.some((ca) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey));

export const isValidAt = ({ validFrom, validTo }: X509Certificate, now: number): boolean =>
  Date.parse(validFrom) <= now && now <= Date.parse(validTo);
