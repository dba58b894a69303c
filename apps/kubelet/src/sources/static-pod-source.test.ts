import type { Pod } from '@tinkernetes/api';
import { realClock } from '@tinkernetes/component-base';
import { eventually, silentLogger } from '@tinkernetes/component-base/testing';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StaticPodSource } from './static-pod-source';

describe('static pods behind a URL', () => {
  let server: Server;
  let source: StaticPodSource;
  let answer: { status: number; body: string };
  let asked: string | undefined;
  let found: readonly Pod[] = [];

  beforeEach(async () => {
    server = createServer((request, response) => {
      asked = request.headers['x-token'] as string;
      response.writeHead(answer.status).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    source = new StaticPodSource({
      clock: realClock,
      logger: silentLogger,
      nodeName: 'n',
      path: undefined,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`,
      headers: [['X-Token', 'secret']],
      fileCheckMs: 60_000,
      httpCheckMs: 20,
      onPods: (_, pods) => (found = pods),
    });
  });
  afterEach(() => {
    source.stop();
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const names = () => found.map((pod) => pod.metadata.name);
  const pod = (name: string) => `{metadata: {name: ${name}}, spec: {containers: [{name: c, image: nginx}]}}`;

  it('are those of a list, until the server says otherwise', async () => {
    answer = { status: 200, body: `{kind: PodList, items: [${pod('a')}, ${pod('b')}]}` };
    await source.start();
    expect(names()).toEqual(['a-n', 'b-n']);
    expect(found[0]?.metadata.annotations).toMatchObject({ 'kubernetes.io/config.source': 'http' });
    expect(asked).toBe('secret');
    answer = { status: 200, body: `{kind: PodList, items: [${pod('b')}]}` };
    await eventually(() => expect(names()).toEqual(['b-n']));
    // A server that is down says nothing about its Pods.
    answer = { status: 503, body: '' };
    asked = undefined;
    await eventually(() => expect(asked).toBe('secret'));
    expect(names()).toEqual(['b-n']);
  });
});
