import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { eventually } from '@tinkernetes/component-base/testing';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  devicePluginService,
  registrationService,
  type AllocateRequest,
  type DevicePluginOptions,
  type PreferredAllocationRequest,
} from '../devices/device-plugin-api';

/** A device plugin whose devices are files of the machine: `<directory>/<resource's last part>-0` … */
export class FakeDevicePlugin {
  readonly allocated: string[][] = [];
  readonly started: string[][] = [];
  /** What GetPreferredAllocation was asked. */
  readonly choices: PreferredAllocationRequest['containerRequests'] = [];
  /** What Allocate fails with. */
  refusal: string | undefined;
  /** What GetPreferredAllocation picks first. */
  preferred: readonly string[] = [];
  private server = new Server();
  private list: ServerWritableStream<object, object> | undefined;

  constructor(
    private readonly directory: string,
    private readonly resourceName: string,
    private devices: readonly string[],
    private readonly options: Partial<DevicePluginOptions> = {},
  ) {}

  /** Serves and registers; again after the kubelet has gone or `stop`. */
  async start(): Promise<void> {
    await eventually(() => expect(existsSync(join(this.directory, 'kubelet.sock'))).toBe(true));
    const endpoint = `${this.resourceName.replace('/', '_')}.sock`;
    this.stop();
    this.server = new Server();
    this.server.addService(devicePluginService(), this.handlers());
    await new Promise<void>((resolve, reject) =>
      this.server.bindAsync(
        `unix://${join(this.directory, endpoint)}`,
        ServerCredentials.createInsecure(),
        (error) => (error ? reject(error) : resolve()),
      ),
    );
    await register(this.directory, {
      version: 'v1beta1',
      endpoint,
      resourceName: this.resourceName,
      options: this.options,
    });
  }

  stop(): void {
    this.server.forceShutdown();
  }

  /** Tells of another set of devices. */
  offer(devices: readonly string[], broken: readonly string[] = []): void {
    this.devices = devices;
    this.tell(broken);
  }

  private tell(broken: readonly string[] = []): void {
    const devices = this.devices.map((ID) => ({
      ID,
      health: broken.includes(ID) ? 'Unhealthy' : 'Healthy',
    }));
    this.list?.write({ devices });
  }

  private handlers() {
    return {
      getDevicePluginOptions: (_: unknown, callback: sendUnaryData<object>) => callback(null, this.options),
      listAndWatch: (call: ServerWritableStream<object, object>) => {
        this.list = call;
        this.tell();
      },
      getPreferredAllocation: (
        { request }: ServerUnaryCall<PreferredAllocationRequest, object>,
        callback: sendUnaryData<object>,
      ) => {
        const [asked] = request.containerRequests;
        this.choices.push(...request.containerRequests);
        const free = this.preferred.filter((id) => asked?.availableDeviceIDs.includes(id));
        callback(null, { containerResponses: [{ deviceIDs: free.slice(0, asked?.allocationSize) }] });
      },
      allocate: ({ request }: ServerUnaryCall<AllocateRequest, object>, callback: sendUnaryData<object>) => {
        if (this.refusal) return callback({ code: 2, details: this.refusal });
        const ids = request.containerRequests[0]?.devicesIds ?? [];
        this.allocated.push(ids);
        callback(null, {
          containerResponses: [
            {
              envs: { VISIBLE_DEVICES: ids.join(',') },
              mounts: [{ containerPath: '/driver', hostPath: this.directory, readOnly: true }],
              devices: ids.map((id) => ({
                containerPath: `/dev/${id}`,
                hostPath: `/dev/${id}`,
                permissions: 'rw',
              })),
              annotations: { 'example.com/devices': ids.join(',') },
              cdiDevices: ids.map((id) => ({ name: `example.com/kind=${id}` })),
            },
          ],
        });
      },
      preStartContainer: (
        { request }: ServerUnaryCall<{ devicesIds: string[] }, object>,
        callback: sendUnaryData<object>,
      ) => {
        this.started.push(request.devicesIds);
        callback(null, {});
      },
    };
  }
}

/** What a plugin says of itself to the kubelet; rejects with its refusal. */
export function register(directory: string, request: object): Promise<void> {
  const method = registrationService()['register'];
  const client = new Client(`unix://${join(directory, 'kubelet.sock')}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
  });
  return new Promise<void>((resolve, reject) => {
    if (!method) throw new Error('no method Register');
    client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      (error) => (error ? reject(error) : resolve()),
    );
  }).finally(() => client.close());
}
