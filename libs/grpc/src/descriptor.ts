/** A protobufjs JSON descriptor, as far as contracts of gRPC services use it. */
export interface Namespace {
  nested?: Record<string, Namespace>;
  fields?: Record<string, FieldFacts>;
  oneofs?: Record<string, { oneof: readonly string[] }>;
  values?: Record<string, number>;
  methods?: Record<string, MethodFacts>;
}
export interface FieldFacts {
  type: string;
  id: number;
  rule?: string;
  keyType?: string;
}
export interface MethodFacts {
  requestType: string;
  responseType: string;
  requestStream?: boolean;
  responseStream?: boolean;
}

/** What has the full name, e.g. `csi.v1.Node`. */
export function find(descriptor: Namespace, name: string): Namespace | undefined {
  let at: Namespace | undefined = descriptor;
  for (const part of name.split('.')) at = at?.nested?.[part];
  return at;
}

/** What a name means inside of a message: the innermost that is called so. `.a.b` is a full name. */
export function resolve(
  descriptor: Namespace,
  name: string,
  scope: string,
): { name: string; found: Namespace } {
  const outer = name.startsWith('.') ? [] : scope.split('.');
  for (;;) {
    const full = [...outer, name.replace(/^\./, '')].join('.');
    const found = find(descriptor, full);
    if (found) return { name: full, found };
    if (outer.pop() === undefined) throw new Error(`the descriptor has no type ${name}`);
  }
}
