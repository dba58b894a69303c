import { realClock } from '@tinkernetes/component-base';
import { findProgram, silentLogger } from '@tinkernetes/component-base/testing';
import { createCertificateAuthority, issueCertificate } from '@tinkernetes/pki';
import { openStorage } from '../open-storage';
import { bytes, text, WatchRecording } from '../testing';
import { EtcdServer, type EtcdServerTls } from '../testing/etcd-server';
import { StorageUnusableError, type Storage } from '../types';

const program = findProgram('etcd');
const describeWithEtcd = program === undefined ? describe.skip : describe;

async function certificates(): Promise<EtcdServerTls> {
  const now = realClock.now();
  const ca = await createCertificateAuthority({ commonName: 'etcd-ca', now });
  const [server, client] = await Promise.all([
    issueCertificate(ca, {
      commonName: 'etcd',
      ipAddresses: ['127.0.0.1'],
      usages: ['serverAuth', 'clientAuth'],
      now,
    }),
    issueCertificate(ca, { commonName: 'kube-apiserver-etcd-client', usages: ['clientAuth'], now }),
  ]);
  return { ca: ca.certificate, server, client };
}

describeWithEtcd('etcd that is secured (needs etcd: apt-get install etcd-server)', () => {
  let server: EtcdServer | undefined;
  const opened: Storage[] = [];
  const deps = { clock: realClock, keepHistoryMs: 0, logger: silentLogger };
  const keep = async (storage: Promise<Storage>) => {
    opened.push(await storage);
    return storage;
  };
  const start = async (tls?: EtcdServerTls) => (server = await EtcdServer.start(program ?? '', tls));
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
    await server?.remove();
  });

  it('is reached with a client certificate, and only with one', async () => {
    const tls = await certificates();
    const { url } = await start(tls);
    const ca = Buffer.from(tls.ca);
    const etcdTls = { ca, cert: Buffer.from(tls.client.certificate), key: Buffer.from(tls.client.key) };
    const storage = await keep(openStorage(`etcd:${url}`, { ...deps, etcdTls }));
    const { modRevision } = await storage.create('/registry/a', bytes('1'));
    const watch = await new WatchRecording(storage, '/registry/', modRevision - 1).reached(modRevision);
    expect(watch.events.map(({ key, current }) => [key, text(current)])).toEqual([['/registry/a', '1']]);
    await watch.stop();
    const refused = openStorage(`etcd:${url}`, { ...deps, etcdTls: { ca } });
    await expect(refused).rejects.toThrow(StorageUnusableError);
  });

  it('is reached by user and password, also after it has forgotten its tokens', async () => {
    const etcd = await start();
    await etcd.enableAuth({ name: 'tinker', password: 'p@ss word' });
    const address = etcd.url.replace('//', `//tinker:${encodeURIComponent('p@ss word')}@`);
    const storage = await keep(openStorage(`etcd:${address}`, deps));
    const first = await storage.create('/registry/a', bytes('1'));
    const watch = new WatchRecording(storage, '/registry/', first.modRevision - 1);
    await watch.reached(first.modRevision);
    await etcd.kill();
    await etcd.start();
    const second = await storage.create('/registry/b', bytes('2'));
    await watch.reached(second.modRevision);
    expect(watch.events.map(({ key }) => key)).toEqual(['/registry/a', '/registry/b']);
    await watch.stop();
  });

  it('says what to check when the password is wrong, and does not repeat it', async () => {
    const etcd = await start();
    await etcd.enableAuth({ name: 'tinker', password: 'right' });
    const error = await openStorage(`etcd:${etcd.url.replace('//', '//tinker:wrong@')}`, deps).catch(
      (e: Error) => e,
    );
    expect(error).toBeInstanceOf(StorageUnusableError);
    expect((error as Error).message).toContain('check the user and the password');
    expect((error as Error).message).not.toContain('wrong');
  });

  it('takes a snapshot of another store, with new revisions in the old order', async () => {
    const { url } = await start();
    const source = await keep(openStorage('memory', deps));
    await source.create('/registry/b', bytes('1'));
    const a = await source.create('/registry/a', bytes('1'));
    await source.update('/registry/a', bytes('2'), a.modRevision);
    const target = await keep(openStorage(`etcd:${url}`, deps));
    await target.restore(source.snapshot());
    const { items, revision } = await target.range('/registry/');
    expect(items.map((item) => [item.key, text(item)])).toEqual([
      ['/registry/a', '2'],
      ['/registry/b', '1'],
    ]);
    expect(items[0]?.modRevision).toBeGreaterThan(items[1]?.modRevision ?? Infinity);
    const watch = new WatchRecording(target, '/registry/', revision);
    const next = await target.create('/registry/c', bytes('3'));
    await watch.reached(next.modRevision);
    expect(watch.events.map(({ key }) => key)).toEqual(['/registry/c']);
    await watch.stop();
    await expect(target.restore(source.snapshot())).rejects.toThrow(StorageUnusableError);
  });
});
