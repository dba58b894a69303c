import { RuleTypes } from './rule-types';
import type { Schema } from './structural-schema';

const text: Schema = { type: 'string' };
const schema: Schema = {
  type: 'object',
  properties: {
    name: text,
    type: text,
    size: { type: 'integer' },
    port: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: text },
    maybe: { type: 'string', nullable: true },
    parents: {
      type: 'array',
      items: { type: 'object', properties: { kind: text, section: text, 'a-b': text, namespace: text } },
    },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object' } },
    },
  },
};
const errorOf = (rule: string, more: object = {}) =>
  new RuleTypes(schema, false).ruleError({ rule, ...more });

describe('RuleTypes', () => {
  it.each([
    'self.parents.all(a, self.parents.exists_one(b, a.kind == b.kind && has(a.section) == has(b.section)))',
    "self.type == 'Hostname' ? self.name.matches('^[a-z]+$') : true",
    'has(self.maybe) && self.maybe != null || !has(oldSelf.maybe)',
    'self.parents.map(p, p.kind).isSorted() && self.parents.size() < 5',
    "self.?template.?spec.hasValue() || self.port == 80 || self.port == 'http'",
    "self.when < timestamp('2030-01-01T00:00:00Z') && duration('1s') < duration('2s')",
    "self.free.anything.at.all == 1 && self.labels['a'] == 'b' && self.labels.a == 'b'",
    "self.parents.all(p, p.a__dash__b != '' && p.__namespace__ != '')",
    "self.template.metadata.name != '' && self.template.kind in ['A', 'B']",
    "quantity('1Gi').isGreaterThan(quantity('1Mi')) && [self.name, self.type].exists(x, x == 'a')",
    'self.size > 1 ? self.size < 5 : self.size != oldSelf.size',
    'cel.bind(first, self.parents[0], first.kind == first.section)',
    "self.labels.all(k, k.startsWith('a')) && self.labels.exists(k, v, k == v)",
  ])('has no objection to %s', (rule) => {
    expect(errorOf(rule)).toBeUndefined();
  });

  it('leaves an old self that may be missing alone', () => {
    expect(errorOf('oldSelf.hasValue() || self.size == 1', { optionalOldSelf: true })).toBeUndefined();
  });

  it.each([
    ['self.nope == 1', 5, "undefined field 'nope'"],
    ["self.parents.all(p, p.knd == 'a')", 22, "undefined field 'knd'"],
    ['has(oldSelf.nope)', 12, "undefined field 'nope'"],
    ['self.size.x == 1', 10, "type 'int' does not support field selection"],
    ["self.template.metadata.labels.a == 'b'", 23, "undefined field 'labels'"],
  ])('refuses %s', (rule, column, problem) => {
    expect(errorOf(rule)).toBe(
      `compilation failed: ERROR: <input>:1:${column}: ${problem}\n | ${rule}\n | ${'.'.repeat(column - 1)}^`,
    );
  });

  it('refuses rules that are no condition, and messages that are no text', () => {
    expect(errorOf('self.size + 1')).toBe('cel expression must evaluate to a bool');
    const messageError = (messageExpression: string) =>
      new RuleTypes(schema, false).messageError({ rule: 'true', messageExpression });
    expect(messageError('self.size')).toBe('messageExpression must evaluate to a string');
    expect(messageError("'too many: ' + string(self.size)")).toBeUndefined();
  });

  it('shows of a whole object its name, and no more of its metadata', () => {
    const root = new RuleTypes({ type: 'object', properties: { spec: schema } }, true);
    expect(
      root.ruleError({ rule: "self.metadata.name == self.spec.name && self.kind != ''" }),
    ).toBeUndefined();
    expect(root.ruleError({ rule: "self.metadata.namespace == ''" })).toContain('undefined field');
  });
});
