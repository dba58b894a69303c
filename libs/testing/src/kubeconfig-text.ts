import type { ClientConfig } from '@tinkernetes/client';

const base64 = (text: string | undefined): string => Buffer.from(text ?? '').toString('base64');

/** A kubeconfig file (JSON is YAML) for one user of one server, with everything inline. */
export function kubeconfigText(config: ClientConfig): string {
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'tinkernetes',
      clusters: [
        {
          name: 'tinkernetes',
          cluster: { server: config.server, 'certificate-authority-data': base64(config.caData) },
        },
      ],
      contexts: [{ name: 'tinkernetes', context: { cluster: 'tinkernetes', user: 'admin' } }],
      users: [
        {
          name: 'admin',
          user: config.token
            ? { token: config.token }
            : {
                'client-certificate-data': base64(config.certData),
                'client-key-data': base64(config.keyData),
              },
        },
      ],
    },
    null,
    2,
  );
}
