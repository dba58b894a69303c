import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  APIServices,
  ConfigMaps,
  CustomResourceDefinitions,
  EndpointSlices,
  Namespaces,
  Services,
  type APIService,
  type KubeObject,
} from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { createCertificateAuthority, issueCertificate, type CertificateAuthority } from '@tinkernetes/pki';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import type { RemoteApi } from './aggregator';
import { remoteVersion } from './remote-discovery';
import { RemoteDocuments } from './remote-documents';
import { remoteIndexEntry, withRemoteSpecs } from './remote-openapi';
import { group, startAggregatedServer, type AggregatedServer } from './testing/aggregated-server';

const version = 'v1';
const name = `${version}.${group}`;
const base = `/apis/${group}/${version}`;
const flares = `${base}/namespaces/default/flares`;
const namespace = { namespace: 'default' };
const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

describe('APIs of other servers', () => {
  let folder: string;
  let api: TestApiServer;
  let client: Client;
  let remote: AggregatedServer;
  let frontProxy: CertificateAuthority;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aggregation-'));
    frontProxy = await createCertificateAuthority({ commonName: 'front-proxy-ca', now: Date.now() });
    const proxyClient = await issueCertificate(frontProxy, {
      commonName: 'front-proxy-client',
      usages: ['clientAuth'],
      now: Date.now(),
    });
    const file = async (fileName: string, text: string) => {
      await writeFile(join(folder, fileName), text);
      return join(folder, fileName);
    };
    api = await startApiServer({
      flags: [
        '--host-alias=172.30.0.0/16=127.0.0.1',
        `--proxy-client-cert-file=${await file('client.crt', proxyClient.certificate)}`,
        `--proxy-client-key-file=${await file('client.key', proxyClient.key)}`,
        `--requestheader-client-ca-file=${await file('ca.crt', frontProxy.certificate)}`,
        '--requestheader-allowed-names=front-proxy-client',
        '--requestheader-username-headers=X-Remote-User',
        '--requestheader-group-headers=X-Remote-Group',
        '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      ],
    });
    client = createClient(api.adminConfig);
    remote = await startAggregatedServer({
      serving: api.ca,
      frontProxy,
      service: 'sights.default.svc',
      aggregated: false,
    });
    if (!api.stores.for(Namespaces).peek('default')) {
      await client.for(Namespaces).create({ metadata: { name: 'default' }, spec: {} });
    }
  });
  afterAll(async () => {
    client.close();
    await Promise.all([api.stop(), remote.stop()]);
    await rm(folder, { recursive: true });
  });

  const apiService = (spec: Partial<APIService['spec']> = {}) => ({
    metadata: { name },
    spec: {
      group,
      version,
      groupPriorityMinimum: 2000,
      versionPriority: 15,
      service: { namespace: 'default', name: 'sights' },
      caBundle: Buffer.from(api.ca.certificate).toString('base64'),
      ...spec,
    },
  });
  const condition = async (of = name) => {
    const { status } = await client.for(APIServices).get(of);
    const found = findCondition(status?.conditions, 'Available');
    return found && { status: found.status, reason: found.reason, message: found.message };
  };
  const becomes = (expected: object) =>
    eventually(async () => expect(await condition()).toMatchObject(expected));
  const get = <T = Record<string, unknown>>(path: string, headers: Record<string, string> = {}) =>
    client.request<T>({ method: 'GET', path, headers });
  const failure = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: Error & { code?: number }) => ({ code: error.code, message: error.message }),
    );
  const endpointSlice = (portName: string): KubeObject =>
    ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'sights', namespace: 'default', labels: { 'kubernetes.io/service-name': 'sights' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['172.30.0.1'], conditions: { ready: true } }],
      ports: [{ name: portName, port: remote.port, protocol: 'TCP' }],
    }) as KubeObject;

  it('are unavailable, with the reason, until the way to them is complete', async () => {
    await client.for(APIServices).create(apiService());
    await becomes({
      status: 'False',
      reason: 'ServiceNotFound',
      message: 'service/sights in "default" is not present',
    });
    expect(await failure(get(flares))).toMatchObject({ code: 503 });
    await client
      .for(Services)
      .create({ metadata: { name: 'sights' }, spec: { ports: [{ name: 'https', port: 8443 }] } }, namespace);
    await becomes({
      reason: 'ServicePortError',
      message: 'service/sights in "default" is not listening on port 443',
    });
    const service = await client.for(Services).get('sights', namespace);
    await client
      .for(Services)
      .update({ ...service, spec: { ...service.spec, ports: [{ name: 'https', port: 443 }] } }, namespace);
    await becomes({
      reason: 'EndpointsNotFound',
      message: 'cannot find endpointslices for service/sights in "default"',
    });
    await api.stores.for(EndpointSlices).create(endpointSlice('other') as never);
    await becomes({
      reason: 'MissingEndpoints',
      message: 'endpointslices for service/sights in "default" have no addresses with port name "https"',
    });
    remote.fail = 500;
    await api.stores.for(EndpointSlices).modify('sights', 'default', (slice) => ({
      ...slice,
      ports: [{ name: 'https', port: remote.port, protocol: 'TCP' }],
    }));
    await becomes({ status: 'False', reason: 'FailedDiscoveryCheck' });
    expect((await condition())?.message).toMatch(
      /^failing or missing response from https:\/\/10\.[\d.]+:443\/apis\/sights\.test\/v1: bad status from .*: 500$/,
    );
    remote.fail = undefined;
    await becomes({ status: 'True', reason: 'Passed', message: 'all checks passed' });
  });

  it("are asked as the client's user, by a certificate that vouches for it", async () => {
    remote.users.length = 0;
    const made = await client.request<KubeObject>({
      method: 'POST',
      path: flares,
      body: { apiVersion: `${group}/${version}`, kind: 'Flare', metadata: { name: 'first' } },
    });
    expect(made.metadata.name).toBe('first');
    expect((await get<{ items: KubeObject[] }>(flares)).items).toHaveLength(1);
    expect(remote.users).toEqual(Array(2).fill('kubernetes-admin  system:masters,system:authenticated'));
    await get(flares, {
      'Impersonate-User': 'jane',
      'Impersonate-Group': 'system:masters',
      'Impersonate-Extra-acme.test%2Fteam': 'blue',
    });
    expect(remote.users.at(-1)).toBe(
      'jane  system:masters,system:authenticated x-remote-extra-acme.test%2fteam blue',
    );
    expect(await failure(get(`${flares}/none`))).toMatchObject({ code: 404, message: 'no such flare' });
  });

  it('are closed to whom this server does not let through', async () => {
    const jane = createClient(await api.configFor('jane'));
    try {
      expect(await failure(jane.request({ method: 'GET', path: flares }))).toMatchObject({ code: 403 });
    } finally {
      jane.close();
    }
  });

  it('stream watches as they come', async () => {
    const { adminConfig } = api;
    const request = https.get(`${api.server}${flares}?watch=true`, {
      ca: adminConfig.caData,
      cert: adminConfig.certData,
      key: adminConfig.keyData,
    });
    try {
      const response = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
        request.once('response', resolve);
        request.once('error', reject);
      });
      const next = () =>
        new Promise<string>((resolve) => response.once('data', (chunk) => resolve(String(chunk))));
      for (const flare of ['a', 'b']) {
        const line = next();
        remote.emit(flare);
        expect(JSON.parse(await line)).toMatchObject({
          type: 'ADDED',
          object: { metadata: { name: flare } },
        });
      }
    } finally {
      request.destroy();
    }
  });

  it('take over connections that are upgraded', async () => {
    const { adminConfig } = api;
    const request = https.get(`${api.server}${base}/echo`, {
      ca: adminConfig.caData,
      cert: adminConfig.certData,
      key: adminConfig.keyData,
      headers: { connection: 'Upgrade', upgrade: 'echo' },
    });
    const socket = await new Promise<Duplex>((resolve, reject) => {
      request.once('upgrade', (_response, upgraded: Duplex) => resolve(upgraded));
      request.once('response', (response) => reject(new Error(String(response.statusCode))));
      request.once('error', reject);
    });
    try {
      const echoed = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
      socket.write('hello');
      expect(await echoed).toBe('hello');
    } finally {
      socket.destroy();
    }
  });

  it('appear in discovery by their priority', async () => {
    const { groups } = await get<{ groups: { name: string }[] }>('/apis');
    expect(groups.map((g) => g.name)).toEqual([
      ...groups.map((g) => g.name).filter((n) => n !== group),
      group,
    ]);
    expect(groups[0]?.name).toBe('apiregistration.k8s.io');
    expect(await get(`/apis/${group}`)).toMatchObject({
      versions: [{ groupVersion: `${group}/${version}` }],
    });
    expect(await get(base)).toMatchObject({ resources: [{ name: 'flares' }, { name: 'flares/status' }] });
    const { items } = await get<{ items: { metadata: { name: string }; versions: object[] }[] }>('/apis', {
      accept: aggregatedType,
    });
    expect(items.find(({ metadata }) => metadata.name === group)?.versions).toMatchObject([
      {
        version,
        freshness: 'Current',
        resources: [
          {
            resource: 'flares',
            responseKind: { group, version, kind: 'Flare' },
            scope: 'Namespaced',
            shortNames: ['fl'],
            subresources: [{ subresource: 'status' }],
          },
        ],
      },
    ]);
  });

  it('are part of the OpenAPI documents', async () => {
    const { paths, definitions } = await get<{ paths: object; definitions: Record<string, object> }>(
      '/openapi/v2',
    );
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([`${base}/`, `${base}/flares`]));
    // The server's own stays.
    expect(paths).toMatchObject({ '/version/': { get: { operationId: 'getCodeVersion' } } });
    expect(definitions['test.Flare']).toMatchObject({ description: 'Flare is seen from afar.' });
    expect(definitions['test.Unused']).toBeUndefined();
    const index = await get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
    const url = index.paths[`apis/${group}/${version}`]?.serverRelativeURL ?? '';
    expect(await get(url)).toEqual({ openapi: '3.0.0', paths: {} });
  });

  it('leave discovery and OpenAPI of all others as they are when what they send is no document', async () => {
    const documents = new RemoteDocuments(realClock);
    const api = {
      service: { ...apiService(), status: { conditions: [{ type: 'Available', status: 'True' }] } },
      server: {
        address: { namespace: 'default', name: 'sights', port: 443 },
        get: (path: string) =>
          Promise.resolve({
            code: 200,
            headers: { 'content-type': 'application/json;as=APIGroupDiscoveryList' },
            body: Buffer.from(path === '/apis' ? '<html>' : 'null'),
          }),
      },
    } as unknown as RemoteApi;
    expect(await remoteVersion(documents, api)).toEqual({ version, freshness: 'Stale' });
    expect(await remoteIndexEntry(documents, api)).toBeUndefined();
    const own = { paths: { '/version/': {} } };
    expect(await withRemoteSpecs(own, documents, [api])).toEqual(own);
    const asked = () => documents.get(api, '/apis', 'application/json');
    documents.keepOnly([api]);
    const kept = (await asked()).document;
    documents.keepOnly([]);
    const anew = (await asked()).document;
    expect([kept?.body.toString(), anew?.body.toString()]).toEqual(['<html>', '<html>']);
    expect(anew).not.toBe(kept);
  });

  it('are stale in discovery, and answer 503, when their server is gone', async () => {
    await api.stores.for(EndpointSlices).delete('sights', 'default');
    await becomes({ status: 'False', reason: 'EndpointsNotFound' });
    const { items } = await get<{ items: { metadata: { name: string }; versions: object[] }[] }>('/apis', {
      accept: aggregatedType,
    });
    expect(items.find(({ metadata }) => metadata.name === group)?.versions).toMatchObject([
      { version, freshness: 'Stale', resources: [{ resource: 'flares' }] },
    ]);
    expect(await failure(get(flares))).toMatchObject({ code: 503 });
  });

  it('need a certificate that the APIService vouches for', async () => {
    await api.stores.for(EndpointSlices).create(endpointSlice('https') as never);
    await becomes({ status: 'True' });
    const services = client.for(APIServices);
    const change = async (spec: Partial<APIService['spec']>) => {
      const current = await services.get(name);
      await services.update({ ...current, spec: { ...apiService(spec).spec } });
    };
    await change({ caBundle: Buffer.from(frontProxy.certificate).toString('base64') });
    await becomes({ status: 'False', reason: 'FailedDiscoveryCheck' });
    expect((await condition())?.message).toContain('certificate signed by unknown authority');
    await change({ caBundle: undefined, insecureSkipTLSVerify: true });
    await becomes({ status: 'True', reason: 'Passed' });
    expect((await get<{ items: KubeObject[] }>(flares)).items).toHaveLength(1);
  });

  it('are gone with their APIService', async () => {
    await client.for(APIServices).delete(name);
    expect(await failure(get(flares))).toMatchObject({ code: 404 });
    const { groups } = await get<{ groups: { name: string }[] }>('/apis');
    expect(groups.map((g) => g.name)).not.toContain(group);
  });

  it('are told apart from those that this server serves: Local', async () => {
    expect(await condition('v1.apps')).toEqual({
      status: 'True',
      reason: 'Local',
      message: 'Local APIServices are always available',
    });
    const crd = {
      metadata: { name: 'lamps.light.test' },
      spec: {
        group: 'light.test',
        scope: 'Namespaced' as const,
        names: { plural: 'lamps', kind: 'Lamp' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    };
    await client.for(CustomResourceDefinitions).create(crd);
    const local = await eventually(() => client.for(APIServices).get('v1.light.test'));
    expect(local).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { groupPriorityMinimum: 1000, versionPriority: 100 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    });
    await client.for(APIServices).delete('v1.light.test');
    await eventually(() => client.for(APIServices).get('v1.light.test'));
    await client.for(CustomResourceDefinitions).delete('lamps.light.test');
    await eventually(async () =>
      expect(await failure(client.for(APIServices).get('v1.light.test'))).toMatchObject({ code: 404 }),
    );
  });

  it('find in a ConfigMap how clients are authenticated', async () => {
    const map = await eventually(() =>
      client.for(ConfigMaps).get('extension-apiserver-authentication', { namespace: 'kube-system' }),
    );
    expect(map.data).toEqual({
      'client-ca-file': api.ca.certificate,
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-client-ca-file': frontProxy.certificate,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    });
  });

  describe('a proxy in front of this server', () => {
    const whoAmI = async (
      authority: CertificateAuthority,
      commonName: string,
      headers: Record<string, string>,
    ) => {
      const pair = await issueCertificate(authority, { commonName, usages: ['clientAuth'], now: Date.now() });
      const proxied = createClient({
        ...api.adminConfig,
        certData: pair.certificate,
        keyData: pair.key,
      });
      try {
        const review = await proxied.request<{ status: { userInfo: object } }>({
          method: 'POST',
          path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
          headers,
          body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        });
        return review.status.userInfo;
      } finally {
        proxied.close();
      }
    };
    const headers = {
      'X-Remote-User': 'jane',
      'X-Remote-Group': 'devs',
      'X-Remote-Extra-acme.test%2Fteam': 'blue',
    };

    it('is believed in who asks', async () => {
      expect(await whoAmI(frontProxy, 'front-proxy-client', headers)).toEqual({
        username: 'jane',
        groups: ['devs', 'system:authenticated'],
        extra: { 'acme.test/team': ['blue'] },
      });
    });

    it('is not believed under another name, or without one of its certificates', async () => {
      await expect(whoAmI(frontProxy, 'somebody', headers)).rejects.toMatchObject({ code: 401 });
      expect(await whoAmI(api.ca, 'front-proxy-client', headers)).toMatchObject({
        username: 'front-proxy-client',
      });
    });

    it('is nobody by itself', async () => {
      await expect(whoAmI(frontProxy, 'front-proxy-client', {})).rejects.toMatchObject({ code: 401 });
    });
  });
});
