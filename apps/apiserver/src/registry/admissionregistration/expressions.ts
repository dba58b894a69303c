import type { MatchCondition } from '@tinkernetes/api';
import { child, duplicate, invalid, isQualifiedName, required } from '@tinkernetes/apimachinery';
import {
  authorizerTypes,
  celTypes,
  compileExpression,
  namespaceType,
  requestType,
  type CelType,
  type Names,
} from '@tinkernetes/cel';
import { check, eachOf } from '../rules';
import type { Errors } from '../rules';

/** What an expression may speak of beyond the request and its objects. */
export interface Scope {
  /** The policy takes parameters. */
  readonly hasParams?: boolean;
  /** Absent: it may. */
  readonly hasAuthorizer?: boolean;
  /** The types of the policy's variables; undefined: it has none. */
  readonly variables?: Readonly<Record<string, CelType>>;
  /** The expression says what is to change. */
  readonly isMutation?: boolean;
}

/** What an expression must come to. */
interface Expected {
  readonly types?: readonly string[];
  /** What may be of any type is none of them. */
  readonly isExact?: boolean;
  /** What is told of an expression that is not there. */
  readonly missing?: string;
}

const { dyn, string, structOf } = celTypes;
const always = { object: dyn, oldObject: dyn, request: requestType, namespaceObject: namespaceType };

/** A field that JSONPatch doesn't have is of a type without a name. */
const jsonPatch = structOf(
  'JSONPatch',
  { op: string, path: string, from: string, value: dyn },
  structOf('', {}),
);

/** What mutations are written in: objects and their parts are told by their places alone. */
const mutating: Pick<Names, 'functions' | 'structs'> = {
  functions: { 'jsonpatch.escapeKey': ['jsonpatch_escapeKey_string: (string) -> string'] },
  structs: (name) =>
    /^Object(\.|$)/.test(name) ? structOf(name, {}, dyn) : name === 'JSONPatch' ? jsonPatch : undefined,
};

/** Source: k8s.io/apiserver/pkg/admission/plugin/cel/compile.go. */
function compile(text: string, { hasParams, hasAuthorizer = true, variables, isMutation }: Scope) {
  return compileExpression(text, {
    variables: {
      ...always,
      ...(hasAuthorizer ? authorizerTypes : {}),
      ...(hasParams ? { params: dyn } : {}),
      ...(variables ? { variables: structOf('kubernetes.variables', variables) } : {}),
    },
    ...(isMutation ? mutating : {}),
  });
}

/** The type of what an expression comes to; anything where that is not known. */
export function typeOfExpression(expression: string, scope: Scope): CelType {
  const { error, valueType } = compile(expression.trim(), scope);
  return error === undefined ? valueType : dyn;
}

/** The expression must be there, and be CEL that comes to one of the types. */
export function validateExpression(
  expression: string | undefined,
  path: string,
  scope: Scope,
  { types = [], isExact = false, missing = 'expression is not specified' }: Expected = {},
): Errors {
  const text = (expression ?? '').trim();
  if (text === '') return [required(path, missing)];
  const { error, type } = compile(text, scope);
  if (error !== undefined) return [invalid(path, text, error)];
  if (types.length === 0 || (type === 'dyn' && !isExact) || types.includes(formatNull(type))) return [];
  const wanted = types.length === 1 ? types[0] : `one of [${types.join(' ')}]`;
  return [invalid(path, text, `must evaluate to ${wanted} but got ${formatNull(type)}`)];
}

/** As messages name the type of null. */
const formatNull = (type: string): string => (type === 'null' ? 'null_type' : type);

/** Source: admissionregistration/validation.validateMatchConditions. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  path: string,
  scope: Scope = {},
): Errors {
  const names = new Set<string>();
  return eachOf(path, conditions, ({ name, expression }, at) => {
    const isDuplicate = names.has(name);
    names.add(name);
    return [
      ...(name ? check(child(at, 'name'), name, isQualifiedName) : [required(child(at, 'name'))]),
      ...(isDuplicate ? [duplicate(child(at, 'name'), name)] : []),
      ...validateExpression(expression, child(at, 'expression'), scope, { types: ['bool'], missing: '' }),
    ];
  });
}
