import type { CreateSubresourceHandlers } from '../contracts';
import {
  createLocalSubjectAccessReview,
  createSelfSubjectAccessReview,
  createSubjectAccessReview,
} from './access-reviews';
import { createSelfSubjectRulesReview } from './rules-review';
import { createSelfSubjectReview } from './self-subject-review';
import { createTokenReview } from './token-review';

/** The kinds that are only questions: nothing of them is stored. */
export const createReviewHandlers: CreateSubresourceHandlers = (deps) =>
  new Map([
    ['authentication.k8s.io/selfsubjectreviews/', createSelfSubjectReview(deps)],
    ['authentication.k8s.io/tokenreviews/', createTokenReview(deps)],
    ['authorization.k8s.io/localsubjectaccessreviews/', createLocalSubjectAccessReview(deps)],
    ['authorization.k8s.io/selfsubjectaccessreviews/', createSelfSubjectAccessReview(deps)],
    ['authorization.k8s.io/selfsubjectrulesreviews/', createSelfSubjectRulesReview(deps)],
    ['authorization.k8s.io/subjectaccessreviews/', createSubjectAccessReview(deps)],
  ]);
