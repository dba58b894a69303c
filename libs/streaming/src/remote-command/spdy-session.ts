import { headerList, negotiate } from '../negotiate';
import { SpdyConnection } from '../spdy/spdy-connection';
import type { SpdyStream } from '../spdy/spdy-stream';
import type { RemoteCommandOptions, UpgradeRequest } from '../types';
import { acceptUpgrade } from '../upgrade-response';
import { closeOf, type RemoteCommandSession } from './session';

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io'];

/** Undefined when the client offers no protocol that we speak; pends until the client has opened all streams. */
export async function openSpdySession(
  { request, socket, head }: UpgradeRequest,
  options: RemoteCommandOptions,
): Promise<RemoteCommandSession | undefined> {
  const name = negotiate(headerList(request, 'x-stream-protocol-version'), protocols);
  if (!name) return undefined;
  acceptUpgrade(socket, { Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': name });
  if (head.length > 0) socket.unshift(head);
  const version = Number(name[1]);
  const expected = expectedStreams(options, version);
  const opened = new Map<string, SpdyStream>();
  const closed = closeOf(socket);
  const { connection, complete } = await new Promise<{ connection: SpdyConnection; complete: boolean }>(
    (resolve) => {
      const spdy = new SpdyConnection(socket, (stream) => {
        opened.set(stream.headers['streamtype'] ?? '', stream);
        if (expected.every((type) => opened.has(type))) resolve({ connection: spdy, complete: true });
      });
      // A broken connection is seen as its close.
      spdy.run().catch(() => socket.destroy());
      void closed.then(() => resolve({ connection: spdy, complete: false }));
    },
  );
  const error = opened.get('error');
  if (!complete || !error) {
    socket.destroy();
    return undefined;
  }
  return {
    error,
    stdin: opened.get('stdin'),
    stdout: opened.get('stdout'),
    stderr: opened.get('stderr'),
    resize: opened.get('resize'),
    statusAsJSON: version >= 4,
    close: () => connection.close(),
    closed,
  };
}

function expectedStreams({ stdin, stdout, stderr, tty }: RemoteCommandOptions, version: number): string[] {
  const wanted = { error: true, stdin, stdout, stderr: stderr && !tty, resize: tty && version >= 3 };
  return Object.entries(wanted).flatMap(([type, on]) => (on ? [type] : []));
}
