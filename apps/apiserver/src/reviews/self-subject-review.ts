import type { SelfSubjectReview } from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import type { HandlerDependencies, SubresourceHandler } from '../contracts';
import { userInfo } from './user-info';

/** Who am I? (`kubectl auth whoami`) */
export function createSelfSubjectReview({ io, context }: HandlerDependencies): SubresourceHandler {
  return async (request) => {
    const { apiVersion, kind } = (await io.readObject(request, {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'SelfSubjectReview',
    })) as SelfSubjectReview;
    // Nothing of what was sent is told again.
    io.respond(request, 201, {
      kind,
      apiVersion,
      metadata: { creationTimestamp: formatTime(context.clock.now()) },
      status: { userInfo: userInfo(request.user) },
    });
  };
}
