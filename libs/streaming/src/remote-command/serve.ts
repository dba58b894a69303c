import type { Writable } from 'node:stream';
import { upgradeKind } from '../negotiate';
import type { RemoteCommandHandler, RemoteCommandOptions, UpgradeRequest } from '../types';
import { refuseUpgrade } from '../upgrade-response';
import { exitStatus, failureStatus, type ExitStatus } from './exit-status';
import { resizeListener } from './resize';
import type { RemoteCommandSession } from './session';
import { openSpdySession } from './spdy-session';
import { openWebSocketSession } from './websocket-session';

/**
 * Serves one exec or attach: negotiates WebSocket or SPDY, runs `handler` with plain streams, and sends its exit status
 * as upstream's streaming server does. Never rejects; resolves when the client's connection is closed.
 * Source: k8s.io/kubelet/pkg/cri/streaming/remotecommand.
 */
export async function serveRemoteCommand(
  upgrade: UpgradeRequest,
  options: RemoteCommandOptions,
  handler: RemoteCommandHandler,
): Promise<void> {
  const { request, socket } = upgrade;
  socket.on('error', () => socket.destroy());
  const kind = upgradeKind(request);
  if (!options.stdin && !options.stdout && !options.stderr) {
    return refuseUpgrade(socket, 400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  if (!kind)
    return refuseUpgrade(
      socket,
      400,
      `unable to upgrade: unsupported protocol ${request.headers.upgrade ?? ''}`,
    );
  try {
    const session = await (kind === 'websocket' ? openWebSocketSession : openSpdySession)(upgrade, options);
    if (!session) return refuseUpgrade(socket, 403, 'unable to upgrade: no common stream protocol');
    await runSession(session, handler);
  } catch {
    // Refused with an answer, or broken while it was negotiated: then nobody is left to tell.
    if (!socket.writableEnded) socket.destroy();
  }
}

async function runSession(session: RemoteCommandSession, handler: RemoteCommandHandler): Promise<void> {
  const gone = new AbortController();
  void session.closed.then(() => gone.abort(new Error('the client has closed the connection')));
  const { stdin, stdout, stderr } = session;
  let status: ExitStatus;
  try {
    const onResize = resizeListener(session.resize);
    status = exitStatus((await handler({ stdin, stdout, stderr, onResize, signal: gone.signal })).exitCode);
  } catch (error) {
    status = failureStatus(error);
  }
  if (!gone.signal.aborted) {
    // Output first: clients stop reading when the status has come.
    await Promise.all([endOf(stdout), endOf(stderr)]);
    await endOf(session.error, session.statusAsJSON ? JSON.stringify(status) : (plainMessage(status) ?? ''));
    session.close();
  }
  // Input that nobody reads any more must not keep the connection from being drained.
  stdin?.resume();
  await session.closed;
}

function plainMessage(status: ExitStatus): string | undefined {
  return status.status === 'Success' ? undefined : status.message;
}

/** Ends a stream, with a last piece, and resolves when that was sent or can no longer be. */
function endOf(stream: Writable | undefined, last = ''): Promise<void> {
  return new Promise((resolve) => {
    if (!stream || stream.destroyed || stream.writableFinished) return resolve();
    stream.once('close', () => resolve());
    stream.once('finish', () => resolve());
    if (stream.writableEnded) return;
    if (last === '') stream.end();
    else stream.end(last);
  });
}
