/** What the members of a struct need to know of their fields. */
export interface MemberField {
  readonly name: string;
  /** Place among the struct's fields as they are written. */
  readonly rank: number;
}

/**
 * The decoded members of one struct. Of many fields few are set, and most values have the wanted form and order
 * already (objects are decoded again after admission): then the given object stands for itself.
 */
export class StructMembers {
  private readonly fields: MemberField[] = [];
  private readonly values: unknown[] = [];
  private isAsGiven = true;
  private isInOrder = true;
  private lastRank = -1;

  /** `isGiven`: the given object has this very value. */
  add(field: MemberField, value: unknown, isGiven: boolean): void {
    if (!isGiven) this.isAsGiven = false;
    if (field.rank < this.lastRank) this.isInOrder = false;
    this.lastRank = field.rank;
    this.fields.push(field);
    this.values.push(value);
  }

  /** Something that was given is not among the members. */
  drop(): void {
    this.isAsGiven = false;
  }

  /** The members as one object, in their fields' order: the given one where it is just that. */
  toObject(given: Record<string, unknown>): Record<string, unknown> {
    if (this.isAsGiven && this.isInOrder) return given;
    const { fields, values } = this;
    const out: Record<string, unknown> = {};
    if (this.isInOrder) {
      for (let i = 0; i < fields.length; i++) out[fields[i]?.name ?? ''] = values[i];
      return out;
    }
    const order = fields.map((field, i) => ({ field, value: values[i] }));
    order.sort((a, b) => a.field.rank - b.field.rank);
    for (const { field, value } of order) out[field.name] = value;
    return out;
  }
}
