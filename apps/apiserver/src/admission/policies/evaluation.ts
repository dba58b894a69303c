import { Namespaces } from '@tinkernetes/api';
import type { KubeObject, MatchCondition, Variable } from '@tinkernetes/api';
import {
  type Activation,
  CelAuthorizer,
  CelEnvironment,
  type CostBudget,
  requestBudget,
  toCelValue,
} from '@tinkernetes/cel';
import type { AdmissionAttributes, Authorizer, StoreRegistry } from '../../contracts';
import { admissionRequest } from '../admission-request';

const environment = new CelEnvironment([
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'variables',
  'authorizer',
]);

/** What the expressions of one policy see of one request. Source: k8s.io/apiserver/pkg/admission/plugin/cel. */
export class PolicyEvaluation {
  private readonly budget: CostBudget = { remaining: requestBudget };
  private readonly activation: Activation;

  private constructor(activation: Record<string, unknown>, variables: object) {
    this.activation = { ...activation, variables };
  }

  static async create(
    deps: { stores: StoreRegistry; authorizer: Authorizer },
    a: AdmissionAttributes,
    { variables = [], params }: { variables?: readonly Variable[]; params?: KubeObject },
  ): Promise<PolicyEvaluation> {
    const namespace = a.namespace ? deps.stores.for(Namespaces).peek(a.namespace) : undefined;
    const values = {};
    const evaluation = new PolicyEvaluation(
      {
        object: toCelValue(a.object ?? null),
        oldObject: toCelValue(a.oldObject ?? null),
        request: toCelValue(admissionRequest(a)),
        params: toCelValue(params ?? null),
        namespaceObject: toCelValue(namespace ?? null),
        authorizer: new CelAuthorizer(deps.authorizer, a.user, {
          apiGroup: a.group,
          resource: a.resource,
          subresource: a.subresource,
          namespace: a.namespace,
          name: a.name,
        }),
      },
      values,
    );
    for (const variable of variables) await evaluation.define(values, variable);
    return evaluation;
  }

  /** Throws CelCompileError, or an Error with CEL's message. */
  async evaluate(expression: string): Promise<unknown> {
    return await environment.compile(expression).evaluate(this.activation, this.budget);
  }

  /** The first condition that is not met ends the policy's interest in the request. */
  async meets(conditions: readonly MatchCondition[]): Promise<boolean> {
    for (const { expression } of conditions) if ((await this.evaluate(expression)) !== true) return false;
    return true;
  }

  /** Variables are computed when they are first used: one that fails harms only expressions that use it. */
  private async define(values: object, { name, expression }: Variable): Promise<void> {
    let compute = once(() => environment.compile(expression).evaluate(this.activation, this.budget));
    // What asks the authorizer takes time, and a variable's use can't wait.
    if (expression.includes('authorizer')) compute = await settled(compute);
    Object.defineProperty(values, name, { enumerable: true, get: compute });
  }
}

function once(compute: () => unknown): () => unknown {
  let result: { value: unknown } | undefined;
  return () => (result ??= { value: compute() }).value;
}

async function settled(compute: () => unknown): Promise<() => unknown> {
  try {
    const value = await compute();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
