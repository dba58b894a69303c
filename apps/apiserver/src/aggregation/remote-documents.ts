import { aggregatorUser, userHeaders } from './front-proxy';
import { isAvailable, type RemoteApi } from './aggregator';
import type { Clock } from '@tinkernetes/component-base';

/** What other servers say of themselves is read anew after this long. */
const lifetimeMs = 60_000;
const timeoutMs = 5000;

export interface RemoteDocument {
  readonly body: Buffer;
  readonly contentType: string;
}

/**
 * What `read` makes of a JSON document; undefined where the document is nothing of the kind: one server's mistake must
 * not spoil what is said of all the others.
 */
export function understood<T>({ body }: RemoteDocument, read: (json: unknown) => T): T | undefined {
  try {
    return read(JSON.parse(body.toString('utf8')));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

interface Known {
  document: RemoteDocument | undefined;
  fetchedAt: number;
  isStale: boolean;
  pending: Promise<void> | undefined;
}

/** Discovery and OpenAPI documents of aggregated servers, read when somebody asks and kept for a while. */
export class RemoteDocuments {
  /** By the server's address and the path. */
  private readonly known = new Map<string, Map<string, Known>>();

  constructor(private readonly clock: Clock) {}

  /**
   * The document as it was last read, and whether that is out of date: its server does not answer. The first reader
   * waits for it; others get the last one while a new one is read.
   */
  async get(
    remote: RemoteApi,
    path: string,
    accept: string,
  ): Promise<{ document: RemoteDocument | undefined; isStale: boolean }> {
    const ofServer = this.known.get(addressOf(remote)) ?? new Map<string, Known>();
    this.known.set(addressOf(remote), ofServer);
    const known = ofServer.get(path) ?? {
      document: undefined,
      fetchedAt: -Infinity,
      isStale: false,
      pending: undefined,
    };
    ofServer.set(path, known);
    if (!isAvailable(remote)) return { document: known.document, isStale: true };
    if (this.clock.now() - known.fetchedAt > lifetimeMs || known.isStale) {
      known.pending ??= this.read(remote, path, accept, known).finally(() => (known.pending = undefined));
      if (!known.document) await known.pending;
    }
    return { document: known.document, isStale: known.isStale };
  }

  /** Forgets what servers said that are behind none of these APIs any more. */
  keepOnly(remotes: Iterable<RemoteApi>): void {
    const present = new Set(Array.from(remotes, addressOf));
    for (const address of this.known.keys()) if (!present.has(address)) this.known.delete(address);
  }

  private async read(remote: RemoteApi, path: string, accept: string, known: Known): Promise<void> {
    const fetchedAt = this.clock.now();
    const answer = await remote.server
      .get(path, { ...userHeaders(aggregatorUser), accept }, timeoutMs)
      // That it does not answer is said by `isStale`, and why by its APIService's condition.
      .catch(() => undefined);
    known.isStale = answer === undefined || answer.code >= 500;
    known.fetchedAt = fetchedAt;
    if (answer?.code !== 200) return;
    known.document = { body: answer.body, contentType: answer.headers['content-type'] ?? '' };
  }
}

const addressOf = ({ server: { address } }: RemoteApi): string =>
  `${address.namespace}/${address.name}:${address.port}`;
