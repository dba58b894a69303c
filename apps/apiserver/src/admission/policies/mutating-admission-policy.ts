import {
  CustomResourceDefinitions,
  loadSchemas,
  MutatingAdmissionPolicies,
  MutatingAdmissionPolicyBindings,
} from '@tinkernetes/api';
import type {
  KubeObject,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation,
  OpenAPISchema,
} from '@tinkernetes/api';
import { applyJsonPatch, atomicFields, mergeTyped, StatusError } from '@tinkernetes/apimachinery';
import { fromCelValue } from '@tinkernetes/cel';
import { schemaNameOf } from '../../codec/object-codec';
import { withTypeFields } from '../../custom-resources/custom-typing';
import type { Schema } from '../../custom-resources/structural-schema';
import type { AdmissionAttributes, AdmissionPlugin, Authorizer, StoreRegistry } from '../../contracts';
import { notAdmittedYet } from '../answers';
import { PolicyEvaluation } from './evaluation';
import { withoutTypes } from './object-literals';
import { paramsOf } from './params';
import { isExempt, matchesRequest } from './rule-matching';

/** https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/ */
export function mutatingAdmissionPolicy(stores: StoreRegistry, authorizer: Authorizer): AdmissionPlugin {
  const policies = stores.for(MutatingAdmissionPolicies);
  const bindings = stores.for(MutatingAdmissionPolicyBindings);
  return {
    name: 'MutatingAdmissionPolicy',
    handles: (a) =>
      !isExempt(a) && a.object !== undefined && a.operation !== 'CONNECT' && bindings.list().length > 0,
    mutate: async (a) => {
      let { object } = a;
      for (const binding of bindings.list()) {
        const policy = policies.peek(binding.spec.policyName ?? '');
        const current = { ...a, object };
        if (policy && isAbout(current, policy, binding)) object = await mutated(current, policy, binding);
      }
      return object;
    },
  };

  function isAbout(
    a: AdmissionAttributes,
    { spec: { matchConstraints: c } }: MutatingAdmissionPolicy,
    { spec: { matchResources: r } }: MutatingAdmissionPolicyBinding,
  ): boolean {
    const criteria = { ...c, rules: c?.resourceRules ?? [], excludeRules: c?.excludeResourceRules };
    if (!matchesRequest(stores, criteria, a)) return false;
    const rules = r?.resourceRules?.length ? r.resourceRules : criteria.rules;
    return !r || matchesRequest(stores, { ...r, rules, excludeRules: r.excludeResourceRules }, a);
  }

  async function mutated(
    a: AdmissionAttributes,
    policy: MutatingAdmissionPolicy,
    binding: MutatingAdmissionPolicyBinding,
  ): Promise<KubeObject | undefined> {
    const { spec } = policy;
    let { object } = a;
    try {
      for (const params of await paramsOf(stores, { kind: spec.paramKind, ref: binding.spec.paramRef }, a)) {
        for (const mutation of spec.mutations ?? []) {
          const evaluation = await PolicyEvaluation.create(
            { stores, authorizer },
            { ...a, object },
            { variables: spec.variables, params },
          );
          if (!(await evaluation.meets(spec.matchConditions ?? []))) break;
          object = await apply(evaluation, mutation, { a: { ...a, object }, stores });
        }
      }
      return object;
    } catch (error) {
      if (spec.failurePolicy === 'Ignore') return a.object;
      if (error instanceof StatusError && error.reason === 'Forbidden') throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw notAdmittedYet(
        a,
        `policy '${policy.metadata.name}' with binding '${binding.metadata.name}' denied request: ${reason}`,
      );
    }
  }
}

async function apply(
  evaluation: PolicyEvaluation,
  mutation: Mutation,
  { a, stores }: { a: AdmissionAttributes; stores: StoreRegistry },
): Promise<KubeObject | undefined> {
  if (mutation.patchType === 'JSONPatch') {
    const patch = fromCelValue(
      await evaluation.evaluate(withoutTypes(mutation.jsonPatch?.expression ?? '[]')),
    );
    return applyJsonPatch(a.object, patch) as KubeObject;
  }
  const expression = withoutTypes(mutation.applyConfiguration?.expression ?? 'Object{}');
  const configuration = fromCelValue(await evaluation.evaluate(expression));
  // Lists are merged by their keys, as server-side apply merges them.
  const type = { schema: schemaOf(a, stores), schemas: loadSchemas() };
  const atomics = atomicFields(configuration, type);
  if (atomics.length > 0) {
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
    );
  }
  return mergeTyped(a.object, configuration, type) as KubeObject;
}

function schemaOf(a: AdmissionAttributes, stores: StoreRegistry): OpenAPISchema | undefined {
  const builtIn = schemaNameOf(a.group, a.version, a.kind);
  if (builtIn !== undefined) return loadSchemas()[builtIn];
  const definition = stores.for(CustomResourceDefinitions).peek(`${a.resource}.${a.group}`);
  const version = definition?.spec.versions.find(({ name }) => name === a.version);
  const schema = version?.schema?.openAPIV3Schema;
  return schema && withTypeFields(schema as Schema);
}
