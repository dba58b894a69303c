import type { CelType } from './cel-type';

interface Node {
  /** Names the node in what is found out about it. */
  readonly id: number;
  /** Code points before it. */
  readonly position: number;
}

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly type: CelType;
  /** Of a text, or a number as it is written. */
  readonly text: string;
}
export interface Ident extends Node {
  readonly kind: 'ident';
  readonly name: string;
}
export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  /** `has(a.b)`: only asked for. */
  readonly isTest: boolean;
}
export interface Call extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target?: Expression;
  readonly args: readonly Expression[];
}
export interface ListLiteral extends Node {
  readonly kind: 'list';
  readonly elements: readonly Expression[];
  readonly optional: ReadonlySet<number>;
}
export interface MapLiteral extends Node {
  readonly kind: 'map';
  readonly entries: readonly {
    readonly key: Expression;
    readonly value: Expression;
    readonly optional: boolean;
  }[];
}
export interface StructLiteral extends Node {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly value: Expression;
    readonly optional: boolean;
    /** Of the colon. */
    readonly position: number;
  }[];
}
/** What macros over lists and maps are made of. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  readonly range: Expression;
  readonly variable: string;
  readonly secondVariable?: string;
  readonly result: string;
  readonly init: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly end: Expression;
}

/** An expression as cel-go's parser leaves it: macros are expanded. */
export type Expression =
  Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension;
