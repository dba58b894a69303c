import {
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { realClock } from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { Root, type INamespace } from 'protobufjs';
import type { Change } from '../mvcc/driver';
import { EtcdDriver } from './etcd-driver';
import { descriptor } from './generated/descriptor';

const root = Root.fromJSON(descriptor as INamespace);
const encode = (type: string) => (message: object) => {
  const found = root.lookupType(`etcdserverpb.${type}`);
  return Buffer.from(found.encode(found.fromObject(message)).finish());
};
const decode = (type: string) => (bytes: Buffer) => {
  const found = root.lookupType(`etcdserverpb.${type}`);
  return found.toObject(found.decode(bytes), { longs: Number });
};
const method = (
  service: string,
  name: string,
  { message, stream }: { message: string; stream: boolean },
) => ({
  path: `/etcdserverpb.${service}/${name}`,
  requestStream: stream,
  responseStream: stream,
  requestSerialize: encode(`${message}Request`),
  requestDeserialize: decode(`${message}Request`),
  responseSerialize: encode(`${message}Response`),
  responseDeserialize: decode(`${message}Response`),
});

interface Script {
  /** The revisions that writes get, one after the other; 'down' is a call that finds no etcd. */
  revisions: (number | 'down')[];
  /** What each watch is answered with, one after the other. */
  watches: object[];
}

/** Answers as etcd does, by a script. */
async function startFake({ revisions, watches }: Script) {
  const server = new Server();
  const starts: number[] = [];
  server.addService(
    {
      Txn: method('KV', 'Txn', { message: 'Txn', stream: false }),
      Watch: method('Watch', 'Watch', { message: 'Watch', stream: true }),
    },
    {
      Txn: (_: unknown, answer: sendUnaryData<object>) => {
        const revision = revisions.shift();
        if (typeof revision === 'number') answer(null, { header: { revision }, succeeded: true });
        else answer({ code: status.UNAVAILABLE, details: 'etcdserver: no leader' });
      },
      Watch: (stream: ServerDuplexStream<{ create_request: { start_revision: number } }, object>) => {
        stream.on('data', ({ create_request }: { create_request: { start_revision: number } }) => {
          starts.push(create_request.start_revision);
          stream.write({ created: true });
          stream.write(watches.shift() ?? {});
        });
        stream.on('end', () => stream.end());
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { url: `http://127.0.0.1:${port}`, starts, stop: () => server.forceShutdown() };
}

const put = (key: string, revision: number) => ({
  header: { revision },
  events: [{ kv: { key: Buffer.from(key), mod_revision: revision, create_revision: revision, version: 1 } }],
});

describe('an etcd that was compacted while its watch was broken', () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(() => stop?.());

  async function follow(script: Script) {
    const fake = await startFake(script);
    const driver = new EtcdDriver({
      endpoints: [fake.url],
      keyPrefix: '',
      clock: realClock,
      logger: silentLogger,
    });
    stop = async () => {
      await driver.close();
      fake.stop();
    };
    const told: string[] = [];
    await driver.start({
      onChanges: (changes: Change[], revision: number) =>
        told.push(`${changes.map(({ key }) => key).join()} at ${revision}`),
      onGap: (revision) => told.push(`gap up to ${revision}`),
      onFailure: ({ message }) => told.push(message),
    });
    return { told, starts: fake.starts };
  }

  it('is followed from where it is now, and who watches is told of the gap', async () => {
    const { told, starts } = await follow({
      revisions: [5, 12],
      watches: [{ canceled: true, compact_revision: 10 }, put('/k/a', 13)],
    });
    await eventually(() => told.length === 2);
    expect(told).toEqual(['gap up to 12', '/k/a at 13']);
    expect(starts).toEqual([5, 12]);
  });

  it('is followed also when it goes away right after having told of the compaction', async () => {
    const { told, starts } = await follow({
      revisions: [5, 'down', 'down', 12],
      watches: [{ canceled: true, compact_revision: 10 }, put('/k/a', 13)],
    });
    await eventually(() => told.length === 2);
    expect(told).toEqual(['gap up to 12', '/k/a at 13']);
    expect(starts).toEqual([5, 12]);
  });
});
