import { LruMap, textPool } from '@tinkernetes/component-base';

/** What is longer is seldom the same twice. */
const longest = 256;
/** Of a part of a message, as JSON. */
const longestPart = 512;

/**
 * Keeps equal parts of messages once: a message brings strings and objects of its own, and the configurations of
 * thousands of containers have most of theirs in common. Bytes are copied out of the message, all of which they would
 * keep in memory. What is shared can't be changed.
 */
export class SharedValues {
  private readonly texts = textPool(4096);
  private readonly buffers = new LruMap<string, Buffer>(4096);
  /** Those of one Pod only fill it, too, and go again. */
  private readonly parts = new LruMap<string, object>(1024);

  /** The same object, with strings, bytes and parts that others have too. */
  share<T extends object>(message: T): T {
    const fields = message as Record<string, unknown>;
    for (const [key, value] of Object.entries(message)) fields[key] = this.shared(value);
    return message;
  }

  private shared(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (value instanceof Uint8Array) return this.bytes(value);
    // A list that was filled one by one has room for more.
    if (Array.isArray(value)) return this.part(value.map((item) => this.shared(item)));
    if (typeof value === 'object' && value !== null) return this.part(this.share(value));
    return value;
  }

  private part(value: object): object {
    const key = JSON.stringify(value);
    return key.length > longestPart ? value : this.parts.getOrCreate(key, () => Object.freeze(value));
  }

  private text(value: string): string {
    return value.length > longest ? value : this.texts(value);
  }

  private bytes(value: Uint8Array): Buffer {
    const copy = () => {
      const own = Buffer.allocUnsafeSlow(value.length);
      own.set(value);
      return own;
    };
    if (value.length > longest) return copy();
    return this.buffers.getOrCreate(Buffer.from(value).toString('latin1'), copy);
  }
}
