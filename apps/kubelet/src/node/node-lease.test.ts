import type { Leases, Lease } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { NodeLease } from './node-lease';

const failure = (code: number, reason: 'NotFound' | 'AlreadyExists' | 'Conflict') =>
  StatusError.fromStatus({ status: 'Failure', code, reason, message: reason });

/** One Lease on a server; `calls` are what it was asked to do. */
class LeaseServer {
  lease: Lease | undefined;
  readonly calls: string[] = [];
  /** Made by somebody else right before it is created. */
  isFaster: Lease | undefined;

  readonly client = {
    for: (descriptor: typeof Leases) => ({
      descriptor,
      get: () => this.answer('get', () => this.existing()),
      create: (lease: Lease) =>
        this.answer('create', () => {
          this.lease ??= this.isFaster;
          if (this.lease) throw failure(409, 'AlreadyExists');
          return (this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: '1' } });
        }),
      update: (lease: Lease) =>
        this.answer('update', () => {
          const { resourceVersion } = this.existing().metadata;
          if (lease.metadata.resourceVersion !== resourceVersion) throw failure(409, 'Conflict');
          const next = { ...lease.metadata, resourceVersion: String(Number(resourceVersion) + 1) };
          return (this.lease = { ...lease, metadata: next });
        }),
    }),
  } as unknown as Client;

  private existing(): Lease {
    if (!this.lease) throw failure(404, 'NotFound');
    return this.lease;
  }

  private async answer<T>(call: string, work: () => T): Promise<T> {
    this.calls.push(call);
    await Promise.resolve();
    return work();
  }
}

describe('NodeLease', () => {
  const { signal } = new AbortController();
  let server: LeaseServer;
  let lease: NodeLease;
  beforeEach(() => {
    server = new LeaseServer();
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    lease = new NodeLease({ client: server.client, clock, nodeName: 'n', durationSeconds: 40 });
  });

  it('is made once and renewed from then on without being read', async () => {
    await lease.renew('uid', signal);
    await lease.renew('uid', signal);
    await lease.renew('uid', signal);
    expect(server.calls).toEqual(['get', 'create', 'update', 'update']);
    expect(server.lease?.spec?.holderIdentity).toBe('n');
  });

  it('is not renewed once more while a renewal is on its way', async () => {
    await Promise.all([lease.renew('uid', signal), lease.renew('uid', signal)]);
    expect(server.calls).toEqual(['get', 'create']);
  });

  it('is taken over where it was made meanwhile, and read again where somebody else wrote it', async () => {
    server.isFaster = { metadata: { name: 'n', resourceVersion: '7' }, spec: {} };
    await lease.renew('uid', signal);
    expect(server.calls).toEqual(['get', 'create', 'get', 'update']);
    server.lease = { metadata: { name: 'n', resourceVersion: '20' }, spec: {} };
    await lease.renew('uid', signal);
    expect(server.calls.slice(4)).toEqual(['update', 'get', 'update']);
    expect(server.lease.metadata.resourceVersion).toBe('21');
  });
});
