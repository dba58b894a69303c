import type { PersistentVolumeClaim } from '@tinkernetes/api';
import { fill, mapMember } from '../../fill';
import { defaultResources } from '../../pod-spec/resource-defaults';

/** Source: pkg/apis/core/v1.SetDefaults_PersistentVolumeClaim. */
export const defaultClaim = <T extends Pick<PersistentVolumeClaim, 'spec'>>(claim: T): T =>
  mapMember(claim, 'spec', (spec) =>
    fill(mapMember(spec as NonNullable<PersistentVolumeClaim['spec']>, 'resources', defaultResources), {
      volumeMode: 'Filesystem',
    }),
  );
