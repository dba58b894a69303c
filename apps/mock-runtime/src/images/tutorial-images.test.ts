import { connect } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestRuntime, type StartedPod, type TestRuntime } from '../testing/start-runtime';

const env = (values: Record<string, string>) => ({
  envs: Object.entries(values).map(([key, value]) => ({ key, value: Buffer.from(value) })),
});

describe('images of tutorials', () => {
  let node: TestRuntime;
  let client: StartedPod;

  beforeAll(async () => {
    node = await startTestRuntime();
    client = await node.startPod({ name: 'client', image: 'curlimages/curl', command: ['sleep', '3600'] });
  });
  afterAll(() => node.stop());

  const get = async (url: string) => (await node.sh(client, `curl -s '${url}'`)).output;

  it.each([
    [
      'gcr.io/google-samples/kubernetes-bootcamp:v1',
      ':8080',
      /^Hello Kubernetes bootcamp! \| Running on: pod-0 \| v=1$/m,
    ],
    ['jocatalin/kubernetes-bootcamp:v2', ':8080', /v=2$/m],
    ['registry.k8s.io/echoserver:1.10', ':8080/x?y=z', /method=GET\n\treal path=\/x\?y=z/],
    ['nginxdemos/hello:plain-text', '/', /^Server name: pod-3$/m],
    ['k8s.gcr.io/serve_hostname:v1.4', ':9376', /^pod-4$/],
  ])('%s answers', async (image, address, expected) => {
    const names = [/bootcamp:v1/, /bootcamp:v2/, /echoserver/, /nginxdemos/, /serve_hostname/];
    const pod = await node.startPod({ name: `pod-${names.findIndex((name) => name.test(image))}`, image });
    await eventually(async () => expect(await get(pod.ip + address)).toMatch(expected));
  });

  it.each([
    ['nicolaka/netshoot'],
    ['k8s.gcr.io/busybox:1.28'],
    ['mirror.gcr.io/library/nginx:1.27'],
    ['fedora:42'],
    ['valkey/valkey:8'],
  ])('pulls %s', async (image) => {
    expect((await node.images.pullImage({ image: { image } })).imageRef).not.toBe('');
  });

  it('says what can be done about an image that is not emulated', async () => {
    await expect(node.images.pullImage({ image: { image: 'wordpress:6' } })).rejects.toThrow(
      /pull access denied.*annotate the Pod mock\.tinkernetes\.dev\/generic-image=true/,
    );
  });

  it('etcd and agnhost answer gRPC health checks, the latter until it is told not to serve', async () => {
    const etcd = await node.startPod({ name: 'etcd', image: 'registry.k8s.io/etcd:3.5.1-0' });
    await eventually(async () => expect(await get(`${etcd.ip}:2379/health`)).toContain('"health":"true"'));
    expect(await isServing(etcd.ip, 2379)).toBe(true);
    const pod = await node.startPod({
      name: 'grpc',
      image: 'registry.k8s.io/e2e-test-images/agnhost:2.40',
      args: ['grpc-health-checking', '--port=5000', '--http-port=8080'],
    });
    await eventually(async () => expect(await isServing(pod.ip, 5000)).toBe(true));
    await get(`${pod.ip}:8080/make-not-serving`);
    expect(await isServing(pod.ip, 5000)).toBe(false);
  });

  /** Asks as the kubelet does. */
  async function isServing(host: string, port: number): Promise<boolean> {
    const socket = await node.vnet.dial({ host, port });
    const session = connect(`http://${host}`, { createConnection: () => socket });
    session.on('error', () => session.destroy());
    try {
      const stream = session.request({ ':method': 'POST', ':path': '/grpc.health.v1.Health/Check' });
      stream.end(Buffer.from([0, 0, 0, 0, 0]));
      return (await buffer(stream)).at(-1) === 1;
    } finally {
      session.destroy();
      socket.destroy();
    }
  }

  it('keep a guestbook: its page writes to the leader and reads from a follower', async () => {
    const leader = await node.startPod({ name: 'leader', image: 'registry.k8s.io/redis:e2e' });
    await node.sh(
      leader,
      'redis-cli set before 1; redis-cli rpush list a b; redis-cli hset hash k v; redis-cli sadd set m',
    );
    const follower = await node.startPod({
      name: 'follower',
      image: 'us-docker.pkg.dev/google-samples/containers/gke/gb-redis-follower:v2',
      container: env({ REDIS_LEADER_SERVICE_HOST: leader.ip }),
    });
    await eventually(() => expect(node.log(follower)).toContain('sync: Finished with success'));
    // What was there follows the snapshot.
    await eventually(async () =>
      expect((await node.sh(follower, 'redis-cli smembers set')).output).toBe('m\n'),
    );
    const copied = await node.sh(
      follower,
      'redis-cli get before; redis-cli lrange list 0 -1; redis-cli hget hash k; redis-cli smembers set; redis-cli set x 1; redis-cli info replication',
    );
    expect(copied.output).toMatch(/^1\na\nb\nv\nm\nREADONLY You can't write .*role:slave/s);
    expect((await node.sh(leader, 'redis-cli info')).output).toContain('connected_slaves:1');
    const frontend = await node.startPod({
      name: 'frontend',
      image: 'gcr.io/google-samples/gb-frontend:v5',
      container: env({
        GET_HOSTS_FROM: 'env',
        REDIS_LEADER_SERVICE_HOST: leader.ip,
        REDIS_FOLLOWER_SERVICE_HOST: follower.ip,
      }),
    });
    await eventually(async () => expect(await get(`${frontend.ip}/`)).toContain('<h1>Guestbook</h1>'));
    expect(await get(`${frontend.ip}/guestbook.php?cmd=set&key=messages&value=,hi`)).toContain('Updated');
    await eventually(async () =>
      expect(await get(`${frontend.ip}/guestbook.php?cmd=get&key=messages`)).toBe('{"data":",hi"}'),
    );
  });

  it('copy a redis with a password only to whom that knows it', async () => {
    const password = ['--requirepass', 'secret'];
    const leader = await node.startPod({
      name: 'guarded',
      image: 'redis',
      args: ['redis-server', ...password],
    });
    await node.sh(leader, 'redis-cli -a secret set k v');
    const follower = (name: string, ...more: string[]) =>
      node.startPod({
        name,
        image: 'redis',
        args: ['redis-server', '--replicaof', leader.ip, '6379', ...more],
      });
    const stranger = await follower('stranger');
    const friend = await follower('friend', '--masterauth', 'secret');
    await eventually(async () => expect((await node.sh(friend, 'redis-cli get k')).output).toBe('v\n'));
    await eventually(() => expect(node.log(stranger)).toContain('sync: NOAUTH Authentication required.'));
    expect((await node.sh(stranger, 'redis-cli dbsize')).output).toMatch(/^(\(integer\) )?0\n$/);
  });
});
