/** proto/etcd/v3/rpc.proto as JSON (a test compares the two). */
export const etcdDescriptor = {
  nested: {
    etcdserverpb: {
      nested: {
        KV: {
          methods: {
            Range: {
              requestType: 'RangeRequest',
              responseType: 'RangeResponse',
            },
            Txn: {
              requestType: 'TxnRequest',
              responseType: 'TxnResponse',
            },
            Compact: {
              requestType: 'CompactionRequest',
              responseType: 'CompactionResponse',
            },
          },
        },
        Watch: {
          methods: {
            Watch: {
              requestType: 'WatchRequest',
              requestStream: true,
              responseType: 'WatchResponse',
              responseStream: true,
            },
          },
        },
        Lease: {
          methods: {
            LeaseGrant: {
              requestType: 'LeaseGrantRequest',
              responseType: 'LeaseGrantResponse',
            },
          },
        },
        Auth: {
          methods: {
            Authenticate: {
              requestType: 'AuthenticateRequest',
              responseType: 'AuthenticateResponse',
            },
          },
        },
        ResponseHeader: {
          fields: {
            cluster_id: {
              type: 'uint64',
              id: 1,
            },
            member_id: {
              type: 'uint64',
              id: 2,
            },
            revision: {
              type: 'int64',
              id: 3,
            },
            raft_term: {
              type: 'uint64',
              id: 4,
            },
          },
        },
        KeyValue: {
          fields: {
            key: {
              type: 'bytes',
              id: 1,
            },
            create_revision: {
              type: 'int64',
              id: 2,
            },
            mod_revision: {
              type: 'int64',
              id: 3,
            },
            version: {
              type: 'int64',
              id: 4,
            },
            value: {
              type: 'bytes',
              id: 5,
            },
            lease: {
              type: 'int64',
              id: 6,
            },
          },
        },
        Event: {
          fields: {
            type: {
              type: 'int32',
              id: 1,
            },
            kv: {
              type: 'KeyValue',
              id: 2,
            },
            prev_kv: {
              type: 'KeyValue',
              id: 3,
            },
          },
        },
        RangeRequest: {
          fields: {
            key: {
              type: 'bytes',
              id: 1,
            },
            range_end: {
              type: 'bytes',
              id: 2,
            },
            limit: {
              type: 'int64',
              id: 3,
            },
            revision: {
              type: 'int64',
              id: 4,
            },
            count_only: {
              type: 'bool',
              id: 9,
            },
          },
        },
        RangeResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
            kvs: {
              rule: 'repeated',
              type: 'KeyValue',
              id: 2,
            },
            more: {
              type: 'bool',
              id: 3,
            },
            count: {
              type: 'int64',
              id: 4,
            },
          },
        },
        PutRequest: {
          fields: {
            key: {
              type: 'bytes',
              id: 1,
            },
            value: {
              type: 'bytes',
              id: 2,
            },
            lease: {
              type: 'int64',
              id: 3,
            },
          },
        },
        DeleteRangeRequest: {
          fields: {
            key: {
              type: 'bytes',
              id: 1,
            },
            range_end: {
              type: 'bytes',
              id: 2,
            },
            prev_kv: {
              type: 'bool',
              id: 3,
            },
          },
        },
        DeleteRangeResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
            deleted: {
              type: 'int64',
              id: 2,
            },
            prev_kvs: {
              rule: 'repeated',
              type: 'KeyValue',
              id: 3,
            },
          },
        },
        RequestOp: {
          oneofs: {
            request: {
              oneof: ['request_range', 'request_put', 'request_delete_range'],
            },
          },
          fields: {
            request_range: {
              type: 'RangeRequest',
              id: 1,
            },
            request_put: {
              type: 'PutRequest',
              id: 2,
            },
            request_delete_range: {
              type: 'DeleteRangeRequest',
              id: 3,
            },
          },
        },
        ResponseOp: {
          oneofs: {
            response: {
              oneof: ['response_range', 'response_delete_range'],
            },
          },
          fields: {
            response_range: {
              type: 'RangeResponse',
              id: 1,
            },
            response_delete_range: {
              type: 'DeleteRangeResponse',
              id: 3,
            },
          },
        },
        Compare: {
          fields: {
            result: {
              type: 'int32',
              id: 1,
            },
            target: {
              type: 'int32',
              id: 2,
            },
            key: {
              type: 'bytes',
              id: 3,
            },
            mod_revision: {
              type: 'int64',
              id: 6,
            },
          },
        },
        TxnRequest: {
          fields: {
            compare: {
              rule: 'repeated',
              type: 'Compare',
              id: 1,
            },
            success: {
              rule: 'repeated',
              type: 'RequestOp',
              id: 2,
            },
            failure: {
              rule: 'repeated',
              type: 'RequestOp',
              id: 3,
            },
          },
        },
        TxnResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
            succeeded: {
              type: 'bool',
              id: 2,
            },
            responses: {
              rule: 'repeated',
              type: 'ResponseOp',
              id: 3,
            },
          },
        },
        CompactionRequest: {
          fields: {
            revision: {
              type: 'int64',
              id: 1,
            },
            physical: {
              type: 'bool',
              id: 2,
            },
          },
        },
        CompactionResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
          },
        },
        WatchCreateRequest: {
          fields: {
            key: {
              type: 'bytes',
              id: 1,
            },
            range_end: {
              type: 'bytes',
              id: 2,
            },
            start_revision: {
              type: 'int64',
              id: 3,
            },
            progress_notify: {
              type: 'bool',
              id: 4,
            },
            prev_kv: {
              type: 'bool',
              id: 6,
            },
          },
        },
        WatchProgressRequest: {
          fields: {},
        },
        WatchRequest: {
          oneofs: {
            request_union: {
              oneof: ['create_request', 'progress_request'],
            },
          },
          fields: {
            create_request: {
              type: 'WatchCreateRequest',
              id: 1,
            },
            progress_request: {
              type: 'WatchProgressRequest',
              id: 3,
            },
          },
        },
        WatchResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
            watch_id: {
              type: 'int64',
              id: 2,
            },
            created: {
              type: 'bool',
              id: 3,
            },
            canceled: {
              type: 'bool',
              id: 4,
            },
            compact_revision: {
              type: 'int64',
              id: 5,
            },
            cancel_reason: {
              type: 'string',
              id: 6,
            },
            events: {
              rule: 'repeated',
              type: 'Event',
              id: 11,
            },
          },
        },
        LeaseGrantRequest: {
          fields: {
            TTL: {
              type: 'int64',
              id: 1,
            },
            ID: {
              type: 'int64',
              id: 2,
            },
          },
        },
        LeaseGrantResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
            ID: {
              type: 'int64',
              id: 2,
            },
            TTL: {
              type: 'int64',
              id: 3,
            },
            error: {
              type: 'string',
              id: 4,
            },
          },
        },
        AuthenticateRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            password: {
              type: 'string',
              id: 2,
            },
          },
        },
        AuthenticateResponse: {
          fields: {
            header: {
              type: 'ResponseHeader',
              id: 1,
            },
            token: {
              type: 'string',
              id: 2,
            },
          },
        },
      },
    },
  },
};
