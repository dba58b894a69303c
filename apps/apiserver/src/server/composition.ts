import type {
  CreateSubresourceHandlers,
  NonResourceHandler,
  ServerDependencies,
  Strategy,
  WriteHooks,
} from '../contracts';
import { createMetricsHandlers } from '../metrics-api';
import { createProxyHandlers } from '../proxy';
import { createReviewHandlers } from '../reviews';
import { createIssuerDiscovery, createTokenHandlers } from '../tokens';
export { createAdmissionChain } from '../admission';
export { createAuthenticators } from '../authentication';
export { createAuthorizer } from '../authorization';
import { definitionStrategy } from '../custom-resources/definition-strategy';
import { strategies as kindStrategies } from '../registry/strategies';

/*
 * The one place that says which parts the server is made of.
 */

/** Handlers of what the generic endpoints don't know. */
export const createSubresourceHandlers: CreateSubresourceHandlers = (deps) =>
  new Map([
    ...createReviewHandlers(deps),
    ...createTokenHandlers(deps),
    ...createProxyHandlers(deps),
    ...createMetricsHandlers(deps),
  ]);
export const strategies: ReadonlyMap<string, Strategy> = new Map([
  ...kindStrategies,
  ['apiextensions.k8s.io/customresourcedefinitions', definitionStrategy as unknown as Strategy],
]);
export const writeHooks: ReadonlyMap<string, WriteHooks> = new Map();

/** Handlers of paths that belong to no resource. */
export const createNonResourceHandlers = (deps: ServerDependencies): readonly NonResourceHandler[] => [
  createIssuerDiscovery(deps),
];
