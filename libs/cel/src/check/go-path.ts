/**
 * A path as cel-go's estimator keeps it: a slice of Go, which shares its memory with what was appended to the same front
 * part while there was room. There the last one that is appended is what all of them say, and estimates, which are part
 * of the API, follow from that.
 */
export class GoPath {
  private constructor(
    private readonly memory: string[],
    private readonly length: number,
    private readonly capacity: number,
  ) {}

  static readonly empty = new GoPath([], 0, 0);
  static of = (name: string): GoPath => new GoPath([name], 1, 1);

  get names(): readonly string[] {
    return this.memory.slice(0, this.length);
  }

  append(name: string): GoPath {
    const length = this.length + 1;
    if (length <= this.capacity) {
      this.memory[this.length] = name;
      return new GoPath(this.memory, length, this.capacity);
    }
    return new GoPath([...this.names, name], length, Math.max(length, 2 * this.capacity));
  }
}
