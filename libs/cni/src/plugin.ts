import { CniError, cniErrorCode, cniVersion, type CniCommand, type PluginConfig } from './types';

/** A plugin's whole world: what an executable gets by stdin and environment. */
export interface PluginInput {
  stdin: string;
  env: Readonly<Record<string, string | undefined>>;
}

export interface PluginOutput {
  stdout: string;
  stderr?: string;
  exitCode: number;
}

/** The node's network as plugins use it (libs/vnet's client has this shape). */
export interface PluginNetwork {
  attach(request: {
    netns: string;
    ifname: string;
    bridge: string;
    addresses: readonly string[];
    gateway?: string;
    ipMasq?: boolean;
    hairpin?: boolean;
    mtu?: number;
  }): Promise<{ bridgeMac: string; hostIfname: string; hostMac: string; mac: string }>;
  detach(request: { netns: string; ifname: string }): Promise<void>;
  listInterfaces(netns: string): Promise<readonly { name: string; addresses: readonly string[] }[]>;
  setRules(
    owner: string,
    rules: readonly {
      name: string;
      protocol: 'TCP' | 'UDP' | 'SCTP';
      port: number;
      nodePort: boolean;
      action: 'DNAT';
      endpoints: readonly { address: string; port: number }[];
    }[],
  ): Promise<void>;
}

export interface PluginHost {
  /** The network at the configuration's `vnet` endpoint. */
  network(endpoint: string | undefined): PluginNetwork;
  /** Runs another plugin (IPAM) with the caller's environment. */
  delegate(type: string, input: PluginInput): Promise<PluginOutput>;
}

/** A plugin as a function: the same stdin, environment and stdout as its executable. */
export type Plugin = (input: PluginInput, host: PluginHost) => Promise<PluginOutput>;

export interface PluginCall {
  config: PluginConfig;
  containerId: string;
  netns: string;
  ifname: string;
  env: PluginInput['env'];
}

/** What a plugin does for each command; the answer is printed as JSON. CHECK, DEL, GC and STATUS print nothing. */
export interface PluginCommands {
  add(call: PluginCall, host: PluginHost): Promise<object>;
  del(call: PluginCall, host: PluginHost): Promise<void>;
  check?(call: PluginCall, host: PluginHost): Promise<void>;
  gc?(call: PluginCall, host: PluginHost): Promise<void>;
  status?(call: PluginCall, host: PluginHost): Promise<void>;
}

const supportedVersions = ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'];

/** Reads the input, dispatches by CNI_COMMAND and words errors as the specification wants them. */
export function definePlugin(commands: PluginCommands): Plugin {
  return async ({ stdin, env }, host) => {
    try {
      const command = env.CNI_COMMAND as CniCommand | undefined;
      if (command === 'VERSION') return success({ cniVersion, supportedVersions: [...supportedVersions] });
      const call = readCall(command, stdin, env);
      switch (command) {
        case 'ADD':
          return success(await commands.add(call, host));
        case 'DEL':
          await commands.del(call, host);
          return success();
        case 'CHECK':
          await commands.check?.(call, host);
          return success();
        case 'GC':
          await commands.gc?.(call, host);
          return success();
        case 'STATUS':
          await commands.status?.(call, host);
          return success();
        case undefined:
          throw new CniError(cniErrorCode.invalidEnvironment, 'required env variables [CNI_COMMAND] missing');
      }
      throw new CniError(cniErrorCode.invalidEnvironment, `unknown CNI_COMMAND: ${String(command)}`);
    } catch (error) {
      return failure(error);
    }
  };
}

function readCall(command: CniCommand | undefined, stdin: string, env: PluginInput['env']): PluginCall {
  const needed: string[] = command === 'GC' || command === 'STATUS' ? [] : ['CNI_CONTAINERID', 'CNI_IFNAME'];
  if (command === 'ADD' || command === 'CHECK') needed.push('CNI_NETNS');
  const missing = needed.filter((name) => !env[name]);
  if (missing.length > 0) {
    throw new CniError(
      cniErrorCode.invalidEnvironment,
      `required env variables [${missing.join(',')}] missing`,
    );
  }
  const config = decode(stdin);
  if (!supportedVersions.includes(config.cniVersion)) {
    throw new CniError(
      cniErrorCode.incompatibleVersion,
      'incompatible CNI versions',
      `config is "${config.cniVersion}", plugin supports ["${supportedVersions.join('" "')}"]`,
    );
  }
  return {
    config,
    containerId: env.CNI_CONTAINERID ?? '',
    netns: env.CNI_NETNS ?? '',
    ifname: env.CNI_IFNAME ?? '',
    env,
  };
}

function decode(stdin: string): PluginConfig {
  try {
    return JSON.parse(stdin) as PluginConfig;
  } catch (error) {
    throw new CniError(
      cniErrorCode.decodingFailure,
      `error unmarshall network config: ${error instanceof Error ? error.message : String(error)}`,
      '',
      { cause: error },
    );
  }
}

function success(value?: object): PluginOutput {
  return { stdout: value ? JSON.stringify(value) : '', exitCode: 0 };
}

function failure(error: unknown): PluginOutput {
  const known = error instanceof CniError;
  const body = {
    cniVersion,
    code: known ? error.code : cniErrorCode.internal,
    msg: error instanceof Error ? error.message : String(error),
    ...(known && error.details ? { details: error.details } : {}),
  };
  return { stdout: JSON.stringify(body), exitCode: 1 };
}

/** A plugin's output as a value; a failed one throws its CniError. */
export function readOutput<T>(type: string, { stdout, stderr, exitCode }: PluginOutput): T | undefined {
  if (exitCode === 0) return stdout.trim() === '' ? undefined : (JSON.parse(stdout) as T);
  let body: { code?: number; msg?: string; details?: string };
  try {
    body = JSON.parse(stdout) as typeof body;
  } catch (error) {
    const message = `netplugin failed with no error message: exit status ${exitCode}${stderr ? `: ${stderr}` : ''}`;
    throw new CniError(cniErrorCode.internal, message, '', { cause: error });
  }
  throw new CniError(
    body.code ?? cniErrorCode.internal,
    `plugin type="${type}" failed: ${body.msg ?? 'unknown error'}`,
    body.details,
  );
}
