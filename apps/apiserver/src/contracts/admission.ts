import type { KubeObject } from '@tinkernetes/api';
import type { UserInfo } from './request';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The object as it would be stored; undefined for DELETE. Mutating plugins return a changed copy. */
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  warn(message: string): void;
}

/**
 * One admission plugin under upstream's name. Mutating plugins run before validating ones; the first rejection (a
 * thrown StatusError) ends the request. Source: https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/
 */
export interface AdmissionPlugin {
  readonly name: string;
  handles(attributes: AdmissionAttributes): boolean;
  /** Returns the object to go on with. */
  mutate?(attributes: AdmissionAttributes): Promise<KubeObject | undefined> | KubeObject | undefined;
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}
