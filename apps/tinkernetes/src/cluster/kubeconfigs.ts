export type Credential = { certificate: string; key: string } | { token: string };

export interface KubeconfigContent {
  server: string;
  /** PEM. */
  ca: string;
  user: string;
  credential: Credential;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * A kubeconfig with everything inline. JSON is YAML too, and our components read it without loading a YAML parser.
 * See https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 */
export const componentKubeconfigText = (content: KubeconfigContent): string =>
  `${JSON.stringify(kubeconfig(content), null, 2)}\n`;

/** The same for a person to read and edit: YAML, written without a library that every start would have to load. */
export const userKubeconfigText = (content: KubeconfigContent): string =>
  `${blockLines(kubeconfig(content)).join('\n')}\n`;

type Value = string | readonly Value[] | { readonly [key: string]: Value };

/** Of a list or map that isn't empty. */
function blockLines(value: readonly Value[] | { readonly [key: string]: Value }): string[] {
  if (isList(value)) return value.flatMap((item) => behind('- ', item));
  return Object.entries(value).flatMap(([key, member]) => {
    if (typeof member === 'string') return `${key}: ${scalar(member)}`;
    if (Object.keys(member).length === 0) return `${key}: ${isList(member) ? '[]' : '{}'}`;
    return [`${key}:`, ...blockLines(member).map((line) => `  ${line}`)];
  });
}

const isList = (value: Exclude<Value, string>): value is readonly Value[] => Array.isArray(value);

function behind(dash: string, item: Value): string[] {
  const lines = typeof item === 'string' ? [scalar(item)] : blockLines(item);
  return lines.map((line, i) => `${i === 0 ? dash : '  '}${line}`);
}

/** Plain where nothing in it means anything else to YAML; JSON's quotes are YAML's too. */
const scalar = (text: string): string =>
  /^[A-Za-z][\w@./+=-]*(:\/\/[\w@./:-]+)?$/.test(text) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(text)
    ? text
    : JSON.stringify(text);

function kubeconfig({ server, ca, user, credential }: KubeconfigContent): { readonly [key: string]: Value } {
  const context = `${user}@tinkernetes`;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tinkernetes', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    contexts: [{ name: context, context: { cluster: 'tinkernetes', user } }],
    'current-context': context,
    preferences: {},
    users: [
      {
        name: user,
        user:
          'token' in credential
            ? { token: credential.token }
            : {
                'client-certificate-data': base64(credential.certificate),
                'client-key-data': base64(credential.key),
              },
      },
    ],
  };
}
