import { Nodes } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';

/** What the Node's status lists as in use: the attach/detach controller takes none of these away. */
export class VolumesInUse {
  private readonly names = new Set<string>();
  private reported = '[]';
  private sending: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly nodeName: string,
  ) {}

  /** Resolves when the server knows; only then may the volume be mounted. */
  add(name: string): Promise<void> {
    this.names.add(name);
    return this.send();
  }

  remove(name: string): Promise<void> {
    this.names.delete(name);
    return this.send();
  }

  /** What a kubelet before this one has left there. */
  async correct(listed: readonly string[]): Promise<void> {
    this.reported = JSON.stringify([...listed].sort());
    await this.send();
  }

  /** One write at a time, each with what is in use by then. */
  private send(): Promise<void> {
    const sent = this.sending.catch(() => undefined).then(() => this.patch());
    this.sending = sent;
    return sent;
  }

  private async patch(): Promise<void> {
    const volumesInUse = [...this.names].sort();
    const text = JSON.stringify(volumesInUse);
    if (text === this.reported) return;
    await this.client
      .for(Nodes)
      .patch(this.nodeName, { status: { volumesInUse } }, { type: 'merge', subresource: 'status' });
    this.reported = text;
  }
}
