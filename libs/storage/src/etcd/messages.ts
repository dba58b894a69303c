/** The messages of proto/etcd/v3 as they are used here; numbers that fit are numbers, lease ids are text. */
export interface Header {
  revision: number;
}
export interface EtcdKeyValue {
  key: Buffer;
  value: Buffer;
  create_revision: number;
  mod_revision: number;
  version: number;
}
export interface EtcdEvent {
  /** 0 PUT, 1 DELETE. */
  type: number;
  kv: EtcdKeyValue;
  prev_kv?: EtcdKeyValue;
}
export interface RangeRequest {
  key: Buffer;
  range_end?: Buffer;
  limit?: number;
  revision?: number;
  count_only?: boolean;
}
export interface RangeResponse {
  header: Header;
  kvs: EtcdKeyValue[];
  count: number;
}
export interface RequestOp {
  request_range?: RangeRequest;
  request_put?: { key: Buffer; value: Uint8Array; lease?: string };
  request_delete_range?: { key: Buffer; prev_kv: boolean };
}
export interface TxnRequest {
  compare: { result: number; target: number; key: Buffer; mod_revision: number }[];
  success: RequestOp[];
  failure: RequestOp[];
}
export interface TxnResponse {
  header: Header;
  succeeded: boolean;
  responses: { response_range?: RangeResponse; response_delete_range?: { prev_kvs: EtcdKeyValue[] } }[];
}
export interface WatchRequest {
  create_request?: {
    key: Buffer;
    range_end: Buffer;
    start_revision: number;
    progress_notify: boolean;
    prev_kv: boolean;
  };
  progress_request?: object;
}
export interface WatchResponse {
  header: Header;
  created: boolean;
  canceled: boolean;
  compact_revision: number;
  cancel_reason: string;
  events: EtcdEvent[];
}

/** Request and response of each unary call. */
export interface UnaryCalls {
  'KV/Range': [RangeRequest, RangeResponse];
  'KV/Txn': [TxnRequest, TxnResponse];
  'KV/Compact': [{ revision: number; physical: boolean }, { header: Header }];
  'Lease/LeaseGrant': [{ TTL: number }, { ID: string; TTL: string }];
  'Auth/Authenticate': [{ name: string; password: string }, { token: string }];
}
export const messageTypes: Record<keyof UnaryCalls | 'Watch/Watch', [request: string, response: string]> = {
  'KV/Range': ['RangeRequest', 'RangeResponse'],
  'KV/Txn': ['TxnRequest', 'TxnResponse'],
  'KV/Compact': ['CompactionRequest', 'CompactionResponse'],
  'Lease/LeaseGrant': ['LeaseGrantRequest', 'LeaseGrantResponse'],
  'Auth/Authenticate': ['AuthenticateRequest', 'AuthenticateResponse'],
  'Watch/Watch': ['WatchRequest', 'WatchResponse'],
};
