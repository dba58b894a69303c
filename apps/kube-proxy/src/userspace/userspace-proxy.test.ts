import { duplexPair, PassThrough } from 'node:stream';
import { eventually, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import type { IncomingConnection, ListenTarget, Rule, VnetClient } from '@tinkernetes/vnet';
import { UserspaceProxy } from './userspace-proxy';

/** A network in which every dialled endpoint answers with its own address, unless it is down. */
class TestNetwork {
  readonly down = new Set<string>();
  readonly listening = new Map<number, PassThrough>();
  private nextPort = 40_000;

  get vnet(): VnetClient {
    return {
      listen: ({ signal }: ListenTarget) => {
        const port = this.nextPort++;
        const connections = new PassThrough({ objectMode: true });
        this.listening.set(port, connections);
        signal.addEventListener('abort', () => {
          this.listening.delete(port);
          connections.end();
        });
        return Promise.resolve({ address: { host: '172.30.0.11', port }, connections });
      },
      dial: ({ host }: { host: string }) => {
        if (this.down.has(host)) return Promise.reject(new Error('connection refused'));
        const [near, far] = duplexPair();
        far.end(host);
        far.resume();
        return Promise.resolve(near);
      },
    } as Partial<VnetClient> as VnetClient;
  }

  /** What a connection from `client` to a portal receives. */
  async connect(port: number | undefined, client: string): Promise<string> {
    const [near, far] = duplexPair();
    const connection: IncomingConnection = {
      remote: { host: client, port: 1 },
      local: { host: '172.30.0.11', port: port ?? 0 },
      stream: near,
    };
    this.listening.get(port ?? 0)?.write(connection);
    let text = '';
    far.on('data', (chunk: Buffer) => (text += chunk.toString()));
    far.end();
    await new Promise((resolve) => far.once('close', resolve).once('end', resolve));
    return text;
  }
}

describe('UserspaceProxy', () => {
  const rule = (change: Partial<Rule> = {}): Rule => ({
    name: 'default/web',
    protocol: 'TCP',
    destinations: ['10.96.0.5'],
    port: 80,
    action: 'DNAT',
    endpoints: [
      { address: '10.244.1.2', port: 80 },
      { address: '10.244.2.2', port: 80 },
    ],
    ...change,
  });
  const setup = () => {
    const network = new TestNetwork();
    const proxy = new UserspaceProxy({
      vnet: network.vnet,
      clock: new VirtualClock(),
      logger: silentLogger,
      signal: new AbortController().signal,
    });
    return { network, proxy };
  };

  it('redirects TCP to itself, and leaves the rest to the node', async () => {
    const { proxy } = setup();
    const udp = rule({ protocol: 'UDP' });
    const reject = rule({ action: 'REJECT', endpoints: [] });
    expect(await proxy.redirect([rule(), udp, reject])).toEqual([
      {
        name: 'default/web',
        protocol: 'TCP',
        destinations: ['10.96.0.5'],
        port: 80,
        action: 'REDIRECT',
        redirectPort: 40_000,
      },
      udp,
      reject,
    ]);
  });

  it('uses the endpoints in turn, and the next one when one is down', async () => {
    const { network, proxy } = setup();
    const [redirected] = await proxy.redirect([rule()]);
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await network.connect(redirected?.redirectPort, '10.244.1.9'));
    expect(answers).toEqual(['10.244.1.2', '10.244.2.2', '10.244.1.2']);
    network.down.add('10.244.2.2');
    expect(await network.connect(redirected?.redirectPort, '10.244.1.9')).toBe('10.244.1.2');
  });

  it('keeps a client with its endpoint when the Service asks for it', async () => {
    const { network, proxy } = setup();
    const [redirected] = await proxy.redirect([rule({ affinitySeconds: 60 })]);
    const answers = new Set<string>();
    for (let i = 0; i < 4; i++) answers.add(await network.connect(redirected?.redirectPort, '10.244.1.9'));
    expect(answers.size).toBe(1);
  });

  it('keeps the port of a rule whose endpoints change, and closes that of a rule that goes', async () => {
    const { network, proxy } = setup();
    const [before] = await proxy.redirect([rule()]);
    const [after] = await proxy.redirect([rule({ endpoints: [{ address: '10.244.3.3', port: 80 }] })]);
    expect(after?.redirectPort).toBe(before?.redirectPort);
    expect(await network.connect(after?.redirectPort, '10.244.1.9')).toBe('10.244.3.3');
    await proxy.redirect([]);
    await eventually(() => expect(network.listening.size).toBe(0));
  });
});
