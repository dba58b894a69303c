/** Variables by name; API objects through `toCelValue`. A missing one fails only where it is used. */
export type Activation = Readonly<Record<string, unknown>>;

/** What may be spent on the expressions of one request; counted down as they run. */
export interface CostBudget {
  remaining: number;
}

export interface CelProgram {
  readonly expression: string;
  /** Throws an Error with CEL's message; a Promise where the expression asks the authorizer. */
  evaluate(variables: Activation, budget?: CostBudget): unknown;
}
