import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import type { LoopbackNetwork } from '@tinkernetes/component-base';
import type { ClientConfig } from './types';

/** Connects to servers of this process without TLS, to all others with it. */
export class LoopbackAgent extends https.Agent {
  constructor(
    options: https.AgentOptions,
    private readonly loopback: LoopbackNetwork,
    private readonly config: ClientConfig,
  ) {
    super(options);
  }

  override createConnection(
    options: Parameters<https.Agent['createConnection']>[0],
    callback?: Parameters<https.Agent['createConnection']>[1],
  ): Duplex | null | undefined {
    const { caData, certData, keyData, insecureSkipTLSVerify } = this.config;
    const socket = this.loopback.connect({
      host: options.host ?? '',
      port: Number(options.port),
      ca: insecureSkipTLSVerify ? undefined : (caData ?? ''),
      identity: { certificate: certData, key: keyData },
    });
    return socket ?? super.createConnection(options, callback);
  }
}
