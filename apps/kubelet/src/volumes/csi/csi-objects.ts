import {
  CSIDrivers,
  Secrets,
  VolumeAttachments,
  type CSIDriver,
  type Node,
  type SecretReference,
} from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';

/** Something else has to happen first; the Pod is looked at again, and nobody is told that anything failed. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
}

/** What the API knows of drivers and their volumes. */
export class CsiObjects {
  constructor(private readonly deps: { readonly client: Client; node(): Node | undefined }) {}

  /** What the driver said when it attached the volume; throws NotYet until it has. */
  async attached(name: string, attachmentID: string): Promise<Record<string, string>> {
    const isListed = this.deps.node()?.status?.volumesAttached?.some((volume) => volume.name === name);
    if (!isListed) throw new NotYet(`volume ${name} is not attached`);
    const attachment = await this.deps.client.for(VolumeAttachments).get(attachmentID).catch(ignoreNotFound);
    if (!attachment?.status?.attached) throw new NotYet(`volume ${name} is not attached`);
    return attachment.status.attachmentMetadata ?? {};
  }

  /** What a driver has said of itself; undefined: nothing. */
  driver(name: string): Promise<CSIDriver | undefined> {
    return this.deps.client
      .for(CSIDrivers)
      .get(name)
      .catch((error: unknown) => {
        ignoreNotFound(error);
        return undefined;
      });
  }

  /** What a Secret holds, as drivers want it. */
  async secrets(reference: SecretReference | undefined): Promise<Record<string, string>> {
    if (!reference?.name) return {};
    const { data = {} } = await this.deps.client
      .for(Secrets)
      .get(reference.name, { namespace: reference.namespace });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    );
  }
}
