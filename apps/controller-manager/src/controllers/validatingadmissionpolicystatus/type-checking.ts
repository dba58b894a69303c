import type { ExpressionWarning, ValidatingAdmissionPolicy } from '@tinkernetes/api';
import {
  authorizerTypes,
  createTypeChecker,
  namespaceType,
  requestType,
  resourceType,
  type CelType,
  type TypeSchema,
} from '@tinkernetes/cel';
import type { Client } from '@tinkernetes/client';
import {
  groupVersionPath,
  ignoreUnserved,
  matchedKinds,
  shown,
  type GroupVersionKind,
} from './matched-kinds';

interface OpenAPIDocument {
  readonly components?: {
    readonly schemas?: Readonly<
      Record<
        string,
        TypeSchema & { readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[] }
      >
    >;
  };
}

/**
 * What is wrong with a policy's expressions by the schemas of the kinds that it matches. A kind without a schema is left
 * out. Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go.
 */
export async function expressionWarnings(
  client: Client,
  policy: ValidatingAdmissionPolicy,
  signal: AbortSignal,
): Promise<ExpressionWarning[]> {
  const { spec } = policy;
  const typeOf = new KindTypes(client, signal);
  const params = spec.paramKind && (await typeOf.get(paramKindOf(spec.paramKind)));
  const warnings = new Map<string, string[]>();
  for (const kind of await matchedKinds(client, policy, signal)) {
    const object = await typeOf.get(kind);
    if (!object) continue;
    const checker = createTypeChecker({
      ...{ object, oldObject: object, request: requestType, namespaceObject: namespaceType },
      ...(params && { params }),
      ...authorizerTypes,
    });
    for (const { name, expression } of spec.variables ?? []) checker.declare(name, expression);
    for (const { fieldRef, expression } of expressionsOf(policy)) {
      const error = checker.check(expression);
      if (error === undefined) continue;
      warnings.set(fieldRef, [...(warnings.get(fieldRef) ?? []), `${shown(kind)}: ${error}\n`]);
    }
  }
  return expressionsOf(policy).flatMap(({ fieldRef }) => {
    const found = warnings.get(fieldRef);
    return found ? [{ fieldRef, warning: found.join('\n') }] : [];
  });
}

const expressionsOf = ({ spec }: ValidatingAdmissionPolicy): { fieldRef: string; expression: string }[] =>
  (spec.validations ?? []).flatMap(({ expression, messageExpression }, i) => [
    { fieldRef: `spec.validations[${i}].expression`, expression },
    ...(messageExpression
      ? [{ fieldRef: `spec.validations[${i}].messageExpression`, expression: messageExpression }]
      : []),
  ]);

function paramKindOf({
  apiVersion = '',
  kind = '',
}: {
  apiVersion?: string;
  kind?: string;
}): GroupVersionKind {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1), kind };
}

/** Types of kinds by what the server publishes; each document is read once. */
class KindTypes {
  private readonly documents = new Map<string, Promise<OpenAPIDocument | undefined>>();
  /** A kind's type is one and the same, also where the parameters are of the kind that is checked. */
  private readonly types = new Map<string, CelType | undefined>();

  constructor(
    private readonly client: Client,
    private readonly signal: AbortSignal,
  ) {}

  async get(kind: GroupVersionKind): Promise<CelType | undefined> {
    const key = shown(kind);
    if (!this.types.has(key)) this.types.set(key, await this.read(kind));
    return this.types.get(key);
  }

  private async read(kind: GroupVersionKind): Promise<CelType | undefined> {
    const schemas = (await this.document(groupVersionPath(kind)))?.components?.schemas ?? {};
    const schema = Object.values(schemas).find((s) =>
      s['x-kubernetes-group-version-kind']?.some((of) => shown(of) === shown(kind)),
    );
    return schema && resourceType(kind.kind, schema, schemas);
  }

  private document(path: string): Promise<OpenAPIDocument | undefined> {
    const known = this.documents.get(path);
    if (known) return known;
    const { client, signal } = this;
    const document = client
      .request<OpenAPIDocument>({ method: 'GET', path: `/openapi/v3${path}`, signal })
      .catch(ignoreUnserved);
    this.documents.set(path, document);
    return document;
  }
}
