import type { Plugin } from '../plugin';
import { bridge } from './bridge';
import { hostLocal } from './host-local';
import { loopback } from './loopback';
import { portmap } from './portmap';

/** Our plugins by the name of their executable. */
export const builtInPlugins: Readonly<Record<string, Plugin>> = {
  bridge,
  'host-local': hostLocal,
  loopback,
  portmap,
};
