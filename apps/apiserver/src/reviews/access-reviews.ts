import type {
  LocalSubjectAccessReview,
  ObjectMeta,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '@tinkernetes/api';
import { badRequest, invalid, type FieldError } from '@tinkernetes/apimachinery';
import type { Authorizer, HandlerDependencies, SubresourceHandler, UserInfo } from '../contracts';
import { attributesOfReview } from './access-review-attributes';
import { invalidReview, withSpec } from './review-error';
import { selectorErrors } from './selector-rules';

const group = 'authorization.k8s.io';
const version = 'v1';

type AccessSpec = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>;

/** May somebody? https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
export function createSubjectAccessReview({ io, authorizer }: HandlerDependencies): SubresourceHandler {
  return async (request) => {
    const review = withSpec(
      (await io.readObject(request, { group, version, kind: 'SubjectAccessReview' })) as SubjectAccessReview,
    );
    refuse([
      ...validateSubject(review.spec),
      ...validateAttributes(review.spec),
      ...metadataErrors(review.metadata),
    ]);
    io.respond(request, 201, await answered(review, subjectOf(review.spec), authorizer));
  };
}

/** As SubjectAccessReview, for questions about one namespace. */
export function createLocalSubjectAccessReview({ io, authorizer }: HandlerDependencies): SubresourceHandler {
  return async (request) => {
    const review = withSpec(
      (await io.readObject(request, {
        group,
        version,
        kind: 'LocalSubjectAccessReview',
      })) as LocalSubjectAccessReview,
    );
    const { spec } = review;
    const { namespace = '' } = review.metadata ?? {};
    if (namespace && namespace !== request.info.namespace) {
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    const errors = [...validateSubject(spec), ...validateAttributes(spec)];
    const asked = spec.resourceAttributes?.namespace ?? '';
    if (spec.resourceAttributes && asked !== request.info.namespace) {
      errors.push(invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
    }
    if (spec.nonResourceAttributes) {
      errors.push(
        invalid('spec.nonResourceAttributes', goAttributes(spec), 'disallowed on this kind of request'),
      );
    }
    refuse(errors);
    io.respond(request, 201, await answered(review, subjectOf(spec), authorizer));
  };
}

/** May I? */
export function createSelfSubjectAccessReview({ io, authorizer }: HandlerDependencies): SubresourceHandler {
  return async (request) => {
    const review = withSpec(
      (await io.readObject(request, {
        group,
        version,
        kind: 'SelfSubjectAccessReview',
      })) as SelfSubjectAccessReview,
    );
    refuse([...validateAttributes(review.spec), ...metadataErrors(review.metadata)]);
    io.respond(request, 201, await answered(review, request.user, authorizer));
  };
}

async function answered<R extends { spec: AccessSpec }>(
  review: R,
  user: UserInfo,
  authorizer: Authorizer,
): Promise<R & { status: SubjectAccessReviewStatus }> {
  const { decision, reason } = await authorizer.authorize(attributesOfReview(user, review.spec));
  return {
    ...review,
    status: {
      allowed: decision === 'allow',
      ...(decision === 'deny' && { denied: true }),
      ...(reason && { reason }),
    },
  };
}

const subjectOf = ({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): UserInfo => ({
  name: user,
  groups,
  ...(uid && { uid }),
  ...(extra && { extra }),
});

/** Source: k8s.io/kubernetes/pkg/apis/authorization/validation. */
function validateAttributes(spec: AccessSpec): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes && nonResourceAttributes) {
    return [
      invalid(
        'spec.nonResourceAttributes',
        goAttributes(spec),
        'cannot be specified in combination with resourceAttributes',
      ),
    ];
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    return [
      invalid(
        'spec.resourceAttributes',
        undefined,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    ];
  }
  return resourceAttributes ? selectorErrors(resourceAttributes) : [];
}

/** The value as upstream prints its internal type, which has no JSON names. */
const goAttributes = ({ nonResourceAttributes }: AccessSpec) => ({
  Path: nonResourceAttributes?.path ?? '',
  Verb: nonResourceAttributes?.verb ?? '',
});

/** Reviews are answers, not objects: they have no names. */
function metadataErrors(metadata: Partial<ObjectMeta> | undefined): FieldError[] {
  const { managedFields: _, ...given } = metadata ?? {};
  const isEmpty = Object.values(given).every(
    (value) => value === undefined || value === null || value === '',
  );
  return isEmpty ? [] : [invalid('metadata', metadata, 'must be empty')];
}

function validateSubject({ user, groups }: SubjectAccessReviewSpec): FieldError[] {
  return user || groups?.length
    ? []
    : [invalid('spec.user', '', 'at least one of user or group must be specified')];
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidReview(group, errors);
}
