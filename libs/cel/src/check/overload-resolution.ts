import { bool, dyn, errorType, formatType, type CelType } from './cel-type';
import type { Overload } from './overload';
import type { Call, Expression } from './expression';
import type { Inference } from './inference';

/** What a call's function may be. */
export interface Candidates {
  /** The function's name with what is before it. */
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** What the function is called on; undefined: nothing. */
  readonly target?: Expression;
}

/** A call's type, and the ids of the overloads that its arguments fit. */
export interface Resolution {
  readonly type: CelType;
  readonly ids: readonly string[];
}

/** Finds the overloads that the arguments' types fit. Source: cel-go checker.resolveOverload. */
export function resolveOverload(inference: Inference, call: Call, candidates: Candidates): Resolution {
  if (call.name === '_&&_' || call.name === '_||_') return resolveLogical(inference, call, candidates);
  const { name, overloads, target } = candidates;
  const given = [...(target ? [target] : []), ...call.args].map((arg) => inference.typeOf(arg));
  const ids: string[] = [];
  let result: CelType | undefined;
  for (const overload of overloads) {
    if (overload.isMember !== (target !== undefined)) continue;
    const fresh = inference.instance(overload);
    if (!inference.assign(given, fresh.args)) continue;
    ids.push(overload.id);
    const type = inference.resolved(fresh.result);
    if (!result) result = type;
    else if (result.kind !== 'dyn' && formatType(result) !== formatType(type)) result = dyn;
  }
  if (!result) {
    const shown = signature(given.map(inference.settled), target !== undefined);
    inference.tell(call, `found no matching overload for '${name}' applied to '${shown}'`);
  }
  return { type: result ?? errorType, ids };
}

function signature(given: readonly CelType[], isMember: boolean): string {
  const [first = '', ...rest] = given.map(formatType);
  if (given.length === 0) return '()';
  return isMember ? `${first}.(${rest.join(', ')})` : `(${[first, ...rest].join(', ')})`;
}

/** `&&` and `||` say of each side by itself that it is no bool. */
function resolveLogical(inference: Inference, call: Call, { overloads }: Candidates): Resolution {
  let isFine = true;
  for (const arg of call.args) {
    const type = inference.typeOf(arg);
    if (inference.assign([type], [bool])) continue;
    inference.mismatch(arg, bool, type);
    isFine = false;
  }
  return { type: isFine ? bool : errorType, ids: overloads.map(({ id }) => id) };
}
