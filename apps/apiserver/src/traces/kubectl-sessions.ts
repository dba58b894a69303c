import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@tinkernetes/component-base';
import type { RequestSteps } from './request-steps';

/** Commands under way that are remembered at most; the oldest are forgotten first. */
const maxSessions = 200;

interface Session {
  /** `kubectl create` */
  command: string;
  /** `kubectl/v1.35.0 (linux/amd64) …` */
  client: string;
  firstSeenMs: number;
  /** From the first discovery or OpenAPI request to the end of the last. */
  negotiation?: { startMs: number; endMs: number };
}

/**
 * What a kubectl that isn't ours did before it sent an object: every request of one command carries the same
 * `Kubectl-Session` and the command's words in `Kubectl-Command`. Source: KEP-859.
 */
export class KubectlSessions {
  private readonly sessions = new Map<string, Session>();

  constructor(private readonly clock: Clock) {}

  /** Takes note of any request; those of other clients cost one look at a header. */
  observe(raw: IncomingMessage, response: ServerResponse, path: string): void {
    const id = raw.headers['kubectl-session'];
    if (typeof id !== 'string') return;
    const now = this.clock.now();
    const session = this.sessions.get(id) ?? this.begin(id, raw, now);
    if (!isNegotiation(path)) return;
    const negotiation = (session.negotiation ??= { startMs: now, endMs: now });
    response.once('close', () => {
      negotiation.endMs = this.clock.now();
    });
  }

  /**
   * The client's steps, told from its requests and marked `inferred`. Between the end of discovery and the arrival of
   * the object lies all that needed no server; nobody here can tell its parts from each other.
   */
  addSteps(steps: RequestSteps, raw: IncomingMessage, arrivedMs: number): void {
    const session = this.sessions.get(String(raw.headers['kubectl-session']));
    if (!session) return;
    const { command, client, firstSeenMs, negotiation } = session;
    const inferred = { inferred: true };
    const prepared = { startMs: negotiation?.endMs ?? firstSeenMs, endMs: arrivedMs };
    const discovery = negotiation ?? { startMs: firstSeenMs, endMs: firstSeenMs };
    const cached = negotiation === undefined;
    steps.add(
      'kubectl.command',
      { startMs: firstSeenMs, endMs: firstSeenMs },
      { ...inferred, command, client },
    );
    steps.add('kubectl.negotiate', discovery, { ...inferred, cached });
    steps.add('kubectl.validate', prepared, inferred);
    steps.add('kubectl.generate', prepared, inferred);
    steps.add('kubectl.encode', prepared, { ...inferred, contentType: raw.headers['content-type'] ?? '' });
    steps.add(
      'kubectl.authenticate',
      { startMs: arrivedMs, endMs: arrivedMs },
      { ...inferred, credential: credentialOf(raw) },
    );
    steps.addUntilFinished('kubectl.send', arrivedMs, inferred);
  }

  private begin(id: string, raw: IncomingMessage, now: number): Session {
    const session: Session = {
      command: String(raw.headers['kubectl-command'] ?? ''),
      client: raw.headers['user-agent'] ?? '',
      firstSeenMs: now,
    };
    this.sessions.set(id, session);
    const [oldest] = this.sessions.keys();
    if (this.sessions.size > maxSessions && oldest !== undefined) this.sessions.delete(oldest);
    return session;
  }
}

/** `/api`, `/apis`, `/apis/apps/v1`, `/openapi/v3/…`, `/version`. */
const isNegotiation = (path: string): boolean =>
  /^\/(?:api(?:\/v1)?|apis(?:\/[^/]+){0,2}|openapi\/.*|version)\/?$/.test(path);

/** What kind of credential the request carried, never the credential itself. */
function credentialOf({ headers }: IncomingMessage): string {
  const [scheme] = (headers.authorization ?? '').split(' ');
  return scheme ? scheme.toLowerCase() : 'x509';
}
