import { withoutTypes } from './object-literals';

describe('withoutTypes', () => {
  it.each([
    [
      'Object{spec: Object.spec{replicas: object.spec.replicas + 1}}',
      '{"spec":{"replicas": object.spec.replicas + 1}}',
    ],
    ['[JSONPatch{op: "add", path: "/a", value: {"b": c}}]', '[{"op": "add","path": "/a","value": {"b": c}}]'],
    [
      'Object{metadata: Object.metadata{labels: {"Object{": x ? y : z}}}',
      '{"metadata":{"labels": {"Object{": x ? y : z}}}',
    ],
    ['has(object.Object)', 'has(object.Object)'],
  ])('%s', (expression, expected) => {
    const compact = (text: string) => text.replace(/\s+/g, '');
    expect(compact(withoutTypes(expression))).toBe(compact(expected));
  });
});
