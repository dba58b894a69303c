import { headerList, negotiate } from '../negotiate';
import type { RemoteCommandOptions, UpgradeRequest } from '../types';
import { acceptWebSocket } from '../websocket/accept';
import { WebSocketChannels } from '../websocket/channels';
import type { RemoteCommandSession } from './session';

const channelIds = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

interface Protocol {
  base64: boolean;
  closable: boolean;
  statusAsJSON: boolean;
}
const protocols: Record<string, Protocol> = {
  'v5.channel.k8s.io': { base64: false, closable: true, statusAsJSON: true },
  'v5.base64.channel.k8s.io': { base64: true, closable: true, statusAsJSON: true },
  'v4.channel.k8s.io': { base64: false, closable: false, statusAsJSON: true },
  'v4.base64.channel.k8s.io': { base64: true, closable: false, statusAsJSON: true },
  'channel.k8s.io': { base64: false, closable: false, statusAsJSON: false },
  'base64.channel.k8s.io': { base64: true, closable: false, statusAsJSON: false },
};
/** A client that names no subprotocol gets the oldest. */
const unnamed: Protocol = { base64: false, closable: false, statusAsJSON: false };

/** Undefined when the client offers no protocol that we speak. */
export async function openWebSocketSession(
  upgrade: UpgradeRequest,
  options: RemoteCommandOptions,
): Promise<RemoteCommandSession | undefined> {
  const offered = headerList(upgrade.request, 'sec-websocket-protocol');
  const name = negotiate(offered, Object.keys(protocols));
  if (offered.length > 0 && !name) return undefined;
  const protocol = name ? (protocols[name] ?? unnamed) : unnamed;
  const webSocket = await acceptWebSocket(upgrade, name);
  const channels = new WebSocketChannels(webSocket, protocol);
  const closed = new Promise<void>((resolve) => webSocket.once('close', () => resolve()));
  const when = (wanted: boolean, id: number) => (wanted ? channels.channel(id) : undefined);
  const session: RemoteCommandSession = {
    error: channels.channel(channelIds.error),
    stdin: when(options.stdin, channelIds.stdin),
    stdout: when(options.stdout, channelIds.stdout),
    stderr: when(options.stderr && !options.tty, channelIds.stderr),
    resize: when(options.tty, channelIds.resize),
    statusAsJSON: protocol.statusAsJSON,
    close: () => channels.close(),
    closed,
  };
  const first = session.stdout ? channelIds.stdout : session.stderr ? channelIds.stderr : channelIds.error;
  channels.announce(first);
  return session;
}
