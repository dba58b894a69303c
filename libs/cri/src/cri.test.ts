import type { FinishedStep } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addImageService,
  addRuntimeService,
  createCriServer,
  createImageClient,
  createRuntimeClient,
  CriError,
  isCriError,
  listen,
  type CriCall,
  type RunPodSandboxRequest,
} from '.';

describe('CRI over a unix socket', () => {
  const dir = mkdtempSync(join(tmpdir(), 'cri-'));
  const endpoint = `unix://${join(dir, 'cri.sock')}`;
  const server = createCriServer();
  const runtime = createRuntimeClient(endpoint);
  const images = createImageClient(endpoint);
  let sandboxRequest: RunPodSandboxRequest | undefined;
  let sandboxCall: CriCall | undefined;
  let streamCancelled = false;
  const step: FinishedStep = {
    id: 'runtime.start',
    traceId: 'aa',
    spanId: 'cc',
    component: 'runtime',
    startMs: 1,
    endMs: 2,
    attributes: {},
  };

  beforeAll(async () => {
    addRuntimeService(
      server,
      {
        runPodSandbox: (request, call) => {
          sandboxRequest = request;
          sandboxCall = call;
          return { podSandboxId: 'sandbox-1' };
        },
        containerStatus: () => {
          throw new CriError('NOT_FOUND', 'no such container');
        },
        execSync: () => ({ stdout: Buffer.from('out'), exitCode: 3 }),
        podSandboxStatus: () => ({
          status: { id: 'a', state: 'SANDBOX_READY', createdAt: 1_700_000_000_000_000_000 },
          containersStatuses: [{ metadata: { name: 'c', attempt: 2 }, state: 'CONTAINER_EXITED' }],
        }),
        stopContainer: (_request, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
        async *getContainerEvents(_request, { signal }) {
          yield { containerId: 'c1', containerEventType: 'CONTAINER_STARTED_EVENT' as const };
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          streamCancelled = true;
        },
      },
      { finishedSteps: () => Promise.resolve([step]) },
    );
    addImageService(server, {
      async *streamImages() {
        yield {};
        throw new CriError('RESOURCE_EXHAUSTED', 'too many images');
      },
    });
    await listen(server, endpoint);
  });

  afterAll(() => {
    runtime.close();
    images.close();
    server.forceShutdown();
    rmSync(dir, { recursive: true });
  });

  it('fills absent fields with proto3 defaults and keeps maps, enums and nested messages', async () => {
    const answer = await runtime.runPodSandbox(
      {
        config: {
          metadata: { name: 'web', namespace: 'default', uid: 'u' },
          labels: { app: 'web' },
          portMappings: [{ protocol: 'UDP', containerPort: 53 }],
        },
      },
      { traceParent: '00-aa-bb-01' },
    );
    expect(answer).toEqual({ podSandboxId: 'sandbox-1' });
    expect(sandboxRequest?.runtimeHandler).toBe('');
    expect(sandboxRequest?.config?.labels).toEqual({ app: 'web' });
    expect(sandboxRequest?.config?.linux).toBeNull();
    expect(sandboxRequest?.config?.portMappings).toEqual([
      { protocol: 'UDP', containerPort: 53, hostPort: 0, hostIp: '' },
    ]);
    expect(sandboxCall?.traceParent).toBe('00-aa-bb-01');
  });

  it('gives int64 as number, bytes as Buffer and enums by name', async () => {
    const exec = await runtime.execSync({ containerId: 'c', cmd: ['true'] });
    expect(Buffer.isBuffer(exec.stdout)).toBe(true);
    expect(exec.stdout.toString()).toBe('out');
    expect(exec.exitCode).toBe(3);
    const { status, containersStatuses } = await runtime.podSandboxStatus({ podSandboxId: 'a' });
    expect(status?.createdAt).toBe(1_700_000_000_000_000_000);
    expect(containersStatuses[0]?.state).toBe('CONTAINER_EXITED');
    expect(containersStatuses[0]?.metadata?.attempt).toBe(2);
  });

  it("carries the runtime's status and text, and prints it as Go does", async () => {
    const error = await runtime.containerStatus({ containerId: 'x' }).catch((e: unknown) => e);
    expect(isCriError(error, 'NOT_FOUND')).toBe(true);
    expect(String(error)).toBe('rpc error: code = NotFound desc = no such container');
  });

  it("hands the runtime's steps of a traced call back to the caller, of a failed call too", async () => {
    const seen: string[] = [];
    const traced = createRuntimeClient(endpoint, { onSteps: (list) => seen.push(...list.map((s) => s.id)) });
    await traced.execSync({ containerId: 'c' });
    expect(seen).toEqual([]);
    await traced.execSync({ containerId: 'c' }, { traceParent: '00-aa-bb-01' });
    await traced.containerStatus({}, { traceParent: '00-aa-bb-01' }).catch(() => undefined);
    expect(seen).toEqual(['runtime.start', 'runtime.start']);
    traced.close();
  });

  it('answers UNIMPLEMENTED for a method without handler', async () => {
    const error = await runtime.version().catch((e: unknown) => e);
    expect(isCriError(error, 'UNIMPLEMENTED')).toBe(true);
  });

  it('ends a call at its deadline and when its signal aborts', async () => {
    const late = await runtime.stopContainer({}, { timeoutMs: 20 }).catch((e: unknown) => e);
    expect(isCriError(late, 'DEADLINE_EXCEEDED')).toBe(true);
    const controller = new AbortController();
    const pending = runtime.stopContainer({}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
  });

  it('cancels a stream when its consumer stops', async () => {
    for await (const event of runtime.getContainerEvents()) {
      expect(event.containerId).toBe('c1');
      break;
    }
    await eventually(() => expect(streamCancelled).toBe(true));
  });

  it('reports an error in the middle of a stream', async () => {
    const seen: unknown[] = [];
    const read = async () => {
      for await (const message of images.streamImages()) seen.push(message);
    };
    const error = await read().catch((e: unknown) => e);
    expect(seen).toHaveLength(1);
    expect(isCriError(error, 'RESOURCE_EXHAUSTED')).toBe(true);
  });

  it('waits for the socket when asked to', async () => {
    const other = `unix://${join(dir, 'late.sock')}`;
    const client = createRuntimeClient(other);
    const refused = await client.version().catch((e: unknown) => e);
    expect(isCriError(refused, 'UNAVAILABLE')).toBe(true);
    const pending = client.version({}, { waitForReady: true });
    const late = createCriServer();
    addRuntimeService(late, { version: () => ({ runtimeName: 'late' }) });
    await listen(late, other);
    expect((await pending).runtimeName).toBe('late');
    client.close();
    late.forceShutdown();
  });
});
