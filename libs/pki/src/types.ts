/** PEM texts: an X.509 certificate and its PKCS #8 private key. */
export interface CertificatePair {
  certificate: string;
  key: string;
}

/** A certificate that signs others, with its key. */
export type CertificateAuthority = CertificatePair;

export type ExtendedKeyUsage =
  'clientAuth' | 'serverAuth' | 'codeSigning' | 'emailProtection' | 'timeStamping' | 'ocspSigning';

export type KeyUsage =
  | 'digitalSignature'
  | 'nonRepudiation'
  | 'keyEncipherment'
  | 'dataEncipherment'
  | 'keyAgreement'
  | 'keyCertSign'
  | 'cRLSign'
  | 'encipherOnly'
  | 'decipherOnly';

/** How long what is issued is valid, in milliseconds. */
export interface Validity {
  /** Epoch milliseconds; certificates begin five minutes earlier, for clocks that differ. */
  now: number;
  /** Default: ten years for authorities, one year for the rest, as kubeadm's. */
  durationMs?: number;
}

export interface Subject {
  /** CN: a client's user name. */
  commonName: string;
  /** O, in order: a client's groups. */
  organizations?: readonly string[];
}

export interface AlternativeNames {
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
}

export interface CertificateRequestOptions extends Subject, AlternativeNames {}

/** What a request asks for. */
export interface CertificateRequest extends Required<CertificateRequestOptions> {
  emailAddresses: readonly string[];
  uris: readonly string[];
}

export interface CertificateOptions extends Subject, AlternativeNames, Validity {
  usages: readonly ExtendedKeyUsage[];
}
