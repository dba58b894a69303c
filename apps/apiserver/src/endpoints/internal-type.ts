/** The Go type of a kind's internal form, as messages name it: `apps.Deployment`. */
export const internalTypeOf = (group: string, kind: string): string =>
  `${group === '' ? 'core' : (group.split('.')[0] ?? group)}.${kind}`;
