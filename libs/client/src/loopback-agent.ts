import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import type { LoopbackNetwork } from '@tinkernetes/component-base';
import type { ClientConfig } from './types';

export interface LoopbackAgentTarget {
  loopback: LoopbackNetwork;
  config: ClientConfig;
  /** Made when it is needed: parsing certificates takes a millisecond. */
  secureContext(): SecureContext;
}

/** Connects to servers of this process without TLS, to all others with it. */
export class LoopbackAgent extends https.Agent {
  constructor(
    options: https.AgentOptions,
    private readonly target: LoopbackAgentTarget,
  ) {
    super(options);
  }

  override createConnection(
    options: Parameters<https.Agent['createConnection']>[0],
    callback?: Parameters<https.Agent['createConnection']>[1],
  ): Duplex | null | undefined {
    const { loopback, config, secureContext } = this.target;
    const { caData, certData, keyData, insecureSkipTLSVerify } = config;
    const socket = loopback.connect({
      host: options.host ?? '',
      port: Number(options.port),
      ca: insecureSkipTLSVerify ? undefined : (caData ?? ''),
      identity: { certificate: certData, key: keyData },
    });
    if (socket) return socket;
    const secured: typeof options & { secureContext: SecureContext } = {
      ...options,
      secureContext: secureContext(),
    };
    return super.createConnection(secured, callback);
  }
}
