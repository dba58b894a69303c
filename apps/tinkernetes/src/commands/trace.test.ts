import { kindOf } from './trace';

it.each([
  ['deployment', 'Deployment'],
  ['deployments', 'Deployment'],
  ['deploy', 'Deployment'],
  ['po', 'Pod'],
  ['Pod', 'Pod'],
  ['nonsense', undefined],
])('understands %s', (resource, kind) => {
  expect(kindOf(resource)).toBe(kind);
});
