import type { ComponentStatus, KubeObject } from '@tinkernetes/api';
import type { Strategy } from '../../../contracts';

/** Source: k8s.io/kubernetes/pkg/printers/internalversion.printComponentStatus. */
export const componentStatusStrategy: Strategy = {
  deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
  tableCells: (object) => {
    const { conditions } = object as ComponentStatus & KubeObject;
    const healthy = conditions?.find(({ type }) => type === 'Healthy');
    const status = healthy ? (healthy.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown';
    return [object.metadata.name, status, healthy?.message ?? '', healthy?.error ?? ''];
  },
};
