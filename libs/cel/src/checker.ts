import type { Environment } from '@marcbachmann/cel-js';
import type { DeclType, ObjectType } from './decl-types';
import { baseEnvironment } from './engine';
import { checkersWords } from './checker-words';
import { widenHas } from './library/has';
import { withoutOptionalEntries } from './optional-entries';

/** Checks expressions against the types of the variables that they are about, without running them. */
export class TypeChecker {
  private env: Environment;
  private readonly variableTypes: Record<string, string> = {};

  constructor(variables: Readonly<Record<string, DeclType>>) {
    this.env = baseEnvironment().clone();
    const types = new Types(this.env);
    for (const [name, type] of Object.entries(variables)) {
      this.env.registerVariable(name, types.nameOf(type));
    }
  }

  check(expression: string): Checked {
    const env = this.env.clone();
    if (Object.keys(this.variableTypes).length > 0) {
      env.registerType(variablesType, { fields: this.variableTypes });
      env.registerVariable('variables', variablesType);
    }
    return check(env, expression);
  }

  /** Makes the expression's value known to those that follow, as `variables.NAME`. */
  declare(name: string, expression: string): void {
    this.variableTypes[name] = this.check(expression).type ?? 'dyn';
  }
}

export interface Checked {
  /** What is wrong, in cel-go's words; undefined: nothing. */
  readonly error?: string;
  /** A field is selected from what has none of that name. */
  readonly isSelection?: boolean;
  /** Of the expression's value. */
  readonly type?: string;
}

const variablesType = 'kubernetes.variables';

function check(env: Environment, expression: string): Checked {
  try {
    const { valid, type, error } = env.parse(widenHas(withoutOptionalEntries(expression))).check();
    return valid || !error ? { type } : failed(error, expression);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return failed(error, expression);
  }
}

function failed(error: Error & { code?: string }, expression: string): Checked {
  const isSelection = error.code === 'no_such_key' || error.code === 'cannot_index_type';
  return { error: checkersWords(error, expression), isSelection };
}

const names = { timestamp: 'google.protobuf.Timestamp', duration: 'google.protobuf.Duration' } as const;

/** Makes types known to an environment, each once and under a name of its own. */
class Types {
  private readonly registered = new Map<ObjectType, string>();
  private readonly taken = new Set<string>();

  constructor(private readonly env: Environment) {}

  nameOf(type: DeclType): string {
    if (typeof type === 'string') return type in names ? names[type as keyof typeof names] : type;
    if ('list' in type) return `list<${this.nameOf(type.list)}>`;
    if ('map' in type) return `map<string, ${this.nameOf(type.map)}>`;
    const known = this.registered.get(type);
    if (known !== undefined) return known;
    const name = this.freeName(type.name);
    this.registered.set(type, name);
    const fields = Object.entries(type.fields).map(([key, field]) => [key, this.nameOf(field)] as const);
    this.env.registerType(name, { fields: Object.fromEntries(fields) });
    return name;
  }

  /** Schemas may call their fields anything, types have names that can be part of a signature. */
  private freeName(wanted: string): string {
    const plain = wanted.replace(/[^\w.@]/g, '_');
    let name = plain;
    for (let i = 2; this.taken.has(name); i++) name = `${plain}_${i}`;
    this.taken.add(name);
    return name;
  }
}
