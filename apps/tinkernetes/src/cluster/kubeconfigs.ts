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

/** The same for a person to read and edit. */
export async function userKubeconfigText(content: KubeconfigContent): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(kubeconfig(content), { lineWidth: 0 });
}

function kubeconfig({ server, ca, user, credential }: KubeconfigContent): object {
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
