const growth = 2;
const nothing = Buffer.alloc(0);

/** Bytes that are put one after the other, to be written together: without a buffer of its own for each of them. */
export class ByteSink {
  private bytes = nothing;
  private used = 0;

  /** `capacity`: what is expected; there is room for more. */
  constructor(private readonly capacity: number) {}

  get length(): number {
    return this.used;
  }

  add(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.makeRoom(to - from);
    this.bytes.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), this.used);
    this.used += to - from;
  }

  addAscii(text: string): void {
    this.makeRoom(text.length);
    this.used += this.bytes.write(text, this.used, 'latin1');
  }

  /** All that has come together. What follows goes into other bytes. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.used);
    this.bytes = nothing;
    this.used = 0;
    return taken;
  }

  private makeRoom(size: number): void {
    const needed = this.used + size;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * growth, this.capacity));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}
