import type { AdmissionPlugin } from '../contracts';
import { notAdmitted } from './answers';

/** Deprecated upstream, kept for scripts that name it. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', handles: () => false };

export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  handles: () => true,
  validate: (a) => {
    throw notAdmitted(a, 'admission control is denying all modifications');
  },
};
