import { LruMap, textPool } from '@tinkernetes/component-base';

/** What is longer is seldom the same twice. */
const longest = 256;

/**
 * Keeps equal texts once: a message brings strings of its own, and the configurations of thousands of containers have
 * most of theirs in common. Bytes are copied out of the message, all of which they would keep in memory.
 */
export class SharedValues {
  private readonly texts = textPool(4096);
  private readonly buffers = new LruMap<string, Buffer>(4096);

  /** The same object, with strings and bytes that others have too. */
  share<T extends object>(message: T): T {
    const fields = message as Record<string, unknown>;
    for (const [key, value] of Object.entries(message)) {
      if (typeof value === 'string') fields[key] = this.text(value);
      else if (value instanceof Uint8Array) fields[key] = this.bytes(value);
      else if (typeof value === 'object' && value !== null) this.share(value);
    }
    return message;
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
