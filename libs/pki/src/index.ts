export type * from './types';
export {
  createCertificateAuthority,
  createCertificateSigningRequest,
  createSelfSignedCertificate,
  createServiceAccountKeyPair,
  issueCertificate,
  readCertificateSigningRequest,
  signCertificateSigningRequest,
} from './authority';
