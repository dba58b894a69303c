import { Client, credentials, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js';
import { realClock } from '@tinkernetes/component-base';
import {
  devicePluginService,
  type AllocateRequest,
  type AllocateResponse,
  type ContainerAllocateResponse,
  type Device,
  type DevicePluginOptions,
  type ListAndWatchResponse,
  type PreferredAllocationRequest,
  type PreferredAllocationResponse,
} from './device-plugin-api';

/** A plugin that does not answer in this time has failed. */
const timeoutMs = 30_000;

export interface PluginEndpointDeps {
  /** The plugin's socket. */
  path: string;
  options: DevicePluginOptions;
  onDevices(devices: readonly Device[]): void;
  /** The plugin is gone. */
  onEnd(): void;
}

export interface Choice {
  /** With those that must be among them. */
  available: readonly string[];
  mustInclude: readonly string[];
  /** How many in all. */
  count: number;
}

/** The connection to one registered plugin: the list of its devices, and what is asked of it. */
export class PluginEndpoint {
  private readonly client: Client;
  private readonly list: ClientReadableStream<ListAndWatchResponse>;

  constructor(private readonly deps: PluginEndpointDeps) {
    this.client = new Client(`unix://${deps.path}`, credentials.createInsecure(), {
      'grpc.default_authority': 'localhost',
    });
    const method = methodNamed('listAndWatch');
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.client.close();
      deps.onEnd();
    };
    this.list = this.client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize as (bytes: Buffer) => ListAndWatchResponse,
      {},
    );
    this.list.on('data', ({ devices }: ListAndWatchResponse) => deps.onDevices(devices));
    this.list.on('error', end);
    this.list.on('end', end);
  }

  get options(): DevicePluginOptions {
    return this.deps.options;
  }

  close(): void {
    this.list.cancel();
  }

  async allocate(ids: readonly string[]): Promise<ContainerAllocateResponse> {
    const request: AllocateRequest = { containerRequests: [{ devicesIds: [...ids] }] };
    const { containerResponses } = await this.call<AllocateResponse>('allocate', request);
    const [response] = containerResponses;
    if (!response) throw new Error('no containers return in allocation response');
    return response;
  }

  /** Which of the available devices the plugin would give; it is asked, not obeyed. */
  async preferred({ available, mustInclude, count }: Choice): Promise<readonly string[]> {
    const request: PreferredAllocationRequest = {
      containerRequests: [
        {
          availableDeviceIDs: [...available],
          mustIncludeDeviceIDs: [...mustInclude],
          allocationSize: count,
        },
      ],
    };
    const answer = await this.call<PreferredAllocationResponse>('getPreferredAllocation', request);
    return answer.containerResponses[0]?.deviceIDs ?? [];
  }

  async preStart(ids: readonly string[]): Promise<void> {
    await this.call('preStartContainer', { devicesIds: [...ids] });
  }

  private call<Answer extends object>(name: string, request: object): Promise<Answer> {
    const method = methodNamed(name);
    return new Promise((resolve, reject) => {
      // gRPC keeps deadlines in real time.
      const deadline = new Date(realClock.now() + timeoutMs);
      this.client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        { deadline },
        (error: ServiceError | null, answer?: object) => {
          if (error) reject(new Error(error.details || error.message, { cause: error }));
          else resolve(answer as Answer);
        },
      );
    });
  }
}

function methodNamed(name: string) {
  const method = devicePluginService()[name];
  if (!method) throw new Error(`no method ${name}`);
  return method;
}
