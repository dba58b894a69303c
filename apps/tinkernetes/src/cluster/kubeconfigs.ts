import { stringify } from 'yaml';

export type Credential = { certificate: string; key: string } | { token: string };

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * A kubeconfig with everything inline, as kubeadm writes it. `ca`, `certificate` and `key` are PEM.
 * See https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 */
export function kubeconfigText(options: {
  server: string;
  ca: string;
  user: string;
  credential: Credential;
}): string {
  const { server, ca, user, credential } = options;
  const context = `${user}@tinkernetes`;
  return stringify(
    {
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
    },
    { lineWidth: 0 },
  );
}
