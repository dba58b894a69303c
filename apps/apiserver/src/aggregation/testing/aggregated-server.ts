import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { realClock } from '@tinkernetes/component-base';
import { issueCertificate, type CertificateAuthority } from '@tinkernetes/pki';

export const group = 'sights.test';
const version = 'v1';
const apiVersion = `${group}/${version}`;
const kind = 'Flare';

export interface AggregatedServer {
  readonly port: number;
  /** Users that asked, as the headers named them: `name uid groups extra`. */
  readonly users: string[];
  /** Answers everything with this code, while set. */
  fail: number | undefined;
  /** Sends an object to all who watch. */
  emit(name: string): void;
  stop(): Promise<void>;
}

const resources = [
  {
    name: 'flares',
    singularName: 'flare',
    namespaced: true,
    kind,
    shortNames: ['fl'],
    verbs: ['get', 'list', 'watch', 'create', 'delete'],
  },
  { name: 'flares/status', singularName: '', namespaced: true, kind, verbs: ['get'] },
];

const spec = {
  swagger: '2.0',
  info: { title: 'flares', version },
  paths: {
    [`/apis/${apiVersion}/`]: {
      get: { operationId: 'getFlareResources', responses: { 200: { description: 'OK' } } },
    },
    [`/apis/${apiVersion}/flares`]: {
      get: {
        operationId: 'listFlares',
        responses: { 200: { schema: { $ref: '#/definitions/test.Flare' } } },
      },
    },
    '/version/': { get: { responses: {} } },
  },
  definitions: {
    'test.Flare': {
      description: 'Flare is seen from afar.',
      type: 'object',
      properties: { color: { description: 'What it looks like.', type: 'string' } },
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    },
    'test.Unused': { type: 'object' },
  },
};

/** A server of an API of its own, as the aggregation layer wants it: it believes the front proxy in who asks. */
export async function startAggregatedServer(options: {
  serving: CertificateAuthority;
  frontProxy: CertificateAuthority;
  service: string;
  /** Serves aggregated discovery, too. */
  aggregated: boolean;
}): Promise<AggregatedServer> {
  const pair = await issueCertificate(options.serving, {
    commonName: options.service,
    dnsNames: [options.service],
    usages: ['serverAuth'],
    now: realClock.now(),
  });
  const objects = new Map<string, object>();
  const watchers = new Set<ServerResponse>();
  const flare = (name: string) => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'default', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    color: 'red',
  });
  const json = (response: ServerResponse, value: object, type = 'application/json', code = 200) => {
    response.writeHead(code, { 'content-type': type }).end(JSON.stringify(value));
  };
  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    '/apis': (request, response) => {
      if (!options.aggregated) return json(response, {}, 'application/json', 406);
      const discovery = {
        version,
        resources: [{ resource: 'flares', scope: 'Namespaced', verbs: ['list'] }],
      };
      const items = [{ metadata: { name: group }, versions: [discovery] }];
      json(response, { items }, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    },
    [`/apis/${apiVersion}`]: (_request, response) =>
      json(response, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources }),
    '/openapi/v2': (_request, response) => json(response, spec),
    '/openapi/v3': (_request, response) =>
      json(response, {
        paths: { [`apis/${apiVersion}`]: { serverRelativeURL: `/openapi/v3/apis/${apiVersion}?hash=A` } },
      }),
    [`/openapi/v3/apis/${apiVersion}`]: (_request, response) =>
      json(response, { openapi: '3.0.0', paths: {} }),
    [`/apis/${apiVersion}/namespaces/default/flares`]: (request, response) => {
      if (request.url?.includes('watch=')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.flushHeaders();
        watchers.add(response);
        response.on('close', () => watchers.delete(response));
        return;
      }
      if (request.method === 'POST') {
        request.setEncoding('utf8');
        let text = '';
        request.on('data', (chunk: string) => (text += chunk));
        request.on('end', () => {
          const { metadata } = JSON.parse(text) as { metadata: { name: string } };
          objects.set(metadata.name, flare(metadata.name));
          json(response, flare(metadata.name), 'application/json', 201);
        });
        return;
      }
      json(response, {
        kind: 'FlareList',
        apiVersion,
        metadata: { resourceVersion: '1' },
        items: [...objects.values()],
      });
    },
  };
  const users: string[] = [];
  const state = { fail: undefined as number | undefined };
  const authenticated = (request: IncomingMessage): boolean => {
    const { socket, headersDistinct: headers } = request;
    if (!(socket instanceof TLSSocket) || !socket.authorized) return false;
    const extra = Object.entries(headers).filter(([name]) => name.startsWith('x-remote-extra-'));
    users.push(
      [headers['x-remote-user'], headers['x-remote-uid'], headers['x-remote-group'], ...extra.flat()].join(
        ' ',
      ),
    );
    return headers['x-remote-user'] !== undefined && headers.authorization === undefined;
  };
  const server = createServer(
    {
      cert: pair.certificate,
      key: pair.key,
      ca: options.frontProxy.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      if (state.fail)
        return json(response, { kind: 'Status', message: 'broken' }, 'application/json', state.fail);
      if (!authenticated(request)) return json(response, { kind: 'Status' }, 'application/json', 401);
      const route = routes[new URL(request.url ?? '/', 'https://x').pathname];
      if (route) route(request, response);
      else json(response, { kind: 'Status', message: 'no such flare' }, 'application/json', 404);
    },
  );
  const sockets = new Set<Duplex>();
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (!authenticated(request)) {
      socket.destroy();
      return;
    }
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    users,
    get fail() {
      return state.fail;
    },
    set fail(code) {
      state.fail = code;
    },
    emit(name) {
      for (const watcher of watchers)
        watcher.write(`${JSON.stringify({ type: 'ADDED', object: flare(name) })}\n`);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
