import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { Attacher } from './attacher';
import { DriverPlugin } from './plugin';
import { Provisioner } from './provisioner';
import { Resizer } from './resizer';

const concurrency = 10;

/** The parts, with the names of their queues. */
const parts = [
  ['hostpath_csi_provisioner', Provisioner],
  ['hostpath_csi_attacher', Attacher],
  ['hostpath_csi_resizer', Resizer],
] as const;

/**
 * What runs beside a CSI driver's controller half in a Deployment of its own elsewhere: provisioner, attacher and
 * resizer of the hostpath driver. Off without --hostpath-csi-state-dir; the driver itself starts with the first volume.
 */
export function startHostPathCsiController(context: ControllerContext): RunnableController {
  if (!context.flags['hostpath-csi-state-dir']) return { run: () => Promise.resolve() };
  const plugin = new DriverPlugin(context);
  const running = parts.map(([name, Part]) => {
    const queue = context.queues.create(name);
    const reconciler: Reconciler = new Part(context, plugin, (key) => queue.add(key));
    return queueController({ context, queue, reconciler, concurrency });
  });
  return {
    run: async () => {
      try {
        await Promise.all(running.map((part) => part.run()));
      } finally {
        await plugin.close();
      }
    },
  };
}
