/** Objects as the tests of the node apply them. */

/** A Pod that ends soon after it is asked to. */
export const podOf = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { terminationGracePeriodSeconds: 1, ...spec },
});

/** A container that runs a shell script. */
export const shell = (name: string, script: string, more: object = {}) => ({
  name,
  image: 'busybox',
  command: ['sh', '-c', script],
  ...more,
});

/** Runs until it is told to end, which it does at once, after `last`. */
export const waits = (last = 'exit 0'): string => `trap '${last}' TERM; while true; do sleep 0.1; done`;
