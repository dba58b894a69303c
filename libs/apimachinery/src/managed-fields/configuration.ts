import type { KubeObject } from '@tinkernetes/api';

/** What a server-side apply asks for. It need not have metadata: the path of the request names its object. */
export type Configuration<T extends KubeObject = KubeObject> = Omit<T, 'metadata'> & {
  metadata?: Partial<T['metadata']>;
};
