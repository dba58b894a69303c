import { cniVersion, type CniResult } from '../types';
import { definePlugin } from '../plugin';

/** Brings `lo` up; every emulated namespace has one from the start. */
export const loopback = definePlugin({
  async add({ config, netns }) {
    const result: CniResult = config.prevResult ?? {
      cniVersion,
      interfaces: [{ name: 'lo', mac: '00:00:00:00:00:00', sandbox: netns }],
      ips: [{ interface: 0, address: '127.0.0.1/8' }],
      dns: {},
    };
    return result;
  },
  async del() {
    // lo goes with its namespace.
  },
});
