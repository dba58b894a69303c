import type { Environment } from '@marcbachmann/cel-js';

/** Whom a question is about. */
export interface CelUser {
  readonly name: string;
  readonly groups: readonly string[];
}
/** What a question is about: of a resource, or of a path. */
export interface CelAttributes {
  readonly user: CelUser;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}
interface Answer {
  decision: 'allow' | 'deny' | 'no-opinion';
  reason: string;
}
/** Who answers the questions. */
export interface CelDecider {
  authorize(attributes: CelAttributes): Promise<Answer> | Answer;
}

const authorizerType = 'kubernetes.authorization.Authorizer';
const groupType = 'kubernetes.authorization.GroupCheck';
const resourceType = 'kubernetes.authorization.ResourceCheck';
const pathType = 'kubernetes.authorization.PathCheck';
const decisionType = 'kubernetes.authorization.Decision';

/** The `authorizer` variable of an expression: questions about what a user may do. */
export class CelAuthorizer {
  constructor(
    readonly authorizer: CelDecider,
    readonly user: CelUser,
    /** What the request itself is about. */
    private readonly request: Partial<CelAttributes> = {},
  ) {}
  get requestResource(): ResourceCheck {
    return new ResourceCheck(this, this.request);
  }
}
class GroupCheck {
  constructor(
    readonly on: CelAuthorizer,
    readonly group: string,
  ) {}
}
class ResourceCheck {
  constructor(
    readonly on: CelAuthorizer,
    readonly target: Partial<CelAttributes>,
  ) {}
  with(more: Partial<CelAttributes>): ResourceCheck {
    return new ResourceCheck(this.on, { ...this.target, ...more });
  }
}
class PathCheck {
  constructor(
    readonly on: CelAuthorizer,
    readonly path: string,
  ) {}
}
class Decision {
  constructor(readonly result: Answer) {}
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library */
export function registerAuthorizer(env: Environment): void {
  const type = (name: string, ctor: unknown, fields: Record<string, string> = {}) =>
    env.registerType(name, { ctor: ctor as new () => object, fields });
  type(groupType, GroupCheck);
  type(resourceType, ResourceCheck);
  type(pathType, PathCheck);
  type(decisionType, Decision);
  type(authorizerType, CelAuthorizer, { requestResource: resourceType });
  env.registerFunction(
    `${authorizerType}.path(string): ${pathType}`,
    (a: CelAuthorizer, path: string) => new PathCheck(a, path),
  );
  env.registerFunction(
    `${authorizerType}.group(string): ${groupType}`,
    (a: CelAuthorizer, group: string) => new GroupCheck(a, group),
  );
  env.registerFunction(
    `${authorizerType}.serviceAccount(string, string): ${authorizerType}`,
    ({ authorizer }: CelAuthorizer, namespace: string, name: string) =>
      new CelAuthorizer(authorizer, {
        name: `system:serviceaccount:${namespace}:${name}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      }),
  );
  env.registerFunction(
    `${groupType}.resource(string): ${resourceType}`,
    ({ on, group }: GroupCheck, resource: string) => new ResourceCheck(on, { apiGroup: group, resource }),
  );
  for (const field of ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'] as const) {
    env.registerFunction(
      `${resourceType}.${field}(string): ${resourceType}`,
      (check: ResourceCheck, value: string) => check.with({ [field]: value }),
    );
  }
  env.registerFunction(
    `${resourceType}.check(string): ${decisionType}`,
    async ({ on, target }: ResourceCheck, verb: string) =>
      decide(on, { ...target, verb, isResourceRequest: true }),
  );
  env.registerFunction(
    `${pathType}.check(string): ${decisionType}`,
    async ({ on, path }: PathCheck, verb: string) => decide(on, { path, verb, isResourceRequest: false }),
  );
  env.registerFunction(
    `${decisionType}.allowed(): bool`,
    ({ result }: Decision) => result.decision === 'allow',
  );
  env.registerFunction(`${decisionType}.reason(): string`, ({ result }: Decision) => result.reason);
  env.registerFunction(`${decisionType}.errored(): bool`, () => false);
  env.registerFunction(`${decisionType}.error(): string`, () => '');
}

async function decide(on: CelAuthorizer, given: Partial<CelAttributes>): Promise<Decision> {
  const attributes: CelAttributes = {
    user: on.user,
    verb: '',
    isResourceRequest: true,
    apiGroup: '',
    apiVersion: '*',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path: '',
    ...given,
  };
  return new Decision(await on.authorizer.authorize(attributes));
}
