import { unstructuredProblem } from './unstructured-problem';

const problem = (spec: unknown) => unstructuredProblem({ spec }, 'io.k8s.api.apps.v1.Deployment');

it.each([
  ['x', 'cannot restore struct from: string'],
  [{ replicas: 'x' }, 'unrecognized type: int32'],
  [{ replicas: 1.5 }, 'cannot convert float64 to int32'],
  [{ paused: 1 }, 'unrecognized type: bool'],
  [{ template: { spec: { nodeSelector: [] } } }, 'cannot restore map from slice'],
  [{ template: { spec: { containers: 'x' } } }, 'cannot restore slice from string'],
  [{ template: { spec: { containers: [{ image: 5 }] } } }, 'cannot convert int64 to string'],
  [{ replicas: 2, template: null }, undefined],
])('says of %j: %s', (spec, expected) => {
  expect(problem(spec)).toBe(expected);
});
